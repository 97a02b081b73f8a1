// Rounds of the flagship with devices over real HTTP, in one process but for the trainer: the coordinator,
// its store, and a fleet in which every device has a ledger, a key and a thread of its own.

#ifdef SOTTO_HAVE_NET

#include <gmock/gmock.h>

#include <thread>

#include "cli/fold_process.h"
#include "coordinator/coordinator.h"
#include "device/device.h"
#include "eval/small_newsroom.h"
#include "fl/run_log.h"
#include "fleet/fleet.h"
#include "fleet/readers.h"
#include "local/local_trainer.h"
#include "privacy/ledger/ledger_statement.h"
#include "rounds/enrolment.h"
#include "rounds/small_campaign.h"
#include "secagg/vectors/calibrated_plan.h"
#include "transport/http_transport.h"

namespace sotto::trainer {
namespace {

constexpr std::uint64_t rounds_in_all = 3, seed = 7;
constexpr double epsilon = 8, delta = 1e-5;
const std::vector<std::pair<std::string, std::string>> local_settings = {
    {"max_history", "50"}, {"negatives", "20"}, {"vector_size", "12"}};

rounds::UtcTime now() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

struct Network {
  // Everybody who has something to learn from takes part in each round.
  Network() {
    const auto trainer = local::find_trainer("sotto", local_settings);
    const auto calibrated =
        secagg::calibrated_plan({.epsilon = epsilon,
                                 .delta = delta,
                                 .participations = rounds_in_all,
                                 .dropping = 0.1,
                                 .corrupted = 0.1},
                                {(*trainer)->layout().size(), devices, devices, rounds_in_all});
    campaign = rounds::small_campaign();
    campaign.layout = rounds::layout_hash((*trainer)->layout().text());
    campaign.local.clear();
    for (const auto& [name, value] : local_settings) campaign.local.push_back({name, value});
    campaign.population = campaign.cohort = devices;
    campaign.rounds = campaign.participations = rounds_in_all;
    campaign.epsilon = epsilon;
    campaign.delta = delta;
    campaign.encoding = calibrated->plan.settings();
    campaign.bits = calibrated->plan.modulus().bits();
    campaign.max_training_seconds = 3;  // enough on any machine: whoever is not ready sends zeros
    campaign.shortest_phase_seconds = 2;
    campaign.longest_phase_seconds = 20;
    campaign.valid_from = now() - std::chrono::hours(1);
    campaign.valid_until = now() + std::chrono::hours(24);
    campaign.witnesses.clear();
    campaign.witnesses_needed = 0;
  }

  void sign() {
    document = sign_document(rounds::campaign_kind, encode(campaign), rounds::operator_key());
    EXPECT_TRUE(write_file_atomically(folder / "campaign.sotto", document));
  }

  Status start(const std::string& store = "store") {
    if (document.empty()) sign();
    folding = std::make_unique<cli::FoldProcess>(cli::FoldSettings{
        folder / "campaign.sotto", news.data / "news", folder / "trainer", {"vector_size=12"}, seed});
    coordinator::CoordinatorSettings settings;
    settings.store = (folder / store).string();
    settings.campaign = document;
    settings.operator_key = rounds::operator_key().public_key();
    settings.operator_token = "a token of the operator";
    settings.run.order_time = std::chrono::seconds(60);
    settings.run.retry_time = std::chrono::seconds(1);
    SOTTO_TRY(running, coordinator::Coordinator::start(settings, rounds::coordinator_key(), *folding));
    return {};
  }

  fleet::FleetSettings fleet_settings(std::uint64_t rounds) {
    fleet::FleetSettings settings;
    settings.devices = devices;
    settings.rounds = rounds;
    settings.server.url = running->url();
    settings.server.timeout = std::chrono::seconds(60);
    settings.folder = folder / "devices";
    settings.operator_key = rounds::operator_key().public_key();
    for (std::size_t i = 0; i < devices; ++i) {
      rounds::EnrolmentToken token{{}, true, now() + std::chrono::hours(1)};
      token.id.fill(static_cast<std::uint8_t>(i));
      settings.tokens.push_back(rounds::sign_token(token, rounds::operator_key()));
    }
    settings.patience = std::chrono::seconds(120);
    return settings;
  }

  Result<fleet::FleetReport> run(const fleet::FleetSettings& settings) {
    return fleet::run_fleet(
        settings, readers, [] { return false; }, [](std::uint64_t) {});
  }

