// What a gather brings is the sum of one device after another, bit for bit: encoded many at a time, in
// groups, and through the clients and the server of secure aggregation.

#include "fl/gather.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "fl/divergence.h"
#include "fl/law_gather.h"
#include "fl/masked_gather.h"
#include "secagg/vectors/modular_sum.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::fl {
namespace {

using torch::Tensor;

constexpr std::uint64_t seed = 11;
const auto noise = privacy::NoiseOrigin::reproducible(seed);
constexpr std::uint32_t round_number = 3;
constexpr double bound = 2;

secagg::EncodingPlan plan_for(std::uint64_t dimension, std::uint64_t devices, std::uint64_t dropped = 0) {
  secagg::EncodingPlan::Settings settings;
  settings.dimension = dimension;
  settings.clip = 1;
  settings.clip_bit_weight = 0.5;
  settings.denominator = static_cast<double>(devices);
  settings.devices = devices;
  settings.dropped = dropped;
  settings.noise_multiplier = 1;
  settings.adjacency = privacy::Adjacency::replace_one;
  settings.step = secagg::finest_step(settings, 24).value();
  return secagg::EncodingPlan::create(settings).value();
}

// Device i always sends the same vector, and every device writes it into the same memory.
class FixedUpdates final : public UserUpdates {
 public:
  FixedUpdates(std::size_t devices, std::int64_t dimension) {
    torch::manual_seed(1);
    for (std::size_t i = 0; i < devices; ++i) all.push_back(torch::randn({dimension}) * 0.1);
  }
  Status each_update(std::uint32_t, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override {
    Tensor shared = torch::empty_like(all.front());
    for (const data::UserId user : users) {
      shared.resize_as_(all[user]).copy_(all[user]);
      SOTTO_CHECK(take({user, shared, loss, 2}));
    }
    shared.zero_();
    return {};
  }
  double loss = 0.5;
  std::vector<data::UserId> users() const {
    std::vector<data::UserId> result(all.size());
    std::iota(result.begin(), result.end(), data::UserId{0});
    return result;
  }
  std::vector<Tensor> all;
};

SimulatedDevices devices_of(FixedUpdates& updates, std::uint64_t participations = every_round) {
  const auto everybody = static_cast<std::int64_t>(updates.all.size());
  return {{CohortSampler::create(updates.users(), everybody, 1).value(), participations}, updates, noise};
}

// One device after another, as the protocol is written down.
std::vector<std::uint32_t> one_by_one(const secagg::EncodingPlan& plan, const FixedUpdates& updates,
                                      std::span<const data::UserId> users,
                                      std::uint32_t round = round_number) {
  const secagg::UpdateEncoder device(plan);
  std::vector<std::uint32_t> sum(plan.entries(), 0);
  for (const data::UserId user : users) {
    SeededRandom draws(seed, Purpose::noise, round, user);
    const Tensor update = updates.all[user] / bound;
    const std::span<const float> values(update.data_ptr<float>(), static_cast<std::size_t>(update.numel()));
    EXPECT_TRUE(secagg::add_entries(std::span(sum),
                                    device.encode(values, privacy::DeviceRandom::simulated(draws)).value()));
  }
  secagg::reduce_entries(std::span(sum), plan.modulus());
  return sum;
}

TEST(SimulatedGather, OnAllThreadsEqualsOneDeviceAfterAnotherBitForBit) {
  // 2,500 devices of few numbers are encoded in several batches, 5 of many numbers in one.
  for (const auto& [devices, dimension] : {std::pair{std::size_t{2500}, std::int64_t{7}}, {5, 5000}}) {
    FixedUpdates updates(devices, dimension);
    const secagg::EncodingPlan plan = plan_for(static_cast<std::uint64_t>(dimension), devices);
    SimulatedGather gather(devices_of(updates));
    const Gathered gathered = gather.sum({round_number, plan, bound}).value();
    ASSERT_EQ(gathered.groups.size(), 1U);
    EXPECT_EQ(gathered.groups.front().entries, one_by_one(plan, updates, updates.users()));
    EXPECT_EQ(gathered.arrived(), devices);
    EXPECT_EQ(gathered.samples, 2 * devices);
    EXPECT_NEAR(gathered.loss, 0.5 * static_cast<double>(devices), 1e-9);
  }
}

TEST(SimulatedGather, SplitsACohortIntoGroupsOfThePlansSize) {
  FixedUpdates updates(12, 6);
  const secagg::EncodingPlan plan = plan_for(6, 4);
  SimulatedGather gather(devices_of(updates));
  const Gathered gathered = gather.sum({round_number, plan, bound}).value();
  ASSERT_EQ(gathered.groups.size(), 3U);
  const auto users = updates.users();
  for (std::size_t g = 0; g < 3; ++g)
    EXPECT_EQ(gathered.groups[g].entries, one_by_one(plan, updates, std::span(users).subspan(4 * g, 4)));
  EXPECT_FALSE(gather.sum({round_number, plan_for(6, 5), bound})) << "12 devices are no groups of 5";
}

TEST(SimulatedGather, AnUpdateThatCannotBeEncodedFailsTheRound) {
  for (const Tensor& wrong : {torch::ones({5}), torch::full({6}, NAN)}) {
    FixedUpdates updates(4, 6);
    updates.all[2] = wrong;
    SimulatedGather gather(devices_of(updates));
    EXPECT_FALSE(gather.sum({round_number, plan_for(6, 4), bound}));
  }
}

TEST(SimulatedGather, AModelThatDivergedIsCalledSo) {
  FixedUpdates updates(4, 6);
  updates.loss = NAN;
  SimulatedGather simulated(devices_of(updates));
  LawGather by_law(devices_of(updates));
  for (Gather* gather : {static_cast<Gather*>(&simulated), static_cast<Gather*>(&by_law)}) {
    const auto refused = gather->sum({round_number, plan_for(6, 4), bound});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("round 4: the loss is no longer a number"), std::string::npos);
  }
}

TEST(SimulatedGather, AnUpdateWithoutNumbersUnderAFiniteLossIsDivergenceToo) {
  for (const float wrong : {NAN, HUGE_VALF}) {
    FixedUpdates updates(4, 6);
    updates.all[2] = torch::full({6}, wrong);
    SimulatedGather simulated(devices_of(updates));
    LawGather by_law(devices_of(updates));
    for (Gather* gather : {static_cast<Gather*>(&simulated), static_cast<Gather*>(&by_law)}) {
      const auto refused = gather->sum({round_number, plan_for(6, 4), bound});
      ASSERT_FALSE(refused);
      EXPECT_EQ(diverged_round(refused.error()), 4U) << refused.error().message;
    }
  }
  // A wrong length is a mistake, not what came out of training.
  FixedUpdates updates(4, 6);
  updates.all[2] = torch::ones({5});
  SimulatedGather simulated(devices_of(updates));
  const auto refused = simulated.sum({round_number, plan_for(6, 4), bound});
  ASSERT_FALSE(refused);
  EXPECT_FALSE(diverged_round(refused.error())) << refused.error().message;
}

#ifdef SOTTO_HAVE_PROTOCOL

TEST(MaskedGather, TheSumThroughTheProtocolIsTheSimulatedOneBitForBit) {
  for (const secagg::ServerModel server : {secagg::ServerModel::semi_honest, secagg::ServerModel::active}) {
    FixedUpdates updates(20, 33);
    const secagg::EncodingPlan plan = plan_for(33, 10, 2);
    SimulatedGather simulated(devices_of(updates));
    MaskedGather masked(devices_of(updates), server);
    for (const std::uint32_t round : {round_number, round_number + 1}) {
      const Gathered expected = simulated.sum({round, plan, bound}).value();
      const auto gathered = masked.sum({round, plan, bound});
      ASSERT_TRUE(gathered) << gathered.error().message;
      ASSERT_EQ(gathered->groups.size(), 2U);
      for (std::size_t g = 0; g < 2; ++g) {
        EXPECT_EQ(gathered->groups[g].entries, expected.groups[g].entries);
        EXPECT_EQ(gathered->groups[g].arrived, 10U);
      }
      EXPECT_GT(gathered->bytes_up, expected.bytes_up) << "keys and shares come on top";
    }
  }
}

TEST(MaskedGather, DevicesThatStayAwayAreLeftOutOfTheSumAlike) {
  // 40 of 44 are drawn for every round and may come 12 times: from then on some stay away.
  FixedUpdates updates(44, 9);
  const secagg::EncodingPlan plan = plan_for(9, 40, 16);
  const auto devices = [&] {
    return SimulatedDevices{{CohortSampler::create(updates.users(), 40, 1).value(), 12}, updates, noise};
  };
  SimulatedGather simulated(devices());
  MaskedGather masked(devices(), secagg::ServerModel::semi_honest);
  bool somebody_stayed_away = false;
  for (std::uint32_t round = 0; round < 14; ++round) {
    const auto expected = simulated.sum({round, plan, bound});
    const auto gathered = masked.sum({round, plan, bound});
    ASSERT_EQ(expected.has_value(), gathered.has_value());
    if (!expected) break;
    EXPECT_EQ(gathered->groups.front().entries, expected->groups.front().entries);
    EXPECT_EQ(gathered->arrived(), expected->arrived());
    somebody_stayed_away |= expected->arrived() < 40;
  }
  EXPECT_TRUE(somebody_stayed_away);
}

TEST(MaskedGather, AnUpdateThatCannotBeEncodedFailsTheRound) {
  FixedUpdates updates(10, 6);
  updates.all[2] = torch::full({6}, NAN);
  MaskedGather gather(devices_of(updates), secagg::ServerModel::semi_honest);
  EXPECT_FALSE(gather.sum({round_number, plan_for(6, 10), bound}));
}

#endif

}  // namespace
}  // namespace sotto::fl
