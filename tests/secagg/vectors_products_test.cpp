// Products of a vector with itself: whatever a device hands to the encoder, two encoded updates are never
// further apart than what the plan charges.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/distributions.h"
#include "secagg/vectors/unit_products.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::secagg {
namespace {

// Property tests draw the same cases on every run; set RC_PARAMS to explore others.
[[maybe_unused]] const int properties_are_seeded = setenv("RC_PARAMS", "seed=2024 max_success=500", 0);

EncodingPlan plan_of(std::uint64_t rows, double step,
                     privacy::Adjacency adjacency = privacy::Adjacency::replace_one) {
  EncodingPlan::Settings settings;
  settings.dimension = rows * (rows + 1) / 2;
  settings.clip = 1;
  settings.step = step;
  settings.products = true;
  settings.denominator = 1;
  settings.devices = 2;
  settings.adjacency = adjacency;
  return EncodingPlan::create(settings).value();
}

std::vector<float> product_of(const std::vector<double>& y) {
  std::vector<float> triangle;
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t j = i; j < y.size(); ++j)
      triangle.push_back(static_cast<float>(y[i] * y[j] * (i == j ? 1 : std::sqrt(2.0))));
  return triangle;
}

std::vector<std::int32_t> rounded(const EncodingPlan& plan, const std::vector<float>& update) {
  std::vector<std::int32_t> whole(plan.entries());
  SeededRandom random(1, Purpose::test);
  const auto done = UpdateEncoder(plan).round(update, random, whole);
  if (!done) throw std::runtime_error(done.error().message);
  return whole;
}

double distance(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(squares);
}

double length(const std::vector<std::int32_t>& a) {
  return distance(a, std::vector<std::int32_t>(a.size(), 0));
}

// Vectors that a device could come to, and others: of any length, with a few large entries, of whole numbers,
// and triangles that are nobody's product.
std::vector<float> hostile(std::uint64_t rows, RandomSource& random) {
  std::vector<double> y(rows);
  const double kind = uniform01(random), size = std::pow(10.0, 6 * uniform01(random) - 3);
  for (double& entry : y) entry = kind < 0.3 && uniform01(random) < 0.7 ? 0 : size * normal(random);
  if (kind > 0.6) {
    double squares = 0;
    for (const double entry : y) squares += entry * entry;
    for (double& entry : y) entry /= std::sqrt(squares);
  }
  std::vector<float> triangle = product_of(y);
  if (kind > 0.8)
    for (float& entry : triangle) entry = static_cast<float>(size * normal(random));
  return triangle;
}

RC_GTEST_PROP(Products, NoTwoUpdatesAreFurtherApartThanCharged, ()) {
  SeededRandom random(*rc::gen::arbitrary<std::uint64_t>(), Purpose::test);
  const std::uint64_t rows = 1 + random() % 12;
  const double step = std::pow(2.0, -static_cast<double>(random() % 12));
  const EncodingPlan plan = plan_of(rows, step);
  const auto a = rounded(plan, hostile(rows, random)), b = rounded(plan, hostile(rows, random));
  RC_ASSERT(distance(a, b) <= plan.sensitivity());
  const double alone = plan_of(rows, step, privacy::Adjacency::add_remove).sensitivity();
  RC_ASSERT(length(a) <= alone);
  RC_ASSERT(length(b) <= alone);
}

TEST(Products, TheWorstCaseIsChargedAndLittleMore) {
  const EncodingPlan plan = plan_of(20, 1.0 / 4096);
  std::vector<double> first(20, 0), second(20, 0);
  first[3] = 1;
  for (std::size_t i = 4; i < 20; ++i) second[i] = i % 2 ? 0.25 : -0.25;
  const double apart = distance(rounded(plan, product_of(first)), rounded(plan, product_of(second)));
  EXPECT_LE(apart, plan.sensitivity());
  EXPECT_GT(apart, 0.99 * plan.sensitivity());
  EXPECT_LT(plan.sensitivity(), 1.01 * std::sqrt(2.0) * 4096);
}

TEST(Products, AVectorAndItsOppositeAreTheSame) {
  const EncodingPlan plan = plan_of(4, 1.0 / 512);
  const std::vector<double> y = {0.5, -0.5, 0.1, 0.7}, opposite = {-0.5, 0.5, -0.1, -0.7};
  EXPECT_EQ(rounded(plan, product_of(y)), rounded(plan, product_of(opposite)));
}

// Without it the sum would move by more than was paid for.
TEST(Products, WhatRoundingAddsMustBeCharged) {
  SeededRandom random(3, Purpose::test);
  constexpr double step = 0.25;
  const EncodingPlan plan = plan_of(6, step);
  double furthest = 0;
  for (int draw = 0; draw < 20'000; ++draw)
    furthest =
        std::max(furthest, distance(rounded(plan, hostile(6, random)), rounded(plan, hostile(6, random))));
  EXPECT_GT(furthest, std::sqrt(2.0) / step);
  EXPECT_LE(furthest, plan.sensitivity());
}

TEST(Products, WhatIsDecodedIsTheSumOfTheProducts) {
  const EncodingPlan plan = plan_of(3, 1.0 / 65536);
  SumDecoder decoder(plan);
  std::vector<double> expected(6, 0);
  for (const std::vector<double>& y : {std::vector<double>{0.6, -0.8, 0}, {0, -0.6, 0.8}}) {
    SeededRandom random(2, Purpose::test);
    const auto sent = product_of(y);
    ASSERT_TRUE(decoder.add_group(
        *UpdateEncoder(plan).encode(std::span<const float>(sent), privacy::DeviceRandom::simulated(random))));
    for (std::size_t i = 0; i < sent.size(); ++i) expected[i] += sent[i];
  }
  const auto mean = decoder.decode().value();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(mean.update[i], expected[i], 1e-4) << i;
}

TEST(Products, NoiseIsAMultipleOfWhatIsCharged) {
  auto settings = plan_of(5, 1.0 / 1024).settings();
  settings.noise_multiplier = 1.3;
  const EncodingPlan plan = EncodingPlan::create(settings).value();
  const double charged = std::sqrt(2.0) * 1024 + std::sqrt(15.0);
  EXPECT_NEAR(plan.sensitivity(), charged, 1e-6 * charged);
  const auto event = plan.event();
  ASSERT_TRUE(event);
  const auto& noise = std::get<privacy::SkellamNoise>(event->mechanism);
  EXPECT_NEAR(noise.l2_sensitivity, charged, 1e-6 * charged);
  EXPECT_GE(noise.variance, std::pow(1.3 * charged, 2));
}

TEST(Products, RefuseWhatIsNoTriangleAndWhatChangesEntries) {
  const auto refused = [](auto change) {
    auto settings = plan_of(3, 0.01).settings();
    change(settings);
    return !EncodingPlan::create(settings);
  };
  EXPECT_TRUE(refused([](auto& s) { s.dimension = 7; }));
  EXPECT_TRUE(refused([](auto& s) { s.nonnegative = true; }));
  EXPECT_TRUE(refused([](auto& s) { s.rotation_seed = 1; }));
  EXPECT_TRUE(refused([](auto& s) { s.clip_bit_weight = 0.5; }));
  EXPECT_TRUE(refused([](auto& s) { s.entry_clip = 0.5; }));
  EXPECT_FALSE(refused([](auto&) {}));
  const float nan = std::nanf("");
  EXPECT_FALSE(factor_of(std::span<const float>(std::vector<float>{1, nan, 0}), 1));
  EXPECT_FALSE(factor_of(std::span<const float>(std::vector<float>{1, 0}), 1));
}

}  // namespace
}  // namespace sotto::secagg
