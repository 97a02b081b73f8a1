#pragma once
// A whole deployment in small: a coordinator over real HTTP whose trainer adds the mean of every round to its
// numbers, and devices with folders, keys and ledgers of their own that train the flagship's user model on
// impressions that were made up.

#include <bit>
#include <map>
#include <mutex>

#include "base/byte_codec.h"
#include "coordinator/coordinator.h"
#include "device/device.h"
#include "device/rounds/round_inputs.h"
#include "privacy/ledger/ledger_statement.h"
#include "rounds/enrolment.h"
#include "rounds/small_campaign.h"
#include "transport/http_transport.h"

namespace sotto::coordinator {

inline constexpr std::uint64_t deployed_group = 20;
inline constexpr std::size_t deployed_items = 60, item_numbers = 12;
inline const std::vector<std::pair<std::string, std::string>> deployed_settings = {
    {"max_history", "50"}, {"negatives", "4"}, {"vector_size", "12"}};

inline UtcTime wall_now() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

inline std::string deployed_layout() {
  return local::find_trainer("sotto", deployed_settings).value()->layout().text();
}

// Rounds of one group of twenty, of whom two may be lost.
inline rounds::Campaign deployed_campaign(std::uint64_t rounds, std::uint64_t population = 30) {
  const auto trainer = local::find_trainer("sotto", deployed_settings).value();
  static std::map<std::pair<std::uint64_t, std::uint64_t>, secagg::EncodingPlan> plans;  // they take a second
  auto found = plans.find({rounds, population});
  if (found == plans.end())
    found = plans
                .emplace(std::pair(rounds, population),
                         secagg::calibrated_plan(
                             {.epsilon = 8,
                              .delta = 1e-5,
                              .participations = rounds,
                              .dropping = 0.1,
                              .corrupted = 0.1},
                             {trainer->layout().size(), population, deployed_group, rounds, deployed_group})
                             .value()
                             .plan)
                .first;
  rounds::Campaign campaign = rounds::small_campaign();
  campaign.layout = rounds::layout_hash(trainer->layout().text());
  campaign.local.clear();
  for (const auto& [name, value] : deployed_settings) campaign.local.push_back({name, value});
  campaign.population = population;
  campaign.cohort = deployed_group;
  campaign.rounds = campaign.participations = rounds;
  campaign.epsilon = 8;
  campaign.delta = 1e-5;
  campaign.encoding = found->second.settings();
  campaign.bits = found->second.modulus().bits();
  campaign.max_training_seconds = 1;
  campaign.shortest_phase_seconds = 1;
  campaign.longest_phase_seconds = 20;
  campaign.valid_from = wall_now() - std::chrono::hours(1);
  campaign.valid_until = wall_now() + std::chrono::hours(24);
  campaign.witnesses.clear();
  campaign.witnesses_needed = 0;
  return campaign;
}

inline std::string item_name(std::size_t number) { return fmt::format("news-{:03}", number); }

inline rounds::ItemTable deployed_table() {
  SeededRandom draws(3, Purpose::noise, 0, 0);
  rounds::ItemTable table;
  table.vectors.columns = item_numbers;
  for (std::size_t i = 0; i < deployed_items; ++i) {
    table.ids.push_back(item_name(i));
    for (std::size_t d = 0; d < item_numbers; ++d)
      table.vectors.numbers.push_back(static_cast<float>(draws() % 1000) / 1000 - 0.5F);
  }
  return table;
}

// So many pages of five, one of them clicked, of a reader who reads like nobody else.
inline std::vector<device::StoredImpression> impressions_of(std::uint32_t reader, std::size_t count) {
  SeededRandom draws(4, Purpose::noise, 0, reader);
  std::vector<device::StoredImpression> impressions;
  std::vector<std::string> history;
  for (std::size_t i = 0; i < count; ++i) {
    device::StoredImpression one{wall_now() - std::chrono::minutes(count - i), history, {}, {1, 0, 0, 0, 0}};
    const std::size_t first = draws() % deployed_items;
    for (std::size_t k = 0; k < one.clicked.size(); ++k)
      one.shown.push_back(item_name((first + k) % deployed_items));
    history.push_back(one.shown.front());
    impressions.push_back(std::move(one));
  }
  return impressions;
}

// What a version is made of is kept with it, so that it goes on from any of them.
class MeanTrainer : public Folding {
 public:
  explicit MeanTrainer(const rounds::Campaign& campaign)
      : plan_(campaign.plan(1).value()), rounds_(campaign.rounds) {}

