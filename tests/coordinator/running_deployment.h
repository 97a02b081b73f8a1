#pragma once
// The small deployment in one process: its coordinator over HTTP, and twenty devices, a thread each, whose
// transports a test may wrap.

#include <nlohmann/json.hpp>
#include <thread>

#include "coordinator/small_deployment.h"
#include "test_paths.h"

namespace sotto::coordinator {

// What a call is for: order, log, blob, enrol, or the stage of a round.
inline std::string_view purpose_of(const device::ServerCall& call) {
  const std::string_view path(call.path);
  for (const std::string_view fetched : {"order", "log", "blob"})
    if (call.method == "GET" && path.substr(4).starts_with(fetched)) return fetched;  // behind "/v1/"
  return path.substr(path.rfind('/') + 1);
}

// A device's transport with hands on what it sends; the rest is passed on.
class WrappedTransport : public device::Transport {
 public:
  explicit WrappedTransport(device::Transport& real) : real_(real) {}
  WrappedTransport(WrappedTransport& real) : real_(real) {}  // another one around it
  Result<device::ServerAnswer> send(const device::ServerCall& call) override { return real_.send(call); }

 protected:
  device::Transport& real_;
};

class RunningDeployment {
 public:
  static constexpr std::uint64_t seed = 5;  // of noise that a test can add up
  static constexpr std::string_view operator_token = "a token of the operator";

  // What a device is given to talk through; none: its own transport.
  using Wrap = std::function<std::unique_ptr<device::Transport>(std::size_t number, DeployedDevice&)>;

  explicit RunningDeployment(rounds::Campaign made = deployed_campaign(3)) : campaign(std::move(made)) {}

  Status start() {
    trainer = std::make_unique<MeanTrainer>(campaign);
    CoordinatorSettings settings;
    settings.store = (folder / "store").string();
    settings.campaign = sign_document(rounds::campaign_kind, encode(campaign), rounds::operator_key());
    settings.operator_key = rounds::operator_key().public_key();
    settings.operator_token = operator_token;
    settings.run.order_time = std::chrono::seconds(60);
    SOTTO_TRY(running, Coordinator::start(settings, rounds::coordinator_key(), *trainer));
    return open_devices(running->url());
  }

  Status open_devices(const std::string& url, std::size_t count = deployed_group) {
    devices.clear();
    for (std::uint8_t i = 0; i < count; ++i) {
      SOTTO_TRY(auto device,
                DeployedDevice::open(folder / std::to_string(i), i, url, campaign, impressions(i)));
      SOTTO_CHECK(device->enrol(device->network()));
      devices.push_back(std::move(device));
    }
    return {};
  }

  // Everybody takes part in one round, or says why not.
  std::vector<device::Participation> everybody(const Wrap& wrap) {
    std::vector<device::Participation> parts(devices.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < devices.size(); ++i)
      threads.emplace_back([&, i] {
        const auto wrapped = wrap(i, *devices[i]);
        parts[i] = one(i, wrapped ? *wrapped : devices[i]->network());
      });
    for (std::thread& thread : threads) thread.join();
    return parts;
  }
  std::vector<device::Participation> everybody() {
    return everybody([](std::size_t, DeployedDevice&) { return nullptr; });
  }

  device::Participation one(std::size_t number, device::Transport& network) {
    device::SimulatedDraws draws(seed, static_cast<std::uint32_t>(number));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto is_over = [&] { return std::chrono::steady_clock::now() > end; };
    // Its clock stands still while it trains, however busy the machine is, and runs fast while it waits.
    std::chrono::milliseconds passed{0};
    const auto nap = [&](std::chrono::milliseconds time) {
      passed += time;
      std::this_thread::sleep_for(time / 20);
    };
    const auto clock = [&] { return std::chrono::steady_clock::time_point(passed); };
    device::Participation part;
    while (part.outcome == device::Participation::Outcome::no_round && !is_over()) {
      auto taken = devices[number]->take_part(network, draws, {is_over, nap}, clock);
      if (!taken) {
        part.outcome = device::Participation::Outcome::ended;
        part.why = taken.error().message;
        return part;
      }
      part = *std::move(taken);
      if (part.outcome == device::Participation::Outcome::no_round) nap(std::chrono::milliseconds(200));
    }
    return part;
  }

  // Of the first round; none: it has no sum yet, and waiting was in vain.
  std::optional<GroupSum> first_sum() const {
    for (int i = 0; i < 200 && trainer->given().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto given = trainer->given();
    if (given.empty() || given[0].size() != 1) return std::nullopt;
    return given[0][0];
  }

  nlohmann::json status() const { return get("/v1/status"); }
  // As the operator, where only that may look.
  nlohmann::json get(const std::string& path) const { return nlohmann::json::parse(text(path)); }
  std::string text(const std::string& path) const {
    net::HttpClientSettings http;
    http.url = running->url();
    auto client = net::HttpClient::create(http);
    return client
        ->send({.method = net::HttpMethod::get,
                .path = path,
                .headers = {{"Authorization", "Bearer " + std::string(operator_token)}},
                .body = {},
                .content_type = {}})
        .value()
        .body;
  }
  // As the operator; the answer's status.
  int act(const std::string& action) const {
    net::HttpClientSettings http;
    http.url = running->url();
    auto client = net::HttpClient::create(http);
    return client
        ->send({.method = net::HttpMethod::post,
                .path = "/v1/admin/" + action,
                .headers = {{"Authorization", "Bearer " + std::string(operator_token)}},
                .body = {},
                .content_type = {}})
        .value()
        .status;
  }
  // Whether it came to be so within ten seconds.
  template <class Question>
  static bool comes_true(const Question& question) {
    for (int i = 0; i < 500 && !question(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return question();
  }

  // What a device adds to the sum of the first round: the same code, without a network.
  std::vector<std::uint32_t> entries_of(std::size_t number) const {
    const auto local = local::find_trainer("sotto", deployed_settings).value();
    const rounds::ModelVersion version{
        deployed_layout(), rounds::one_row(std::vector<float>(local->layout().size(), 0.1F)), {}, {}};
    const auto model = device::FetchedModel::create(version, deployed_table(), *local, 1).value();
    const auto pages = impressions_of(static_cast<std::uint32_t>(number), impressions(number));
    const device::EventsOfReader own(*model, local->reads(), pages, {});
    device::SimulatedDraws draws(seed, static_cast<std::uint32_t>(number));
    const auto update =
        local->train(model->inputs(), own.events(), draws.examples(1), [] { return false; }).value();
    return secagg::UpdateEncoder(campaign.plan(1).value())
        .encode(std::span<const float>(update.direction), draws.noise(1))
        .value();
  }

  static std::size_t impressions(std::size_t number) { return number % 4; }

  TempFolder folder;
  rounds::Campaign campaign;
  std::unique_ptr<MeanTrainer> trainer;
  std::unique_ptr<Coordinator> running;
  std::vector<std::unique_ptr<DeployedDevice>> devices;
};

}  // namespace sotto::coordinator
