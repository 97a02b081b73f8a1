// Two coordinators as processes of their own on one PostgreSQL: one is killed at different moments of a
// round, and the other goes on.

#if defined(SOTTO_HAVE_NET) && defined(SOTTO_TEST_POSTGRES)

#include <gtest/gtest.h>

#include "coordinator/postgres_server.h"
#include "coordinator_process.h"
#include "local/lost_devices.h"
#include "privacy/ledger/ledger.h"

namespace sotto::trainer {
namespace {

using testing::comes_true;
using testing::CoordinatorProcess;
using testing::FleetInBackground;
using testing::Network;
using testing::seed;

constexpr double vanishing = 0.05;

// One coordinates, the other waits until it is gone.
struct Two {
  explicit Two(std::uint64_t rounds) {
    testing::Subject subject = testing::flagship();
    subject.rounds = rounds;
    network.emplace(subject);
    network->sign();
    if (!testing::write_keys(*network)) throw std::runtime_error("cannot write the keys");
    const std::string store = coordinator::new_postgres_schema();
    first.emplace(*network, store, "first");
    url = first->await("listening")["url"];
    second.emplace(*network, store, "second");
    second->await("waiting");
    readers = fleet::readers_of(network->dataset, 1000, seed).value();
  }

  fleet::FleetSettings fleet(std::uint64_t rounds) {
    auto settings = network->fleet_settings(rounds);
    settings.reproducible = seed;
    settings.server.url = url;
    return settings;
  }
  void kill_first() {
    first->end(SIGKILL);
    url = second->await("listening")["url"];
  }
  bool is_lost(std::size_t device, std::uint32_t round) const {
    return local::is_lost(vanishing, seed, round, readers[device]);
  }
  std::size_t lost_in(std::uint32_t round) const {
    std::size_t lost = 0;
    for (std::size_t device = 0; device < readers.size(); ++device) lost += is_lost(device, round) ? 1 : 0;
    return lost;
  }
  // What its ledger says; no fleet may run.
  std::size_t charges_of(std::size_t device) const {
    const fs::path own = network->folder / "devices" / fmt::format("device-{:06}", device);
    const auto ledger = privacy::Ledger::open(own / privacy::ledger_file_name, privacy::read_system_clocks(),
                                              {.anchor = nullptr, .first_use = true});
    const auto campaign = rounds::open_campaign(network->document).value().hash;
    return ledger.value().rounds_of(campaign).size();
  }
  void expect_taken_over(const testing::Trained& simulated) const {
    testing::expect_equal(Network::checkpoint_in(network->folder / "second"), simulated);
  }

  std::optional<Network> network;
  std::string url;
  std::optional<CoordinatorProcess> first, second;
  std::vector<data::UserId> readers;
};

TEST(NetworkTakeover, TheNextCoordinatorGoesOnWhenOneIsKilledWhileDevicesWait) {
  if (const auto missing = coordinator::postgres_is_missing()) GTEST_SKIP() << *missing;
  Two two(2);
  const auto one = two.network->run(two.fleet(1));
  ASSERT_TRUE(one) << one.error().message;

  // All devices but one wait in the second round when its coordinator is killed: nobody was charged for it.
  {
    auto all_but_one = two.fleet(1);
    --all_but_one.devices;
    FleetInBackground devices(all_but_one, two.network->dataset);
    ASSERT_TRUE(comes_true(two.url, [&](const nlohmann::json& status) {
      return status["now"]["waiting"] == two.network->devices - 1;
    }));
    two.kill_first();
  }
  EXPECT_EQ(two.charges_of(0), 1U);
  const auto rest = two.network->run(two.fleet(1));
  ASSERT_TRUE(rest) << rest.error().message;
  two.second->await("finished");
  two.second->end(SIGTERM);
  const auto simulated = two.network->simulated("simulated");
  ASSERT_TRUE(simulated) << simulated.error().message;
  two.expect_taken_over(*simulated);
}

// The group waits for those who vanished when all other vectors have come: the round is lost, and paid for.
TEST(NetworkTakeover, ARoundWhoseCoordinatorIsKilledAfterTheUploadsIsAbandonedChargedOnceAndOrderedAnew) {
  if (const auto missing = coordinator::postgres_is_missing()) GTEST_SKIP() << *missing;
  Two two(3);
  ASSERT_GT(two.lost_in(0), 0U);
  const std::size_t uploads = two.network->devices - two.lost_in(0);
  auto settings = two.fleet(1);
  settings.vanishing = vanishing;
  {
    FleetInBackground devices(settings, two.network->dataset);
    ASSERT_TRUE(comes_true(two.url, [&](const nlohmann::json& status) {
      return status["now"]["phases"]["uploading"]["answered"] == uploads;
    }));
    two.first->end(SIGKILL);
  }
  for (std::size_t device = 0; device < two.network->devices; ++device)
    EXPECT_EQ(two.charges_of(device), 1U) << device;
  two.url = two.second->await("listening")["url"];
  EXPECT_EQ(testing::status_at(two.url)["rounds_done"], 0) << "there is no sum";

  settings = two.fleet(2);
  settings.vanishing = vanishing;
  const auto rest = two.network->run(settings);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(testing::status_at(two.url)["rounds_done"], 2);
  for (std::size_t device = 0; device < two.network->devices; ++device)
    EXPECT_EQ(two.charges_of(device), 3U) << device;
  two.second->end(SIGTERM);
  const auto simulated = two.network->simulated("simulated", {"lost=0.05"}, 2);
  ASSERT_TRUE(simulated) << simulated.error().message;
  two.expect_taken_over(*simulated);
}

// The trainer stands still, so that the sum is kept and no version is made of it.
TEST(NetworkTakeover, TheNextCoordinatorFoldsTheSumThatWasKeptWithDevicesLost) {
  if (const auto missing = coordinator::postgres_is_missing()) GTEST_SKIP() << *missing;
  Two two(2);
  ASSERT_GT(two.lost_in(0) + two.lost_in(1), 0U);
  ASSERT_TRUE(
      comes_true(two.url, [](const nlohmann::json& status) { return status["state"] == "gathering"; }));
  const pid_t trainer = two.first->trainer();
  ASSERT_GT(trainer, 0);
  ASSERT_EQ(::kill(trainer, SIGSTOP), 0);
  auto settings = two.fleet(1);
  settings.vanishing = vanishing;
  {
    FleetInBackground devices(settings, two.network->dataset);
    ASSERT_TRUE(
        comes_true(two.url, [](const nlohmann::json& status) { return status["state"] == "folding"; }));
    two.first->end(SIGKILL);
  }
  two.url = two.second->await("listening")["url"];
  ASSERT_TRUE(comes_true(two.url, [](const nlohmann::json& status) { return status["rounds_done"] == 1; }))
      << "no device is asked again";
  for (std::size_t device = 0; device < two.network->devices; ++device)
    EXPECT_EQ(two.charges_of(device), 1U) << device;

  settings = two.fleet(1);
  settings.vanishing = vanishing;
  const auto rest = two.network->run(settings);
  ASSERT_TRUE(rest) << rest.error().message;
  two.second->await("finished");
  two.second->end(SIGTERM);
  const auto simulated = two.network->simulated("simulated", {"lost=0.05"});
  ASSERT_TRUE(simulated) << simulated.error().message;
  two.expect_taken_over(*simulated);
}

}  // namespace
}  // namespace sotto::trainer

#endif
