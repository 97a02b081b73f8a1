// The ring of a secure sum: wide enough for every sum of devices, for the noise with the stated probability,
// and no wider.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "privacy/noise_statistics.h"
#include "secagg/vectors/modular_sum.h"
#include "secagg/vectors/modulus.h"

namespace sotto::secagg {
namespace {

RC_GTEST_PROP(Modulus, CentresEveryNumberOfItsRange, ()) {
  const auto bits = *rc::gen::oneOf(rc::gen::inRange(8U, 33U), rc::gen::just(64U));
  const Modulus modulus = *Modulus::of_bits(bits);
  const auto value = *rc::gen::inRange<std::int64_t>(modulus.smallest(), modulus.largest());
  RC_ASSERT(modulus.centre(modulus.wrap(value)) == value);
  RC_ASSERT(modulus.wrap(value) <= modulus.mask());
}

TEST(Modulus, CentresTheEdges) {
  for (const unsigned bits : {8U, 13U, 32U, 64U}) {
    const Modulus modulus = *Modulus::of_bits(bits);
    for (const std::int64_t edge :
         {modulus.smallest(), std::int64_t{-1}, std::int64_t{0}, modulus.largest()}) {
      EXPECT_EQ(modulus.centre(modulus.wrap(edge)), edge) << bits;
    }
    EXPECT_EQ(modulus.centre(modulus.wrap(modulus.largest()) + 1), modulus.smallest()) << bits;
  }
}

TEST(Modulus, RefusesWidthsTheWireDoesNotCarry) {
  for (const unsigned bits : {0U, 7U, 33U, 63U, 65U})
    EXPECT_FALSE(Modulus::of_bits(bits).has_value()) << bits;
}

RC_GTEST_PROP(ChooseModulus, HoldsTheExtremeSumsAndNoFewerBitsDo, ()) {
  const auto devices = *rc::gen::inRange<std::uint64_t>(1, 100000);
  const auto bound = *rc::gen::inRange<std::uint64_t>(1, 20000);
  const auto modulus = choose_modulus({.devices = devices, .entry_bound = bound, .dimension = 10});
  RC_ASSERT(modulus.has_value());
  const auto extreme = static_cast<std::int64_t>(devices * bound);
  std::uint64_t up = 0, down = 0;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(devices, 50); ++i) {  // the last one brings the rest
    const auto part =
        static_cast<std::int64_t>(i + 1 == std::min<std::uint64_t>(devices, 50) ? devices - i : 1);
    up += modulus->wrap(part * static_cast<std::int64_t>(bound));
    down += modulus->wrap(-part * static_cast<std::int64_t>(bound));
  }
  RC_ASSERT(modulus->centre(up) == extreme);
  RC_ASSERT(modulus->centre(down) == -extreme);
  RC_ASSERT(modulus->bits() == 8 || extreme > modulus->largest() / 2);
}

TEST(ChooseModulus, RefusesWhatNoWidthHolds) {
  EXPECT_TRUE(choose_modulus({.devices = 1, .entry_bound = (std::uint64_t{1} << 31) - 1}).has_value());
  const auto refused = choose_modulus({.devices = 1, .entry_bound = std::uint64_t{1} << 31});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("smaller groups"), std::string::npos);
  EXPECT_FALSE(choose_modulus({.devices = UINT64_MAX, .entry_bound = UINT64_MAX}).has_value());
  EXPECT_FALSE(choose_modulus({.devices = 0, .entry_bound = 1}).has_value());
  EXPECT_FALSE(choose_modulus({.devices = 1, .entry_bound = 0}).has_value());
  EXPECT_FALSE(
      choose_modulus({.devices = 1, .entry_bound = 1, .noise = NoiseSum{privacy::ShareKind::skellam, NAN}})
          .has_value());
  EXPECT_FALSE(choose_modulus({.devices = 1,
                               .entry_bound = 1,
                               .noise = NoiseSum{privacy::ShareKind::skellam, 1},
                               .log2_wrap_probability = 0})
                   .has_value());
}

// Exact tails from the definition of the law.
TEST(NoiseTail, BoundsTheTrueTailAndIsNotFarFromIt) {
  for (const double variance : {0.3, 1.0, 20.0, 400.0}) {
    const auto skellam = privacy::statistics::skellam(variance);
    const auto gaussian = privacy::statistics::discrete_gaussian(std::sqrt(variance));
    for (int height = 1; height < 8 * std::sqrt(variance); ++height) {
      const double x = height;
      const double skellam_tail = skellam(1 - x);  // P(X <= −h), which does not cancel
      const double gaussian_tail = gaussian(1 - x);
      if (skellam_tail < 1e-280 || gaussian_tail < 1e-280) break;
      const double s = log_tail_bound({privacy::ShareKind::skellam, variance}, x);
      const double g = log_tail_bound({privacy::ShareKind::discrete_gaussian, variance}, x);
      EXPECT_GE(s, std::log(skellam_tail) - 1e-9) << variance << " at " << height;
      EXPECT_GE(g, std::log(gaussian_tail) - 1e-9) << variance << " at " << height;
      EXPECT_LE(s, std::log(skellam_tail) + 6) << variance << " at " << height;
    }
  }
}

