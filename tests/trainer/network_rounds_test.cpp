// Rounds with devices over real HTTP, recipe by recipe.

#ifdef SOTTO_HAVE_NET

#include "network_rounds.h"

#include <gmock/gmock.h>

#include "device/device.h"
#include "local/lost_devices.h"
#include "net/test_certificate.h"
#include "privacy/ledger/ledger_statement.h"
#include "transport/http_transport.h"

namespace sotto::trainer {
namespace {

using testing::expect_equal;
using testing::flagship;
using ::testing::HasSubstr;
using testing::Network;
using testing::now;
using testing::seed;
using testing::Subject;
using testing::Trained;

const std::vector<std::string> small_titles = {"word_size=6",    "heads=2",          "head_size=4",
                                               "pooling_size=4", "train_words=true", "max_vocabulary=40",
                                               "max_words=8",    "dropout=0.2",      "max_history=20"};
const std::vector<std::string> small_network = {"embedding=4", "hidden=4", "layers=1"};

Subject subject(const std::string& recipe) {
  if (recipe == "sotto") return flagship();
  if (recipe == "efficient-fedrec") return {recipe, false, small_titles, "group"};
  if (recipe == "fednewsrec" || recipe == "privaterec") return {recipe, false, small_titles};
  if (recipe == "dp-privrec") return {recipe, true, small_network};
  if (recipe == "dp-svd") return {recipe, true, {"items=6", "vectors=3"}};
  // Under a campaign's noise PrivRec is DP-PrivRec with PrivRec's local epochs.
  Subject privrec{recipe, true, small_network};
  privrec.simulated_as = "dp-privrec";
  privrec.simulation = {"local_epochs=20", "local_steps=0",       "local_learning_rate=0.1",
                        "proximal=0.01",   "proximal_norm=paper", "tuning_epochs=5"};
  return privrec;
}

class EveryRecipe : public ::testing::TestWithParam<std::string> {};

// In one round some devices are lost, the same ones in all three.
TEST_P(EveryRecipe, GivesTheSameBytesSimulatedMaskedAndOverTheNetworkWithDropouts) {
  Network network(subject(GetParam()));
  const auto started = network.start();
  ASSERT_TRUE(started) << started.error().message;
  auto settings = network.fleet_settings(network.subject.rounds);
  settings.reproducible = seed;
  settings.vanishing = 0.05;
  const auto report = network.run(settings);
  ASSERT_TRUE(report) << report.error().message;
  const auto finished = network.finish();
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(report->rounds, network.subject.rounds);
  EXPECT_GT(report->ended, 0U) << "nobody was lost";
  EXPECT_LT(report->participations, network.devices * network.subject.rounds);
  const Trained networked = network.networked();
  for (const char* sums : {"simulated", "masked"}) {
    SCOPED_TRACE(sums);
    const auto simulated = network.simulated(sums, {"lost=0.05"});
    ASSERT_TRUE(simulated) << simulated.error().message;
    expect_equal(networked, *simulated);
  }
  EXPECT_NE(networked.parameters, network.simulated("auto")->parameters) << "nothing depends on the devices";
}

INSTANTIATE_TEST_SUITE_P(NetworkRounds, EveryRecipe, ::testing::ValuesIn(local::recipes_with_trainers()),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase(name, '-');
                           return name;
                         });

// What the server does with the mean, by the same numbers in deployment and simulation.
class EveryOptimiser : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryOptimiser, GivesTheSameBytesSimulatedAndOverTheNetwork) {
  Subject steps = flagship();
  steps.server.push_back("optimiser=" + GetParam());
  if (GetParam() != "fedavg") steps.server.emplace_back("learning_rate=0.05");
  if (GetParam() == "sgd") steps.server.emplace_back("momentum=0.9");
  Network network(steps);
  const auto started = network.start();
  ASSERT_TRUE(started) << started.error().message;
  auto settings = network.fleet_settings(network.subject.rounds);
  settings.reproducible = seed;
  const auto report = network.run(settings);
  ASSERT_TRUE(report) << report.error().message;
  const auto finished = network.finish();
  ASSERT_TRUE(finished) << finished.error().message;
  const auto simulated = network.simulated("simulated");
  ASSERT_TRUE(simulated) << simulated.error().message;
  const Trained networked = network.networked();
  expect_equal(networked, *simulated);
  // Velocity, or two moments and the number of steps; then the sum of the iterates that the flagship
  // averages.
  const bool is_adam = GetParam().ends_with("adam");
  ASSERT_EQ(networked.optimiser.size(), is_adam ? 4U : 2U);
  const auto moved = std::ranges::count_if(networked.optimiser[0], [](float one) { return one != 0; });
  EXPECT_EQ(moved > 0, GetParam() != "fedavg") << "it has no momentum";
  if (is_adam) {
    EXPECT_EQ(networked.optimiser[2], std::vector<float>{2}) << "steps";
  }
}

