// The private union: noise and sensitivity as promised, false positives within their bound, popular items
// found.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "privacy/accounting/account.h"
#include "secagg/item_union/private_union.h"
#include "secagg/vectors/modular_sum.h"

namespace sotto::secagg {
namespace {

using Items = std::vector<std::uint32_t>;

PrivateUnion::Settings settings_for(std::uint64_t devices) {
  return {.cap = 5,
          .devices = devices,
          .dropped = devices / 5,
          .noise_multiplier = 1,
          .expected_false_positives = 1};
}

std::vector<std::uint32_t> noisy_counts(const PrivateUnion& form, const std::vector<Items>& sets,
                                        std::uint64_t seed) {
  SeededRandom random(seed, Purpose::test);
  std::vector<std::vector<std::uint32_t>> devices;
  devices.reserve(sets.size());
  for (const Items& set : sets)
    devices.push_back(*form.encode(set, privacy::DeviceRandom::simulated(random)));
  return *modular_sum(devices, form.modulus());
}

// Item i < 10 is held by everybody, item 10 + i by device i alone.
std::vector<Items> two_kinds(std::uint32_t devices) {
  std::vector<Items> sets;
  for (std::uint32_t i = 0; i < devices; ++i) sets.push_back({i % 10, (i + 1) % 10, (i + 2) % 10, 10 + i});
  return sets;
}

TEST(PrivateUnion, NamesPopularItemsWithOneCounterPerItemAndHashed) {
  constexpr std::uint64_t catalogue = 20000;
  const auto sets = two_kinds(200);  // each popular item has 60 holders
  const auto dense = *CounterLayout::one_per_item(catalogue);
  const auto hashed = *CounterLayout::hashed(catalogue, {.rows = 3, .counters = 2000, .seed = 5});
  for (const CounterLayout& layout : {dense, hashed}) {
    const auto form = *PrivateUnion::create(layout, settings_for(200));
    const auto named = *form.decode(noisy_counts(form, sets, 1));
    EXPECT_LT(form.threshold(), 30);
    for (std::uint32_t item = 0; item < 10; ++item) {
      EXPECT_TRUE(std::binary_search(named.begin(), named.end(), item)) << item << " of " << layout.rows();
    }
    EXPECT_LT(named.size(), 10 + 20 * (1 + form.false_positive_bound(210)));
  }
}

TEST(PrivateUnion, FalsePositivesStayWithinTheirBound) {
  constexpr std::uint64_t round_count = 60;
  const auto sets = two_kinds(50);  // holds items 0 to 59
  auto settings = settings_for(50);
  settings.noise_multiplier = 0.5;
  settings.expected_false_positives = 5;
  for (const bool hashed : {false, true}) {
    double found = 0, bound = 0;
    for (std::uint64_t round = 0; round < round_count; ++round) {
      const auto layout = hashed ? *CounterLayout::hashed(5000, {.rows = 2, .counters = 300, .seed = round})
                                 : *CounterLayout::one_per_item(5000);
      const auto form = *PrivateUnion::create(layout, settings);
      const auto named = *form.decode(noisy_counts(form, sets, round));
      found += static_cast<double>(
          std::count_if(named.begin(), named.end(), [](auto item) { return item >= 60; }));
      bound += form.false_positive_bound(60);
    }
    // Within a round the false positives of two rows of 300 counters are not independent; ten standard
    // deviations of a Poisson number leave room for that.
    EXPECT_LT(found, bound + 10 * std::sqrt(bound)) << (hashed ? "hashed" : "one per item");
    EXPECT_GT(found, 0) << "nothing was put to the test";
  }
}

TEST(PrivateUnion, CountersCarryThePromisedNoiseWhenDevicesDrop) {
  constexpr std::uint64_t counter_count = 60000;
  const auto layout = *CounterLayout::one_per_item(counter_count);
  const auto form = *PrivateUnion::create(layout, settings_for(10));
  const double promised = 5;                      // (1·√cap)²
  for (const std::size_t present : {8UL, 7UL}) {  // 2 may drop; a third is one too many
    double squares = 0;
    for (const std::uint32_t entry : noisy_counts(form, std::vector<Items>(present), 3)) {
      squares += std::pow(static_cast<double>(form.modulus().centre(entry)), 2);
    }
    const double ratio = squares / counter_count / promised;
    // Kurtosis of a Skellam law of variance 5: 3.2. 4.9 standard errors: below 1e-6.
    const double tolerance = 4.9 * std::sqrt(2.2 / counter_count);
    EXPECT_EQ(ratio > 1 - tolerance, present == 8) << ratio;
  }
}

// Without noise in the way: what one device can change, over every way its items may collide.
TEST(PrivateUnion, OneDeviceMovesTheCountersByNoMoreThanTheSensitivity) {
  for (const std::uint32_t counters : {1U, 2U, 7U, 100U}) {
    const auto layout = *CounterLayout::hashed(1000, {.rows = 3, .counters = counters, .seed = 1});
    for (std::uint32_t first = 0; first < 50; ++first) {
      const Items items{first, first + 100, first + 200, first + 300, first + 400};
      const auto touched = layout.counters_of(items);
      EXPECT_LE(touched.size(), 15U);
      EXPECT_TRUE(std::adjacent_find(touched.begin(), touched.end()) == touched.end());
      EXPECT_LT(touched.back(), layout.counters());
    }
  }
  const auto layout = *CounterLayout::hashed(1000, {.rows = 3, .counters = 100, .seed = 1});
  auto settings = settings_for(20);
  const auto added = PrivateUnion::create(layout, settings)->event();
  EXPECT_NEAR(std::get<privacy::SkellamNoise>(added.mechanism).l2_sensitivity, std::sqrt(15.0), 1e-12);
  EXPECT_NEAR(std::get<privacy::SkellamNoise>(added.mechanism).l1_sensitivity, 15, 1e-12);
  settings.adjacency = privacy::Adjacency::replace_one;
  const auto replaced = PrivateUnion::create(layout, settings)->event();
  EXPECT_NEAR(std::get<privacy::SkellamNoise>(replaced.mechanism).l2_sensitivity, std::sqrt(30.0), 1e-12);
  EXPECT_NEAR(std::get<privacy::SkellamNoise>(replaced.mechanism).l1_sensitivity, 30, 1e-12);
}

TEST(PrivateUnion, CapsTheItemsOfADevice) {
  const auto layout = *CounterLayout::one_per_item(1000);
  auto settings = settings_for(1);
  settings.dropped = 0;
  settings.noise_multiplier = 1.0 / 64;  // almost no noise: counts show through
  const auto form = *PrivateUnion::create(layout, settings);
  Items many(1000);
  for (std::uint32_t i = 0; i < many.size(); ++i) many[i] = i;
  SeededRandom random(4, Purpose::test);
  const auto entries = *form.encode(many, privacy::DeviceRandom::simulated(random));
  int ones = 0;
  for (const std::uint32_t entry : entries) {
    ones += form.modulus().centre(entry) == 1 ? 1 : 0;
  }
  EXPECT_LE(ones, 5 + 10);  // noise of variance 0.002 adds about one
  EXPECT_GE(ones, 4);
}

TEST(PrivateUnion, StatesAGuaranteeThatTheAccountantConfirms) {
  const auto form = *PrivateUnion::create(*CounterLayout::one_per_item(1000), settings_for(100));
  const auto guarantee = form.guarantee(1e-6);
  ASSERT_TRUE(guarantee.has_value());
  EXPECT_EQ(guarantee->adversary, privacy::Adversary::server);
  EXPECT_GT(guarantee->epsilon,
            3);  // Gaussian with multiplier 1 at 1e-6 has 4.8; Skellam charges a little more
  EXPECT_LT(guarantee->epsilon, 8);
}

TEST(PrivateUnion, RefusesSettingsThatCannotWork) {
  const auto layout = *CounterLayout::one_per_item(100);
  const auto refused = [&](auto change) {
    auto settings = settings_for(10);
    change(settings);
    return !PrivateUnion::create(layout, settings).has_value();
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& s) { s.cap = 0; }));
  EXPECT_TRUE(refused([](auto& s) { s.devices = 0; }));
  EXPECT_TRUE(refused([](auto& s) { s.dropped = 10; }));
  EXPECT_TRUE(refused([](auto& s) { s.noise_multiplier = 0; }));
  EXPECT_TRUE(refused([](auto& s) { s.expected_false_positives = 0; }));
  EXPECT_FALSE(CounterLayout::hashed(100, {.rows = 0, .counters = 5}).has_value());
  EXPECT_FALSE(CounterLayout::hashed(100, {.rows = 17, .counters = 5}).has_value());
  EXPECT_FALSE(CounterLayout::hashed(100, {.rows = 1, .counters = 0}).has_value());
  const auto form = *PrivateUnion::create(layout, settings_for(10));
  SeededRandom random(5, Purpose::test);
  EXPECT_FALSE(form.encode(Items{100}, privacy::DeviceRandom::simulated(random)).has_value());
  EXPECT_FALSE(form.decode(std::vector<std::uint32_t>(99)).has_value());
}

}  // namespace
}  // namespace sotto::secagg
