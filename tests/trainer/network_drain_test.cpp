// 'sotto coordinator' told to end by signals while its devices are in a round.

#ifdef SOTTO_HAVE_NET

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator_process.h"
#include "device/device.h"

namespace sotto::trainer {
namespace {

using testing::comes_true;
using testing::CoordinatorProcess;
using testing::FleetInBackground;
using ::testing::HasSubstr;
using testing::Network;

// A round in which everybody has sent its vector but those who vanished, for whom the group waits as long as
// is said.
struct Summing {
  explicit Summing(std::uint64_t group_waits_seconds, const std::vector<std::string>& more = {}) {
    network.campaign.shortest_phase_seconds = group_waits_seconds;
    network.campaign.longest_phase_seconds = 2 * group_waits_seconds;
    network.sign();
    if (!testing::write_keys(network)) throw std::runtime_error("cannot write the keys");
    process.emplace(network, (network.folder / "store").string(), "one", more);
    const std::string url = process->await("listening")["url"];
    auto settings = network.fleet_settings(1);
    settings.reproducible = testing::seed;
    settings.vanishing = 0.05;
    settings.server.url = url;
    devices.emplace(settings, network.dataset);
    is_summing = comes_true(url, [](const nlohmann::json& status) {
      return status["now"]["phases"]["uploading"]["answered"].get<int>() > 0;
    });
  }
  std::uint64_t versions() const {
    const auto store = coordinator::open_store_to_read((network.folder / "store").string());
    if (!store) throw std::runtime_error(store.error().message);
    return (*store)->versions(rounds::open_campaign(network.document).value().hash)->size();
  }
  Network network = Network(testing::flagship());
  std::optional<CoordinatorProcess> process;
  std::optional<FleetInBackground> devices;
  bool is_summing = false;
};

bool has_said(const CoordinatorProcess& process, const std::string& event) {
  for (const nlohmann::json& one : process.said())
    if (one["event"] == event) return true;
  return false;
}

constexpr std::uint64_t a_moment = 4, longer_than_the_test = 120;

TEST(NetworkDrain, SigtermLetsTheRoundEndThatDevicesWereChargedFor) {
  Summing summing(a_moment);
  ASSERT_TRUE(summing.is_summing);
  const int status = summing.process->end(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << summing.process->complaints();
  EXPECT_TRUE(has_said(*summing.process, "draining"));
  EXPECT_TRUE(has_said(*summing.process, "round")) << summing.process->complaints();
  EXPECT_EQ(summing.versions(), 2U);
}

// What a service writes is collected line by line, and nothing of it is about a person.
TEST(NetworkDrain, EveryLineOfBothStreamsIsOneJsonObjectThatNamesNoDevice) {
  Summing summing(a_moment);
  ASSERT_TRUE(summing.is_summing);
  summing.process->end(SIGTERM);
  std::istringstream lines(summing.process->complaints());
  for (std::string line; std::getline(lines, line);) {
    const auto one = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(one.is_object()) << line;
    EXPECT_TRUE(one.contains("time") && one.contains("level") && one.contains("message")) << line;
  }
  static_cast<void>(summing.devices->stop());
  device::DeviceSettings settings;
  settings.ranking = "local";
  settings.lifetime_epsilon = 100;
  settings.budget_delta = 1e-4;
  for (std::size_t i = 0; i < summing.network.devices; ++i) {
    auto device = device::Device::open(summing.network.folder / "devices" / fmt::format("device-{:06}", i),
                                       settings, {});
    ASSERT_TRUE(device) << device.error().message;
    const std::string key = to_hex(device->identity()->public_key());
    EXPECT_THAT(summing.process->complaints(), ::testing::Not(HasSubstr(key)));
    for (const nlohmann::json& event : summing.process->said())
      EXPECT_THAT(event.dump(), ::testing::Not(HasSubstr(key)));
  }
}

TEST(NetworkDrain, ASecondSigtermEndsTheRoundAtOnceAndNoVersionIsLost) {
  Summing summing(longer_than_the_test);
  ASSERT_TRUE(summing.is_summing);
  summing.process->signal(SIGTERM);
  summing.process->await("draining");
  const auto told = std::chrono::steady_clock::now();
  const int status = summing.process->end(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << summing.process->complaints();
  EXPECT_LT(std::chrono::steady_clock::now() - told, std::chrono::seconds(30));
  EXPECT_FALSE(has_said(*summing.process, "round"));
  EXPECT_EQ(summing.versions(), 1U);
}

TEST(NetworkDrain, WaitsNoLongerThanItIsTold) {
  Summing summing(longer_than_the_test, {"--drain-seconds", "0"});
  ASSERT_TRUE(summing.is_summing);
  const int status = summing.process->end(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << summing.process->complaints();
  EXPECT_FALSE(has_said(*summing.process, "round"));
  EXPECT_EQ(summing.versions(), 1U);
}

}  // namespace
}  // namespace sotto::trainer

#endif