  Result<FoldedModel> begin(const std::string& checkpoint) override {
    done_ = 0;
    numbers_.assign(plan_.settings().dimension, 0.1F);
    ByteReader body(checkpoint);
    if (!checkpoint.empty()) {
      done_ = body.number<std::uint64_t>();
      for (float& number : numbers_) number = std::bit_cast<float>(body.number<std::uint32_t>());
    }
    return FoldedModel{deployed_layout(), deployed_table()};
  }
  Result<FoldedRound> next() override {
    ByteWriter checkpoint;
    checkpoint.number(done_);
    for (const float number : numbers_) checkpoint.number(std::bit_cast<std::uint32_t>(number));
    return FoldedRound{
        done_,           1, rounds::one_row(numbers_), {}, done_ == 0 ? "" : std::move(checkpoint).take(),
        done_ == rounds_};
  }
  Status give(const std::vector<GroupSum>& sums) override {
    {
      const std::lock_guard lock(mutex_);
      given_.push_back(sums);
    }
    if (before_folding) before_folding();
    secagg::SumDecoder decoder(plan_);
    for (const GroupSum& sum : sums) SOTTO_CHECK(decoder.add_group(sum.entries));
    SOTTO_TRY(const auto mean, decoder.decode());
    for (std::size_t i = 0; i < numbers_.size(); ++i) numbers_[i] -= static_cast<float>(mean.update[i]);
    ++done_;
    return {};
  }
  // The sums of every round, as they came.
  std::vector<std::vector<GroupSum>> given() const {
    const std::lock_guard lock(mutex_);
    return given_;
  }

  std::function<void()> before_folding;  // what else happens meanwhile; set before the rounds begin

 private:
  secagg::EncodingPlan plan_;
  std::uint64_t rounds_, done_ = 0;
  std::vector<float> numbers_;
  mutable std::mutex mutex_;
  std::vector<std::vector<GroupSum>> given_;
};

inline std::string deployed_token(std::uint8_t number) {
  rounds::EnrolmentToken token{{}, true, wall_now() + std::chrono::hours(24)};
  token.id.fill(number);
  return rounds::sign_token(token, rounds::operator_key());
}

// All that a campaign asks is allowed.
inline device::DeviceSettings permissive(const rounds::Campaign& campaign) {
  const auto& encoding = campaign.encoding;
  device::DeviceSettings settings;
  settings.ranking = "local";
  settings.lifetime_epsilon = std::max(1000.0, 2 * campaign.total_epsilon());
  settings.budget_delta = 1e-4;
  settings.training = {
      .epsilon = campaign.total_epsilon(),
      .delta = campaign.delta,
      .least_group = static_cast<std::int64_t>(encoding.devices),
      .least_corrupted = static_cast<double>(encoding.corrupted) / static_cast<double>(encoding.devices),
      .server = campaign.server == secagg::ServerModel::active ? "active" : "semi-honest",
      .security_bits = campaign.security_bits,
      .least_witnesses = static_cast<std::int64_t>(campaign.witnesses_needed),
      .most_upload_bytes = static_cast<std::int64_t>(campaign.max_upload_bytes),
      .most_seconds = static_cast<std::int64_t>(campaign.max_training_seconds)};
  return settings;
}

// One device on its folder, whose person has agreed. Draws and the time that passes are given anew for each
// round.
class DeployedDevice {
 public:
  using Steady = std::function<std::chrono::steady_clock::time_point()>;

  static Result<std::unique_ptr<DeployedDevice>> open(const fs::path& folder, std::uint8_t number,
                                                      const std::string& url,
                                                      const rounds::Campaign& campaign,
                                                      std::size_t impressions) {
    std::unique_ptr<DeployedDevice> made(new DeployedDevice());
    device::DeviceEnvironment host;
    host.first_use = true;
    host.round_draws = &made->draws_;
    host.steady = [raw = made.get()] { return raw->steady_(); };
    SOTTO_TRY(auto device, device::Device::open(folder, permissive(campaign), host));
    made->device_.emplace(std::move(device));
    if (made->device_->pages().empty() && impressions > 0)
      SOTTO_CHECK(made->device_->add_pages(impressions_of(number, impressions)));
    SOTTO_CHECK(made->device_->agree(made->device_->terms("here", campaign.purpose, {.training = true})));
    net::HttpClientSettings http;
    http.url = url;
    http.timeout = std::chrono::seconds(60);  // a coordinator holds answers back for 20
    SOTTO_TRY(auto network, transport::HttpTransport::create(http));
    made->network_.emplace(std::move(network));
    made->number_ = number;
    return made;
  }

  Status enrol(device::Transport& network) {
    return device_->enrol(network, deployed_token(number_),
                          rounds::OperatorKeys(rounds::operator_key().public_key()));
  }
  Result<device::Participation> take_part(device::Transport& network, device::RoundDraws& draws,
                                          const device::RoundHooks& hooks,
                                          const Steady& steady = std::chrono::steady_clock::now) {
    draws_.now = &draws;
    steady_ = steady;
    return device_->take_part(network, hooks);
  }

  privacy::LedgerStatement statement() { return device_->statement().value(); }
  std::uint64_t charges() { return statement().total.charges; }
  device::Transport& network() { return *network_; }
  const secagg::Identity& identity() const { return *device_->identity(); }

 private:
  class DrawsOfTheRound final : public device::RoundDraws {
   public:
    device::RoundDraws* now = nullptr;
    privacy::DeviceRandom noise(std::uint64_t round) override { return now->noise(round); }
    RandomSource& examples(std::uint64_t round) override { return now->examples(round); }
    privacy::DeviceRandom keys() override { return now->keys(); }
  };
  DeployedDevice() = default;
  DrawsOfTheRound draws_;
  Steady steady_ = std::chrono::steady_clock::now;
  std::optional<device::Device> device_;
  std::optional<transport::HttpTransport> network_;
  std::uint8_t number_ = 0;
};

}  // namespace sotto::coordinator