TEST(NoiseTail, FindsTheSmallestHeight) {
  for (const double variance : {0.01, 1.0, 1e6, 1e12}) {
    for (const double log_probability : {-1e-3, -1.0, -30.0, -400.0}) {
      for (const auto kind : {privacy::ShareKind::skellam, privacy::ShareKind::discrete_gaussian}) {
        const NoiseSum noise{kind, variance};
        const std::int64_t height = height_with_tail(noise, log_probability);
        ASSERT_GT(height, 0);
        EXPECT_LE(log_tail_bound(noise, static_cast<double>(height)), log_probability);
        EXPECT_GT(log_tail_bound(noise, static_cast<double>(height - 1)), log_probability);
      }
    }
  }
}

TEST(ChooseModulus, LeavesRoomForTheNoise) {
  const ModulusSettings quiet{.devices = 100, .entry_bound = 1, .dimension = 1000};
  ModulusSettings noisy = quiet;
  noisy.noise = NoiseSum{privacy::ShareKind::skellam, 1e4};
  EXPECT_EQ(choose_modulus(quiet)->bits(), 8U);
  // 100 + about 7.5 standard deviations of 100 need more than 2^9.
  EXPECT_EQ(choose_modulus(noisy)->bits(), 11U);
}

template <class Word>
void adds_like_the_reference() {
  SeededRandom random(3, Purpose::test);
  const Modulus modulus = *Modulus::of_bits(sizeof(Word) == 1        ? 8
                                            : 8 * sizeof(Word) == 64 ? 64
                                                                     : 8 * sizeof(Word) - 3);
  std::vector<Word> sum(1003), entries(1003);
  std::vector<__uint128_t> exact(1003);
  for (int device = 0; device < 40; ++device) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i] = static_cast<Word>(random() & modulus.mask());
      exact[i] += entries[i];
    }
    ASSERT_TRUE(add_entries(std::span(sum), std::span<const Word>(entries)).has_value());
  }
  reduce_entries(std::span(sum), modulus);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    ASSERT_EQ(sum[i], static_cast<Word>(exact[i] & modulus.mask()));
  }
  EXPECT_FALSE(add_entries(std::span(sum), std::span<const Word>(entries).first(5)).has_value());
}

TEST(ModularSum, EqualsExactArithmeticForEveryEntryType) {
  adds_like_the_reference<std::uint8_t>();
  adds_like_the_reference<std::uint16_t>();
  adds_like_the_reference<std::uint32_t>();
  adds_like_the_reference<std::uint64_t>();
}

TEST(ModularSum, DoesNotDependOnThreadsOrOrder) {
  SeededRandom random(4, Purpose::test);
  const Modulus modulus = *Modulus::of_bits(20);
  std::vector<std::vector<std::uint32_t>> devices(13, std::vector<std::uint32_t>(50001));
  for (auto& device : devices) {
    for (auto& entry : device) entry = static_cast<std::uint32_t>(random() & modulus.mask());
  }
  const int before = thread_count();
  set_thread_count(1);
  const auto one = *modular_sum(devices, modulus);
  set_thread_count(4);
  const auto four = *modular_sum(devices, modulus);
  std::reverse(devices.begin(), devices.end());
  const auto reversed = *modular_sum(devices, modulus);
  set_thread_count(before);
  EXPECT_EQ(one, four);
  EXPECT_EQ(one, reversed);
  std::uint64_t last = 0;
  for (const auto& device : devices) last += device.back();
  EXPECT_EQ(one.back(), last & modulus.mask());
}

TEST(ModularSum, RefusesNothingUnequalLengthsAndNarrowEntries) {
  const Modulus modulus = *Modulus::of_bits(20), wide = *Modulus::of_bits(64);
  const std::vector<std::vector<std::uint32_t>> none, unequal{{1, 2}, {1}}, fine{{1}};
  EXPECT_FALSE(modular_sum(none, modulus).has_value());
  EXPECT_FALSE(modular_sum(unequal, modulus).has_value());
  EXPECT_FALSE(modular_sum(fine, wide).has_value());
}

}  // namespace
}  // namespace sotto::secagg
