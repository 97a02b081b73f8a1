// A version is taken back over HTTP, between rounds and in the middle of them: what devices were asked for on
// it never becomes a version, and the campaign goes on from the one that was chosen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "running_deployment.h"

namespace sotto::coordinator {
namespace {

using device::Participation;
using Outcome = Participation::Outcome;

std::size_t took_part(const std::vector<Participation>& parts) {
  return static_cast<std::size_t>(std::ranges::count(parts, Outcome::took_part, &Participation::outcome));
}

// The versions that are in the store, and what became of its orders.
struct Kept {
  explicit Kept(const RunningDeployment& deployment) {
    auto store = open_store_to_read((deployment.folder / "store").string()).value();
    campaign = deployment.running->campaign().hash;
    versions = store->versions(campaign).value();
    current = store->current_version(campaign).value();
    actions = store->actions(0, 100).value();
  }
  Digest campaign{};
  std::vector<ModelVersion> versions;
  std::optional<ModelVersion> current;
  std::vector<AdminAction> actions;
};

bool is_version(const RunningDeployment& deployment, std::uint64_t number) {
  const Kept kept(deployment);
  return kept.current && kept.current->round == number;
}

TEST(RollBack, BetweenRoundsTrainsOnFromTheVersionThatWasChosen) {
  RunningDeployment deployment;
  const auto started = deployment.start();
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_EQ(took_part(deployment.everybody()), deployed_group);
  ASSERT_TRUE(RunningDeployment::comes_true([&] {
    return is_version(deployment, 1) && deployment.status()["state"] == "gathering";
  })) << deployment.status();

  ASSERT_EQ(deployment.act("roll-back?version=0&why=the%20numbers%20fell"), 200);
  EXPECT_EQ(deployment.status()["version"], to_hex(Kept(deployment).versions[0].model)) << "at once";
  ASSERT_EQ(took_part(deployment.everybody()), deployed_group);
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return is_version(deployment, 2); }));
  const Kept kept(deployment);
  ASSERT_EQ(kept.versions.size(), 3U);
  EXPECT_EQ(kept.versions[1].parent, kept.versions[0].model);
  EXPECT_EQ(kept.versions[2].parent, kept.versions[0].model) << "not of the version that was taken back";
  EXPECT_EQ(kept.actions.back().action, "roll back");
  EXPECT_THAT(kept.actions.back().detail, ::testing::HasSubstr("the numbers fell"));
  EXPECT_EQ(deployment.get("/v1/versions")["versions"].size(), 3U);
  EXPECT_FALSE(deployment.running->outcome()) << "the campaign goes on";
}

TEST(RollBack, WhileSumsAreFoldedIsNotUndoneByThem) {
  RunningDeployment deployment(deployed_campaign(4));
  const auto started = deployment.start();
  ASSERT_TRUE(started) << started.error().message;
  std::promise<void> folds, may_fold;
  int folded = 0;
  deployment.trainer->before_folding = [&] {
    if (++folded != 2) return;
    folds.set_value();
    may_fold.get_future().wait();
  };
  ASSERT_EQ(took_part(deployment.everybody()), deployed_group);
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return is_version(deployment, 1); }));
  ASSERT_EQ(took_part(deployment.everybody()), deployed_group);
  folds.get_future().wait();
  const int rolled_back = deployment.act("roll-back?version=0");
  may_fold.set_value();
  ASSERT_EQ(rolled_back, 200);
  ASSERT_TRUE(RunningDeployment::comes_true([&] {
    return deployment.status()["orders_abandoned"] == 1 && deployment.status()["state"] == "gathering";
  })) << deployment.status();
  const Kept kept(deployment);
  EXPECT_EQ(kept.current->round, 0U);
  EXPECT_EQ(kept.versions.size(), 2U) << "what the sums would have made is no version";
  const auto rounds = deployment.get("/v1/rounds")["rounds"];
  EXPECT_THAT(rounds[1]["abandoned"].get<std::string>(), ::testing::HasSubstr("rolled back"));
  EXPECT_EQ(deployment.devices[0]->charges(), 2U) << "what was sent is paid for";

  ASSERT_EQ(took_part(deployment.everybody()), deployed_group);
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return is_version(deployment, 2); }));
  EXPECT_EQ(Kept(deployment).versions[2].parent, kept.versions[0].model);
  EXPECT_FALSE(deployment.running->outcome());
}

TEST(RollBack, WhileAGroupSumsEndsTheRoundBeforeItsSumIsTaken) {
  RunningDeployment deployment;
  const auto started = deployment.start();
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_EQ(took_part(deployment.everybody()), deployed_group);
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return is_version(deployment, 1); }));
  std::once_flag once;
  // Before the first vector of the round has arrived.
  class RollsBack final : public WrappedTransport {
   public:
    RollsBack(device::Transport& real, const RunningDeployment& deployment, std::once_flag& flag)
        : WrappedTransport(real), deployment_(deployment), once_(flag) {}
    Result<device::ServerAnswer> send(const device::ServerCall& call) override {
      if (purpose_of(call) == "upload")
        std::call_once(once_, [&] { EXPECT_EQ(deployment_.act("roll-back?version=0"), 200); });
      return real_.send(call);
    }

   private:
    const RunningDeployment& deployment_;
    std::once_flag& once_;
  };
  const auto parts = deployment.everybody([&](std::size_t, DeployedDevice& device) {
    return std::make_unique<RollsBack>(device.network(), deployment, once);
  });
  EXPECT_EQ(took_part(parts), 0U);
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return deployment.status()["state"] == "gathering"; }));
  EXPECT_EQ(Kept(deployment).versions.size(), 2U);
  EXPECT_TRUE(is_version(deployment, 0));
  EXPECT_FALSE(deployment.running->outcome());
}

}  // namespace
}  // namespace sotto::coordinator