INSTANTIATE_TEST_SUITE_P(NetworkRounds, EveryOptimiser, ::testing::Values("sgd", "fedavg", "adam", "fedadam"),
                         [](const auto& one) { return one.param; });

TEST(NetworkRounds, GoOnWhereTheStoreSaysAfterTheCoordinatorWasLost) {
  Network network(flagship());
  ASSERT_TRUE(network.start());
  auto settings = network.fleet_settings(1);
  settings.reproducible = seed;
  ASSERT_TRUE(network.run(settings));
  network.running.reset();
  network.folding.reset();
  fs::remove_all(network.folder / "trainer");  // what the trainer needs is in the store
  const auto again = network.start();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_GE(network.running->progress().rounds, network.subject.rounds);
  settings = network.fleet_settings(network.subject.rounds);
  settings.reproducible = seed;
  const auto report = network.run(settings);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(network.finish());
  const auto simulated = network.simulated("simulated");
  ASSERT_TRUE(simulated) << simulated.error().message;
  expect_equal(network.networked(), *simulated);
  EXPECT_EQ(network.version().numbers.values(), simulated->parameters) << "what devices fetch";
}

TEST(NetworkRounds, GiveTheSameBytesOverTls) {
  Network network(flagship());
  network.sign();
  const net::TestCertificate certificate(network.folder.path(), "here", "IP:127.0.0.1");
  auto coordinator = network.settings();
  coordinator.http.certificate = certificate.certificate;
  coordinator.http.private_key = certificate.key;
  network.authorities = certificate.certificate;
  const auto started = network.start(coordinator);
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_TRUE(network.running->url().starts_with("https://")) << network.running->url();
  auto settings = network.fleet_settings(network.subject.rounds);
  settings.reproducible = seed;
  settings.server.authorities = certificate.certificate;
  const auto report = network.run(settings);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(network.finish());
  const auto simulated = network.simulated("simulated");
  ASSERT_TRUE(simulated) << simulated.error().message;
  expect_equal(network.networked(), *simulated);
}

// Lies in all rounds, as the fleet draws them (fleet/fleet.cpp).
std::size_t liars(const Network& network, const fleet::FleetSettings& settings) {
  std::size_t lies = 0;
  for (const data::UserId reader : fleet::readers_of(network.dataset, network.devices, seed).value())
    for (std::uint32_t place = 0; place < settings.rounds; ++place) {
      SeededRandom chance(seed, Purpose::noise, place, reader);
      const auto share = [&] { return static_cast<double>(chance() >> 11) * 0x1p-53; };
      static_cast<void>(share());  // how slow it is
      const bool is_there = !local::is_lost(settings.vanishing, seed, place, reader);
      lies += is_there && share() < settings.lying ? 1 : 0;
    }
  return lies;
}

// Whoever vanishes is not in the sum, whoever lies about its shares changes nothing of it, and the slow are
// waited for: the same numbers as a simulation that loses the same devices.
TEST(NetworkRounds, SurviveDevicesThatVanishLieAndAreSlow) {
  Network network(flagship());
  ASSERT_TRUE(network.start());
  auto settings = network.fleet_settings(network.subject.rounds);
  settings.reproducible = seed;
  settings.vanishing = 0.05;
  settings.lying = 0.06;
  settings.slowest = std::chrono::milliseconds(100);
  settings.clock_skew = std::chrono::seconds(30);
  const auto report = network.run(settings);
  ASSERT_TRUE(report) << report.error().message;
  const auto finished = network.finish();
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(report->rounds, network.subject.rounds);
  EXPECT_EQ(network.running->progress().orders.abandoned, 0U) << network.running->progress().last_problem;
  EXPECT_GT(report->ended, 0U) << "nobody vanished";
  EXPECT_GT(liars(network, settings), 0U) << "nobody lied";
  const auto simulated = network.simulated("simulated", {"lost=0.05"});
  ASSERT_TRUE(simulated) << simulated.error().message;
  expect_equal(network.networked(), *simulated);
}

TEST(NetworkRounds, AreRefusedByEveryDeviceWhenTheCampaignAsksForMoreThanItsOwnerAllows) {
  Network network(flagship());
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
