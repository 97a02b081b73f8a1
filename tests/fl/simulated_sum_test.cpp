// Encoding devices many at a time changes nothing: the sum is that of one device after another.

#include "fl/simulated_sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "base/thread_pool.h"
#include "secagg/vectors/modular_sum.h"
#include "secagg/vectors/sum_decoder.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::uint64_t seed = 11;
constexpr std::uint32_t round_number = 3;

EncodingPlan plan_for(std::uint64_t dimension, std::uint64_t devices) {
  EncodingPlan::Settings settings;
  settings.dimension = dimension;
  settings.clip = 1;
  settings.clip_bit_weight = 0.5;
  settings.denominator = static_cast<double>(devices);
  settings.devices = devices;
  settings.noise_multiplier = 1;
  settings.adjacency = Adjacency::replace_one;
  settings.step = finest_step(settings, 24).value();
  return EncodingPlan::create(settings).value();
}

std::vector<Tensor> updates(std::size_t devices, std::int64_t dimension) {
  torch::manual_seed(1);
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < devices; ++i) all.push_back(torch::randn({dimension}) * 0.1);
  return all;
}

// One device after another, as the protocol is written down.
DecodedMean one_by_one(const EncodingPlan& plan, const std::vector<Tensor>& all) {
  const UpdateEncoder device(plan);
  std::vector<std::uint32_t> sum(plan.entries(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    SeededRandom draws(seed, Purpose::noise, round_number, static_cast<UserId>(i));
    const std::span<const float> values(all[i].data_ptr<float>(), static_cast<std::size_t>(all[i].numel()));
    EXPECT_TRUE(add_entries(std::span(sum), device.encode(values, DeviceRandom::simulated(draws)).value()));
  }
  reduce_entries(std::span(sum), plan.modulus());
  SumDecoder server(plan);
  EXPECT_TRUE(server.add_group(sum));
  return server.decode().value();
}

TEST(SimulatedSum, OnAllThreadsEqualsOneDeviceAfterAnotherBitForBit) {
  // 2,500 devices of few numbers are encoded in several groups, 5 of many numbers in one.
  for (const auto& [devices, dimension] : {std::pair{std::size_t{2500}, std::int64_t{7}}, {5, 5000}}) {
    const auto all = updates(devices, dimension);
    const EncodingPlan plan = plan_for(static_cast<std::uint64_t>(dimension), devices);
    const DecodedMean expected = one_by_one(plan, all);
    SimulatedSum sum(plan, seed, round_number);
    for (std::size_t i = 0; i < devices; ++i) ASSERT_TRUE(sum.add(static_cast<UserId>(i), all[i]));
    const Tensor mean = sum.mean().value();
    EXPECT_TRUE(torch::equal(mean, torch::tensor(expected.update, torch::kFloat32)));
    EXPECT_EQ(sum.fraction_within(), expected.fraction_within);
  }
}

TEST(SimulatedSum, CopiesAnUpdateThatIsOverwrittenAfterwards) {
  const auto all = updates(4, 6);
  const EncodingPlan plan = plan_for(6, 4);
  SimulatedSum sum(plan, seed, round_number);
  Tensor shared = torch::empty({6});
  for (std::size_t i = 0; i < all.size(); ++i) {
    shared.copy_(all[i]);
    ASSERT_TRUE(sum.add(static_cast<UserId>(i), shared));
  }
  shared.zero_();
  EXPECT_TRUE(torch::equal(sum.mean().value(), torch::tensor(one_by_one(plan, all).update, torch::kFloat32)));
}

TEST(SimulatedSum, AnUpdateThatCannotBeEncodedFailsTheRound) {
  for (const Tensor& wrong : {torch::ones({5}), torch::full({6}, NAN)}) {
    SimulatedSum sum(plan_for(6, 4), seed, round_number);
    const auto added = sum.add(0, wrong);
    EXPECT_FALSE(added && sum.mean());
  }
}

}  // namespace
}  // namespace sotto
