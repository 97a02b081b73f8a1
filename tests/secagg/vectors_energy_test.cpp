#include <gtest/gtest.h>

#include "base/random.h"
#include "secagg/vectors/calibrated_plan.h"
#include "secagg/vectors/modular_sum.h"
#include "secagg/vectors/sum_energy.h"
#include "secagg/vectors/two_sums.h"

namespace sotto::secagg {
namespace {

EncodingPlan plan_of(std::uint64_t dimension) {
  return calibrated_plan(
             {.epsilon = 8, .delta = 1e-6, .participations = 5, .dropping = 0.1, .corrupted = 0.1},
             {dimension, 1000, 20, 30, 20})
      .value()
      .plan;
}

std::vector<std::uint32_t> sum_of(const EncodingPlan& plan, const std::vector<float>& update,
                                  std::size_t devices, std::uint64_t seed) {
  SeededRandom random(seed, Purpose::noise);
  std::vector<std::vector<std::uint32_t>> entries;
  for (std::size_t i = 0; i < devices; ++i)
    entries.push_back(UpdateEncoder(plan)
                          .encode(std::span<const float>(update), privacy::DeviceRandom::simulated(random))
                          .value());
  return modular_sum(entries, plan.modulus()).value();
}

TEST(SumEnergy, OfUpdatesThatAllPointOneWayStaysWithinTheBound) {
  for (const std::uint64_t dimension : {2U, 50U, 1000U}) {
    const EncodingPlan plan = plan_of(dimension);
    for (const float size : {0.0F, 0.5F, 100.0F})  // the last is clipped
      for (std::uint64_t seed = 0; seed < 20; ++seed)
        EXPECT_LE(energy_of(plan, sum_of(plan, std::vector<float>(dimension, size), 20, seed)),
                  largest_energy(plan))
            << dimension << " " << size;
  }
}

TEST(SumEnergy, OfProductsThatAreAllAlikeStaysWithinTheBound) {
  // The second of two sums of counts and pairs.
  const EncodingPlan plan =
      calibrated_two_sums(
          {.epsilon = 8, .delta = 1e-6, .participations = 2, .bits = 28, .dropping = 0.1, .corrupted = 0.1},
          {10, 36, 20, 20, 2}, 1000)
          .value()
          .second;
  std::vector<float> pair(36, 0);
  pair[0] = 1;  // everybody likes the first of eight items and nothing else
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_LE(energy_of(plan, sum_of(plan, pair, 20, seed)), largest_energy(plan));
}

TEST(SumEnergy, OfALieBeyondTheClipBreaksTheBound) {
  const EncodingPlan plan = plan_of(1000);
  auto sum = sum_of(plan, std::vector<float>(1000, 0.01F), 19, 1);
  SeededRandom random(2, Purpose::test);
  for (std::uint32_t& entry : sum)
    entry =
        static_cast<std::uint32_t>(plan.modulus().wrap(entry + static_cast<std::int64_t>(random() >> 40)));
  EXPECT_GT(energy_of(plan, sum), largest_energy(plan));
}

TEST(SumEnergy, CountsNumbersBelowZeroAsSuch) {
  const EncodingPlan plan = plan_of(50);
  std::vector<std::uint32_t> sum(50, static_cast<std::uint32_t>(plan.modulus().wrap(-3)));
  EXPECT_DOUBLE_EQ(energy_of(plan, sum), 450);
}

}  // namespace
}  // namespace sotto::secagg
