// A coordinator that is told to end: devices that may have been charged are waited for, nobody else is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "running_deployment.h"

namespace sotto::coordinator {
namespace {

using device::Participation;
using Outcome = Participation::Outcome;

// Does something when the first device is about to send what the round is at.
class AtTheFirst final : public WrappedTransport {
 public:
  AtTheFirst(device::Transport& real, std::string_view purpose, std::once_flag& once,
             const std::function<void()>& act)
      : WrappedTransport(real), purpose_(purpose), once_(once), act_(act) {}
  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    if (purpose_of(call) == purpose_) std::call_once(once_, act_);
    return real_.send(call);
  }

 private:
  const std::string_view purpose_;
  std::once_flag& once_;
  const std::function<void()>& act_;
};

struct Drained {
  std::vector<Participation> parts;
  std::size_t counted = 0, charged = 0;
};

// Everybody comes; the coordinator is acted upon when the first device sends this.
Drained everybody(RunningDeployment& deployment, std::string_view purpose, const std::function<void()>& act) {
  std::once_flag once;
  Drained drained{deployment.everybody([&](std::size_t, DeployedDevice& device) {
    return std::make_unique<AtTheFirst>(device.network(), purpose, once, act);
  })};
  for (const Participation& part : drained.parts) {
    drained.counted += part.outcome == Outcome::took_part;
    drained.charged += part.was_charged;
  }
  return drained;
}

TEST(Drain, WaitsForTheRoundThatDevicesAreChargedForAndOrdersNoOther) {
  RunningDeployment deployment;
  const auto started = deployment.start();
  ASSERT_TRUE(started) << started.error().message;
  const Drained drained = everybody(deployment, "upload", [&] {
    deployment.running->drain();
    EXPECT_FALSE(deployment.running->is_drained()) << "a group sums";
  });
  EXPECT_EQ(drained.counted, deployed_group);
  EXPECT_TRUE(RunningDeployment::comes_true([&] { return deployment.running->is_drained(); }));
  EXPECT_TRUE(RunningDeployment::comes_true([&] { return deployment.status()["state"] == "drained"; }));
  EXPECT_EQ(deployment.status()["rounds_done"], 1) << "its sums are folded";
  EXPECT_EQ(deployment.get("/v1/versions")["versions"].size(), 2U);
  device::SecretDraws draws;
  const device::RoundHooks hooks{[] { return false; }, [](std::chrono::milliseconds) {}};
  const auto next = deployment.devices[0]->take_part(deployment.devices[0]->network(), draws, hooks);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->outcome, Outcome::no_round);
  deployment.running->stop();
  const auto store = open_store_to_read((deployment.folder / "store").string()).value();
  EXPECT_TRUE(store->unfinished_orders()->empty());
}

TEST(Drain, LetsWhoeverWaitsGoWhenNobodyWasCharged) {
  RunningDeployment deployment;
  const auto started = deployment.start();
  ASSERT_TRUE(started) << started.error().message;
  deployment.devices.pop_back();  // so that no group forms
  std::thread drains([&] {
    EXPECT_TRUE(RunningDeployment::comes_true(
        [&] { return deployment.status()["now"]["waiting"] == deployed_group - 1; }));
    deployment.running->drain();
    EXPECT_TRUE(RunningDeployment::comes_true([&] { return deployment.running->is_drained(); }));
    deployment.running->stop();
  });
  const auto parts = deployment.everybody();
  drains.join();
  for (const Participation& part : parts) {
    EXPECT_EQ(part.outcome, Outcome::ended) << part.why;
    EXPECT_FALSE(part.was_charged);
  }
}

TEST(Drain, EndsAtOnceWhenItIsStoppedAndTheChargeIsLost) {
  RunningDeployment deployment;
  const auto started = deployment.start();
  ASSERT_TRUE(started) << started.error().message;
  const Drained drained = everybody(deployment, "reveal", [&] { deployment.running->stop(); });
  EXPECT_EQ(drained.counted, 0U);
  EXPECT_EQ(drained.charged, deployed_group);
  const auto store = open_store_to_read((deployment.folder / "store").string()).value();
  EXPECT_EQ(store->versions(deployment.running->campaign().hash)->size(), 1U) << "and no version is";
}

}  // namespace
}  // namespace sotto::coordinator
