#pragma once
// A device in one round whose training lies behind it: key, ledger and session, carried over HTTP by whoever
// calls.

#include <optional>
#include <stdexcept>

#include "device/rounds/round_calls.h"
#include "device/rounds/round_session.h"
#include "rounds/round_messages.h"
#include "rounds/small_campaign.h"
#include "transport/http_transport.h"

namespace sotto::coordinator {

inline rounds::Identity device_key(std::uint64_t number) {
  std::array<std::uint8_t, 32> seed{};
  for (std::size_t i = 0; i < 8; ++i) seed[i] = static_cast<std::uint8_t>(number >> (8 * i));
  seed[31] = 1;
  return rounds::Identity::from_seed(secagg::Key(seed));
}

// What a device fetches before it can check in, of a coordinator that has an order or soon will.
inline device::RoundOffer fetch_offer(device::Transport& network) {
  for (int i = 0; i < 2400; ++i) {
    const auto open = network.send(device::offer_call());
    if (open && open->status == 200) {
      const auto message = rounds::decode_offer(open->body).value();
      const auto page = rounds::decode_log_page(network.send(device::log_call(0)).value().body).value();
      return {message.campaign,       message.order,      message.head, page.entries, {},
              message.campaign_entry, message.model_entry};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw std::runtime_error("the coordinator opens no round");
}

class RoundDevice {
 public:
  // Throws what a test program would print.
  RoundDevice(const fs::path& folder, std::uint64_t number, const std::string& url,
              const device::RoundOffer& offer, const rounds::Campaign& campaign)
      : identity_(device_key(number)),
        ledger_(privacy::Ledger::create(folder / std::to_string(number),
                                        {privacy::Unit::user,
                                         privacy::Adjacency::replace_one,
                                         privacy::RequestOrder::adaptive,
                                         privacy::SensitivitySettings::create({"news"}).value(),
                                         {{privacy::BudgetWindow::lifetime, std::nullopt, 100, 1e-4}}},
                                        privacy::read_system_clocks(), {.anchor = nullptr, .first_use = true})
                    .value()) {
    net::HttpClientSettings http;
    http.url = url;
    http.timeout = std::chrono::seconds(900);
    network_.emplace(transport::HttpTransport::create(http).value());
    const auto& encoding = campaign.encoding;
    const device::RoundKnowledge knows{
        .keys = rounds::OperatorKeys(rounds::operator_key().public_key()),
        .purpose = campaign.purpose,
        .policy = {.epsilon = campaign.epsilon,
                   .delta = campaign.delta,
                   .group = encoding.devices,
                   .corrupted =
                       static_cast<double>(encoding.corrupted) / static_cast<double>(encoding.devices),
                   .server = campaign.server,
                   .witnesses = 0,
                   .upload_bytes = campaign.max_upload_bytes,
                   .training_seconds = campaign.max_training_seconds},
        .trainable = {{campaign.recipe, campaign.layout}},
        .now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now()),
        .log = {},
        .charged = [](const rounds::Digest&, privacy::ReleasePurpose) {
          return std::vector<rounds::Digest>();
        }};
    auto accepted = device::check_round_offer(offer, knows);
    if (!accepted) throw std::runtime_error(accepted.error().message);
    order_ = accepted->order.hash;
    // Where its order came from, so that it is connected when it checks in.
    static_cast<void>(network_->send(device::offer_call()));
    std::vector<float> update(encoding.dimension, 0.001F);
    session_.emplace(*std::move(accepted), std::move(update),
                     device::SessionDevice{identity_, ledger_, privacy::read_system_clocks,
                                           [](const auto&) { return Status{}; }, keys_, noise_});
  }

  // Asks for a place in a group, again and again until it has one. False: there is none, and `why` says so.
  bool check_in() {
    const device::ServerCall call =
        device::signed_call("/v1/checkin", encode(rounds::CheckIn{order_}), identity_);
    auto answer = network_->send(call);
    while (answer && answer->status == 202) answer = network_->send(call);
    if (!answer || answer->status != 200) {
      why = answer ? answer->body : answer.error().message;
      return false;
    }
    place_ = rounds::decode_group_place(answer->body).value();
    return true;
  }
  const rounds::Digest& room() const { return place_.room; }

  // The round in that group, to its end; then `why` says what went wrong.
  void take_part() {
    static_cast<void>(
        session_->received(device::SessionStage::check_in, rounds::as_bytes(place_.invitation)));
    while (true) {
      const device::SessionStep step = session_->next();
      if (const auto* over = std::get_if<device::SessionDone>(&step)) {
        why = over->why;
        return;
      }
      if (const auto* call = std::get_if<device::SessionCall>(&step)) post(*call);
    }
  }

  std::string why;
  std::uint64_t up = 0, down = 0;  // messages of the secure sum

 private:
  void post(const device::SessionCall& call) {
    const std::string body(as_text(call.body));
    const auto answer = network_->send(device::signed_call(
        fmt::format("/v1/rounds/{}/{}", to_hex(place_.room), name(call.stage)), body, identity_));
    if (!answer || (answer->status != 200 && answer->status != 202))
      return session_->end(answer ? answer->body : answer.error().message);
    if (answer->status == 202) {
      static_cast<void>(session_->received(call.stage, std::nullopt));
      return;
    }
    up += body.size(), down += answer->body.size();
    static_cast<void>(session_->received(call.stage, rounds::as_bytes(answer->body)));
  }

  rounds::Identity identity_;
  privacy::Ledger ledger_;
  SecureRandom keys_random_, noise_random_;
  privacy::DeviceRandom keys_{keys_random_}, noise_{noise_random_};
  std::optional<transport::HttpTransport> network_;
  std::optional<device::RoundSession> session_;
  rounds::Digest order_{};
  rounds::GroupPlace place_;
};

}  // namespace sotto::coordinator