  // Until the campaign's thread says so.
  Status finish() {
    for (int i = 0; i < 600; ++i) {
      if (const auto ended = running->outcome()) return *ended;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return failed("the campaign does not end");
  }

  // The current version, as a device fetches it.
  std::vector<float> numbers() {
    net::HttpClientSettings settings;
    settings.url = running->url();
    auto client = net::HttpClient::create(settings);
    const auto blob = client->get("/v1/blob/" + running->progress().version);
    const auto version = rounds::decode_model(blob->body);
    return version ? version->numbers : std::vector<float>();
  }

  // The same campaign with simulated devices that run the devices' code.
  Result<std::vector<float>> simulated(const std::string& sums) {
    auto job = news.job(
        "sotto", "simulated-" + sums, static_cast<int>(rounds_in_all),
        {"updates=device", "vector_size=12", "cohort=" + std::to_string(devices),
         "participations=" + std::to_string(rounds_in_all), "delta=1e-5", "sums=" + sums, "personal_steps=0"},
        "8");
    job.seed = seed;
    job.reproducible = true;
    SOTTO_CHECK(news.train(job));
    const auto trainer = local::find_trainer("sotto", local_settings);
    SOTTO_TRY(const auto kept, fl::load_checkpoint(news.runs / ("simulated-" + sums) / "best.sotto",
                                                   (*trainer)->layout().text()));
    const float* first = kept.parameters.data_ptr<float>();
    return std::vector<float>(first, first + kept.parameters.numel());
  }

  const eval::testing::SmallNewsroom news{24};
  const std::uint64_t devices = fleet::readers_of(news.dataset, 1000).size();
  const data::Dataset& readers = news.dataset;
  TempFolder folder;
  rounds::Campaign campaign;
  std::string document;
  std::unique_ptr<cli::FoldProcess> folding;
  std::unique_ptr<coordinator::Coordinator> running;
};

TEST(NetworkRounds, GiveTheBytesThatTheSimulationGives) {
  Network network;
  const auto started = network.start();
  ASSERT_TRUE(started) << started.error().message;
  auto settings = network.fleet_settings(rounds_in_all);
  settings.reproducible = seed;
  const auto report = network.run(settings);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(network.finish());
  EXPECT_EQ(report->rounds, rounds_in_all);
  EXPECT_EQ(report->charged, network.devices * rounds_in_all);
  const std::vector<float> networked = network.numbers();
  for (const char* sums : {"simulated", "masked"}) {
    const auto simulated = network.simulated(sums);
    ASSERT_TRUE(simulated) << simulated.error().message;
    EXPECT_EQ(networked, *simulated) << sums;
  }
}

TEST(NetworkRounds, GoOnWhereTheStoreSaysAfterTheCoordinatorWasLost) {
  Network network;
  ASSERT_TRUE(network.start());
  auto settings = network.fleet_settings(1);
  settings.reproducible = seed;
  ASSERT_TRUE(network.run(settings));
  network.running.reset();
  network.folding.reset();
  fs::remove_all(network.folder / "trainer");  // what the trainer needs is in the store
  const auto again = network.start();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_GE(network.running->progress().rounds, rounds_in_all);
  settings = network.fleet_settings(rounds_in_all);
  settings.reproducible = seed;
  const auto report = network.run(settings);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(network.finish());
  const auto simulated = network.simulated("simulated");
  ASSERT_TRUE(simulated) << simulated.error().message;
  EXPECT_EQ(network.numbers(), *simulated);
}

TEST(NetworkRounds, SurviveDevicesThatVanishLieAndAreSlow) {
  Network network;
  network.campaign.longest_phase_seconds = 3;
  ASSERT_TRUE(network.start());
  auto settings = network.fleet_settings(1);
  settings.vanishing = 0.04;
  settings.lying = 0.04;
  settings.slowest = std::chrono::milliseconds(100);
  settings.clock_skew = std::chrono::seconds(30);
  const auto report = network.run(settings);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GE(report->rounds, 1U);
}

TEST(NetworkRounds, AreRefusedByEveryDeviceWhenTheCampaignAsksForMoreThanItsOwnerAllows) {
  Network network;
  ASSERT_TRUE(network.start());
  net::HttpClientSettings http;
  http.url = network.running->url();
  auto transport = transport::HttpTransport::create(http);
  ASSERT_TRUE(transport);
  device::DeviceSettings settings;
  settings.ranking = "local";
  settings.lifetime_epsilon = 100;
  settings.budget_delta = 1e-4;
  settings.training.epsilon = 1;
  settings.training.delta = 1e-4;
  settings.training.least_group = 10;
  auto device = device::Device::open(network.folder / "careful", settings, {.first_use = true});
  ASSERT_TRUE(device) << device.error().message;
  const device::RoundHooks hooks{[] { return false; },
                                 [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }};
  const auto tokens = network.fleet_settings(1).tokens;
  const rounds::OperatorKeys operator_key(rounds::operator_key().public_key());
  EXPECT_FALSE(device->take_part(*transport, hooks)) << "nobody agreed";
  EXPECT_FALSE(device->enrol(*transport, tokens[0], operator_key)) << "nobody agreed";
  const auto terms = device->terms(http.url, network.campaign.purpose, {.training = true});
  ASSERT_TRUE(device->agree(terms));
  EXPECT_FALSE(device->take_part(*transport, hooks)) << "not enrolled";
  ASSERT_TRUE(device->enrol(*transport, tokens[0], operator_key));
  Result<device::Participation> part = failed("not asked");
  for (int i = 0; i < 200; ++i) {
    part = device->take_part(*transport, hooks);
    ASSERT_TRUE(part) << part.error().message;
    if (part->outcome != device::Participation::Outcome::no_round) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(part->outcome, device::Participation::Outcome::refused);
  EXPECT_EQ(part->refusal, device::RoundRefusalReason::policy) << part->why;
  EXPECT_EQ(device->statement()->total.charges, 0U);
  auto other = terms;
  other.purpose = "Something else";
  ASSERT_TRUE(device->agree(other));
  part = device->take_part(*transport, hooks);
  EXPECT_EQ(part->refusal, device::RoundRefusalReason::purpose) << part->why;
  ASSERT_TRUE(device->withdraw());
  EXPECT_FALSE(device->take_part(*transport, hooks)) << "withdrawn";
}

}  // namespace
}  // namespace sotto::trainer

#endif
