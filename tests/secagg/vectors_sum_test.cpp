// From updates to the decoded mean: right within rounding, noisy as promised when devices vanish, never
// wrapped.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/distributions.h"
#include "privacy/accounting/account.h"
#include "secagg/vectors/bit_packing.h"
#include "secagg/vectors/modular_sum.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::secagg {
namespace {

using Settings = EncodingPlan::Settings;
using Entries = std::vector<std::uint32_t>;

Settings plain(std::uint64_t dimension, std::uint64_t devices) {
  return {.dimension = dimension, .clip = 1, .step = 1.0 / 1024, .denominator = 1, .devices = devices};
}

std::vector<double> random_update(std::size_t dimension, double norm, RandomSource& random) {
  std::vector<double> update(dimension);
  double squares = 0;
  for (double& value : update) {
    value = normal(random);
    squares += value * value;
  }
  for (double& value : update) value *= norm / std::sqrt(squares);
  return update;
}

// As the server sees it: packed, unpacked, summed, decoded.
std::vector<double> decoded_sum(const EncodingPlan& plan, const std::vector<Entries>& devices) {
  std::vector<Entries> arrived;
  for (const Entries& entries : devices) {
    std::vector<std::uint8_t> wire(packed_bytes(entries.size(), plan.modulus().bits()));
    EXPECT_TRUE(pack(entries, plan.modulus().bits(), wire).has_value());
    arrived.emplace_back(entries.size());
    EXPECT_TRUE(unpack(wire, plan.modulus().bits(), arrived.back()).has_value());
  }
  SumDecoder decoder(plan);
  EXPECT_TRUE(decoder.add_group(*modular_sum(arrived, plan.modulus())).has_value());
  return decoder.decode()->update;
}

RC_GTEST_PROP(PrivateSum, DecodesTheTrueSumWithinRounding, ()) {
  const auto devices = *rc::gen::inRange<std::uint64_t>(1, 40);
  const auto dimension = *rc::gen::inRange<std::uint64_t>(1, 200);
  Settings settings = plain(dimension, devices);
  settings.step = std::exp2(-*rc::gen::inRange(0, 20));
  settings.denominator = *rc::gen::element(1.0, 7.0);
  if (*rc::gen::arbitrary<bool>()) settings.rotation_seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto plan = EncodingPlan::create(settings);
  RC_ASSERT(plan.has_value());
  const UpdateEncoder encoder(*plan);
  SeededRandom random(*rc::gen::arbitrary<std::uint32_t>(), Purpose::test);
  std::vector<double> truth(dimension);
  std::vector<Entries> sent;
  for (std::uint64_t i = 0; i < devices; ++i) {
    const auto update = random_update(dimension, uniform01(random), random);
    for (std::size_t j = 0; j < dimension; ++j) truth[j] += update[j] / settings.denominator;
    const auto entries = encoder.encode(update, privacy::DeviceRandom::simulated(random));
    RC_ASSERT(entries.has_value());
    for (const std::uint32_t entry : *entries) RC_ASSERT(entry <= plan->modulus().mask());
    sent.push_back(*entries);
  }
  const auto sum = decoded_sum(*plan, sent);
  // Each device moves each grid coordinate by less than a step; the rotation keeps the norm of all moves.
  double squares = 0;
  for (std::size_t j = 0; j < dimension; ++j) squares += std::pow(sum[j] - truth[j], 2);
  const double allowed =
      static_cast<double>(devices) * settings.step * std::sqrt(static_cast<double>(dimension));
  RC_ASSERT(std::sqrt(squares) <= allowed / settings.denominator * (1 + 1e-9) + 1e-12);
}

TEST(PrivateSum, ClipsUpdatesThatAreTooLong) {
  const auto plan = *EncodingPlan::create(plain(4, 1));
  SeededRandom random(1, Purpose::test);
  const std::vector<double> update{30, 0, -40, 0};
  const auto sum =
      decoded_sum(plan, {*UpdateEncoder(plan).encode(update, privacy::DeviceRandom::simulated(random))});
  EXPECT_NEAR(sum[0], 0.6, 1.0 / 1024);
  EXPECT_NEAR(sum[2], -0.8, 1.0 / 1024);
}

TEST(PrivateSum, FloatsAndDoublesEncodeAlike) {
  const auto plan = *EncodingPlan::create(plain(100, 1));
  SeededRandom random(2, Purpose::test);
  std::vector<float> narrow(100);
  for (float& value : narrow) value = static_cast<float>(normal(random));
  const std::vector<double> wide(narrow.begin(), narrow.end());
  SeededRandom first(3, Purpose::test), second(3, Purpose::test);
  EXPECT_EQ(*UpdateEncoder(plan).encode(narrow, privacy::DeviceRandom::simulated(first)),
            *UpdateEncoder(plan).encode(wide, privacy::DeviceRandom::simulated(second)));
}

TEST(PrivateSum, DoesNotWrapWhenEveryDeviceSendsTheExtreme) {
  for (const std::uint64_t devices : {1ULL, 2ULL, 31ULL, 32ULL, 33ULL}) {
    for (const double sign : {1.0, -1.0}) {
      for (const double step : {1.0, 1.0 / 127, 1.0 / 128, 1.0 / 1024}) {
        Settings settings = plain(3, devices);
        settings.step = step;
        const auto plan = *EncodingPlan::create(settings);
        SeededRandom random(4, Purpose::test);
        std::vector<Entries> sent;
        for (std::uint64_t i = 0; i < devices; ++i) {
          sent.push_back(*UpdateEncoder(plan).encode(std::vector<double>{0, 1e9 * sign, 0},
                                                     privacy::DeviceRandom::simulated(random)));
        }
        EXPECT_NEAR(decoded_sum(plan, sent)[1], sign * static_cast<double>(devices),
                    step * static_cast<double>(devices));
      }
    }
  }
}

TEST(PrivateSum, RotationWithLimitedEntriesSavesBitsAndKeepsTheSum) {
  constexpr std::size_t dimensions = 3000;
  Settings settings = plain(dimensions, 20);
  const unsigned without = EncodingPlan::create(settings)->modulus().bits();
  settings.rotation_seed = 11;
  settings.entry_clip = RandomRotation::create(dimensions, 11)->entry_quantile(1e-9);
  const auto plan = *EncodingPlan::create(settings);
  EXPECT_LE(plan.modulus().bits() + 2, without);
  SeededRandom random(5, Purpose::test);
  std::vector<double> spike(dimensions);  // the hardest vector for few bits
  spike[17] = 0.999;
  std::vector<Entries> sent;
  sent.reserve(20);
  for (int i = 0; i < 20; ++i)
    sent.push_back(*UpdateEncoder(plan).encode(spike, privacy::DeviceRandom::simulated(random)));
  const auto sum = decoded_sum(plan, sent);
  EXPECT_NEAR(sum[17], 20 * 0.999, 0.05);
  EXPECT_NEAR(sum[18], 0, 0.05);
}

// The sum of squares of d coordinates of integer noise, over its expectation. With kurtosis below 3.2 its
// standard error is at most √(2.2/d); 4.9 of them have a one-sided probability below 1e-6.
constexpr std::size_t many = 60000;
const double tolerance = 4.9 * std::sqrt(2.2 / many);

double variance_over_promise(const EncodingPlan& plan, std::uint64_t present, double share_scale = 1) {
  SeededRandom random(6, Purpose::test);
  const UpdateEncoder encoder(plan);
  std::vector<std::int64_t> total(many);
  for (std::uint64_t device = 0; device < present; ++device) {
    const auto entries = *encoder.encode(std::vector<double>(many), privacy::DeviceRandom::simulated(random));
    for (std::size_t i = 0; i < many; ++i) {
      total[i] += static_cast<std::int64_t>(
          std::llround(share_scale * static_cast<double>(plan.modulus().centre(entries[i]))));
    }
  }
  Entries sum(many);
  for (std::size_t i = 0; i < many; ++i) sum[i] = static_cast<std::uint32_t>(plan.modulus().wrap(total[i]));
  SumDecoder decoder(plan);
  EXPECT_TRUE(decoder.add_group(sum).has_value());
  double squares = 0;
  const DecodedMean mean = *decoder.decode();
  for (const double value : mean.update) squares += value * value;
  return squares / many / std::pow(plan.sigma_of_mean(), 2);
}

EncodingPlan noisy_plan(privacy::ShareKind kind, bool rotated) {
  Settings settings = plain(many, 12);
  settings.step = 1.0 / 64;
  settings.denominator = 12;
  settings.dropped = 4;
  settings.noise = kind;
  settings.noise_multiplier = 0.8;
  if (rotated) settings.rotation_seed = 3;
  return *EncodingPlan::create(settings);
}

TEST(PrivateSum, CarriesThePromisedNoiseWhenTheToleratedNumberDrops) {
  for (const auto kind : {privacy::ShareKind::skellam, privacy::ShareKind::discrete_gaussian}) {
    for (const bool rotated : {false, true}) {
      const auto plan = noisy_plan(kind, rotated);
      EXPECT_GT(variance_over_promise(plan, 8), 1 - tolerance);
      EXPECT_LT(variance_over_promise(plan, 8),
                1 + tolerance + 0.01);  // and not much more: nobody pays twice
    }
  }
}

TEST(PrivateSum, TheNoiseTestSeesAMissingShareAndAHalvedOne) {
  const auto plan = noisy_plan(privacy::ShareKind::skellam, false);
  EXPECT_LT(variance_over_promise(plan, 7), 1 - tolerance);
  EXPECT_LT(variance_over_promise(plan, 8, std::sqrt(0.5)), 1 - tolerance);
}

TEST(PrivateSum, EveryEntryHasNoiseOfItsOwn) {
  const auto share = *privacy::NoiseShare::create({.central_sigma = 4, .l2_sensitivity = 1, .devices = 1});
  const Modulus modulus = *Modulus::of_bits(16);
  SeededRandom random(7, Purpose::test);
  const auto entries = noisy_entries(std::vector<std::int32_t>(many, 100), &share, modulus,
                                     privacy::DeviceRandom::simulated(random));
  std::vector<double> noise;
  noise.reserve(many);
  for (const std::uint32_t entry : entries) noise.push_back(static_cast<double>(modulus.centre(entry) - 100));
  // 60 blocks: 5.8 standard errors have a probability below 1e-8 in each.
  constexpr std::size_t block_size = 1000;
  for (std::size_t begin = 0; begin < many; begin += block_size) {
    double squares = 0;
    for (std::size_t i = begin; i < begin + block_size; ++i) squares += noise[i] * noise[i];
    EXPECT_NEAR(squares / block_size / 16, 1, 5.8 * std::sqrt(2.2 / block_size)) << "entries from " << begin;
  }
  for (const std::size_t lag : {1UL, 2UL, 512UL, 1024UL, 2048UL}) {
    double products = 0;
    for (std::size_t i = lag; i < many; ++i) products += noise[i] * noise[i - lag];
    EXPECT_NEAR(products / many / 16, 0, 5.5 / std::sqrt(many)) << "lag " << lag;
  }
  const auto again = noisy_entries(std::vector<std::int32_t>(many, 100), &share, modulus,
                                   privacy::DeviceRandom::simulated(random));
  EXPECT_NE(entries, again);
}

TEST(PrivateSum, NoiseIsCalibratedToTheInflatedNorm) {
  auto settings = plain(1000, 10);
  settings.noise_multiplier = 1.1;
  settings.step = 1.0 / 32;
  const auto plan = *EncodingPlan::create(settings);
  const double inflated = std::sqrt(std::floor(32 * 32 + 250 + 32 + std::sqrt(1000.0) / 2));
  EXPECT_NEAR(plan.sensitivity(), inflated, 1e-9);
  EXPECT_GT(plan.sensitivity(), 32);
  const auto event = plan.event();
  ASSERT_TRUE(event.has_value());
  const auto& noise = std::get<privacy::SkellamNoise>(event->mechanism);
  EXPECT_NEAR(noise.l2_sensitivity, inflated, 1e-9);
  EXPECT_GE(noise.variance, std::pow(1.1 * inflated, 2));
  settings.adjacency = privacy::Adjacency::replace_one;
  EXPECT_NEAR(EncodingPlan::create(settings)->sensitivity(), 2 * inflated, 1e-9);
}

TEST(PrivateSum, WithoutNegativeEntriesOneDeviceReplacedMovesTheSumByRootTwo) {
  auto settings = plain(3, 2);
  settings.adjacency = privacy::Adjacency::replace_one;
  const double either_sign = EncodingPlan::create(settings)->sensitivity();
  settings.nonnegative = true;
  const auto plan = *EncodingPlan::create(settings);
  EXPECT_NEAR(plan.sensitivity(), either_sign / std::sqrt(2.0), 1e-9 * either_sign);
  // The bound rests on the device cutting what is negative.
  SeededRandom random(12, Purpose::test);
  const std::vector<double> update{0.6, -0.8, 0};
  const auto sum =
      decoded_sum(plan, {*UpdateEncoder(plan).encode(update, privacy::DeviceRandom::simulated(random))});
  EXPECT_NEAR(sum[0], 0.6, 1.0 / 1024);
  EXPECT_EQ(sum[1], 0);
  settings.adjacency = privacy::Adjacency::add_remove;
  EXPECT_NEAR(EncodingPlan::create(settings)->sensitivity(), either_sign / 2, 1e-9 * either_sign);
}

TEST(PrivateSum, EpsilonDoesNotDependOnTheGridOnceItIsFine) {
  auto settings = plain(1000, 50);
  settings.noise_multiplier = 1;
  std::vector<double> epsilons;
  for (const double step : {1.0 / 256, 1.0 / 4096}) {
    settings.step = step;
    const auto event = *EncodingPlan::create(settings)->event();
    epsilons.push_back(
        privacy::account(std::span(&event, 1), 1e-6, privacy::Method::rdp, privacy::Adversary::server)
            ->epsilon);
  }
  EXPECT_NEAR(epsilons[0], epsilons[1], 0.01 * epsilons[1]);
}

TEST(PrivateSum, WithoutNoiseThereIsNoEvent) {
  EXPECT_FALSE(EncodingPlan::create(plain(10, 3))->event().has_value());
}

TEST(PrivateSum, ClipBitTellsTheFractionWithinTheBound) {
  for (const bool rotated : {false, true}) {
    Settings settings = plain(50, 10);
    settings.clip_bit_weight = 0.5;
    settings.denominator = 10;
    if (rotated) settings.rotation_seed = 5;
    const auto plan = *EncodingPlan::create(settings);
    EXPECT_EQ(plan.entries(), 51U);
    SeededRandom random(8, Purpose::test);
    std::vector<Entries> sent;
    for (int i = 0; i < 10; ++i) {
      const auto update = random_update(50, i < 7 ? 0.5 : 3.0, random);
      sent.push_back(*UpdateEncoder(plan).encode(update, privacy::DeviceRandom::simulated(random)));
    }
    SumDecoder decoder(plan);
    ASSERT_TRUE(decoder.add_group(*modular_sum(sent, plan.modulus())).has_value());
    const auto mean = *decoder.decode();
    EXPECT_EQ(mean.update.size(), 50U);
    EXPECT_NEAR(*mean.fraction_within, 0.7, 0.01);
  }
}

TEST(SumDecoder, AddsGroupsAsWholeNumbers) {
  // Each group's sum is near the edge of the ring; their total is far beyond it.
  Settings settings = plain(1, 1);
  settings.step = 1.0 / 127;
  const auto plan = *EncodingPlan::create(settings);
  ASSERT_EQ(plan.modulus().bits(), 8U);
  SeededRandom random(9, Purpose::test);
  SumDecoder decoder(plan);
  for (int group = 0; group < 100; ++group) {
    const auto entries =
        *UpdateEncoder(plan).encode(std::vector<double>{1}, privacy::DeviceRandom::simulated(random));
    ASSERT_TRUE(decoder.add_group(entries).has_value());
  }
  EXPECT_NEAR(decoder.decode()->update[0], 100, 1);
}

TEST(SumDecoder, DecodesOnceAndRefusesForeignSums) {
  const auto plan = *EncodingPlan::create(plain(3, 2));
  SumDecoder decoder(plan);
  EXPECT_FALSE(decoder.decode().has_value());
  EXPECT_FALSE(decoder.add_group(Entries(2)).has_value());
  EXPECT_FALSE(decoder.add_group(Entries(3, UINT32_MAX)).has_value());
  ASSERT_TRUE(decoder.add_group(Entries(3)).has_value());
  EXPECT_TRUE(decoder.decode().has_value());
  EXPECT_FALSE(decoder.decode().has_value());
  EXPECT_FALSE(decoder.add_group(Entries(3)).has_value());
}

TEST(UpdateEncoder, RefusesWrongLengthsAndValuesThatAreNoNumbers) {
  const UpdateEncoder encoder(*EncodingPlan::create(plain(3, 2)));
  SeededRandom random(10, Purpose::test);
  const auto device = privacy::DeviceRandom::simulated(random);
  EXPECT_FALSE(encoder.encode(std::vector<double>(2), device).has_value());
  EXPECT_FALSE(encoder.encode(std::vector<double>{1, NAN, 1}, device).has_value());
  EXPECT_FALSE(encoder.encode(std::vector<float>{1, HUGE_VALF, 1}, device).has_value());
}

TEST(EncodingPlan, RefusesSettingsThatCannotWork) {
  const auto refused = [](auto change) {
    Settings settings = plain(10, 5);
    settings.noise_multiplier = 1;
    change(settings);
    return !EncodingPlan::create(settings).has_value();
  };
  EXPECT_FALSE(refused([](Settings&) {}));
  EXPECT_TRUE(refused([](Settings& s) { s.dimension = 0; }));
  EXPECT_TRUE(refused([](Settings& s) { s.clip = 0; }));
  EXPECT_TRUE(refused([](Settings& s) { s.step = NAN; }));
  EXPECT_TRUE(refused([](Settings& s) { s.step = 1e-12; }));
  EXPECT_TRUE(refused([](Settings& s) { s.entry_clip = -1; }));
  EXPECT_TRUE(refused([](Settings& s) { s.denominator = 0; }));
  EXPECT_TRUE(refused([](Settings& s) { s.nonnegative = true, s.rotation_seed = 1; }));
  EXPECT_TRUE(refused([](Settings& s) { s.nonnegative = true, s.clip_bit_weight = 0.5; }));
  EXPECT_TRUE(refused([](Settings& s) { s.devices = 0; }));
  EXPECT_TRUE(refused([](Settings& s) { s.dropped = 5; }));
  EXPECT_TRUE(refused([](Settings& s) { s.noise_multiplier = -1; }));
  EXPECT_TRUE(refused([](Settings& s) { s.rounding_beta = 1; }));
  EXPECT_TRUE(refused([](Settings& s) { s.clip_bit_weight = 0; }));
  EXPECT_TRUE(refused([](Settings& s) {
    s.clip_bit_weight = 1;
    s.entry_clip = 0.1;
  }));
}

TEST(FinestStep, FillsTheBitsItIsGiven) {
  for (const auto kind : {privacy::ShareKind::skellam, privacy::ShareKind::discrete_gaussian}) {
    Settings settings = plain(10000, 50);
    settings.dropped = 10;
    settings.noise = kind;
    settings.noise_multiplier = 1;
    settings.rotation_seed = 1;
    settings.entry_clip = 0.1;
    for (const unsigned bits : {16U, 20U}) {
      const auto step = finest_step(settings, bits);
      ASSERT_TRUE(step.has_value());
      settings.step = *step;
      EXPECT_EQ(EncodingPlan::create(settings)->modulus().bits(), bits);
      settings.step = *step / 1.02;
      EXPECT_EQ(EncodingPlan::create(settings)->modulus().bits(), bits + 1);
    }
    EXPECT_FALSE(finest_step(settings, 8).has_value());
  }
}

}  // namespace
}  // namespace sotto::secagg
