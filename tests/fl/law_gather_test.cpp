// sums=law: without noise the integers of SimulatedGather, with noise its law; secret unless it is said to be
// reproducible; in bounded memory.

#include "fl/law_gather.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/thread_pool.h"
#include "fl/tensor_encoding.h"
#include "privacy/audit/mechanism_subjects.h"
#include "privacy/noise_statistics.h"

namespace sotto::fl {
namespace {

using privacy::NoiseOrigin;
using torch::Tensor;

// Device i always has the same update.
class KnownUpdates final : public UserUpdates {
 public:
  explicit KnownUpdates(std::vector<Tensor> updates) : all(std::move(updates)) {}
  Status each_update(std::uint32_t, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override {
    for (const data::UserId user : users) SOTTO_CHECK(take({user, all[user], 0.5, 2}));
    return {};
  }
  std::vector<Tensor> all;
};

// Ordinary ones, and the extremes: zero, far too long, hardly there at all, a single entry, one that is cut.
std::vector<Tensor> varied_updates(std::size_t count, std::int64_t dimension) {
  torch::manual_seed(4);
  std::vector<Tensor> updates;
  for (std::size_t i = 0; i < count; ++i) {
    Tensor update = torch::randn({dimension}) * 0.3 / std::sqrt(static_cast<double>(dimension));
    if (i % 7 == 1) update.zero_();
    if (i % 7 == 2) update *= 1e30;
    if (i % 7 == 3) update *= 1e-38;
    if (i % 7 == 4) update.zero_()[dimension / 2] = -3;
    if (i % 7 == 5) update *= 8;
    updates.push_back(update);
  }
  return updates;
}

SimulatedDevices devices_of(KnownUpdates& updates, const NoiseOrigin& noise, std::int64_t cohort,
                            std::uint64_t participations = every_round) {
  std::vector<data::UserId> users(updates.all.size());
  std::iota(users.begin(), users.end(), data::UserId{0});
  return {{CohortSampler::create(users, cohort, 1).value(), participations}, updates, noise};
}

using Settings = secagg::EncodingPlan::Settings;

Settings plan_settings(std::int64_t dimension, std::uint64_t devices, std::uint64_t dropped = 0) {
  Settings settings;
  settings.dimension = static_cast<std::uint64_t>(dimension);
  settings.clip = 1;
  settings.step = 1.0 / 4096;
  settings.denominator = static_cast<double>(devices);
  settings.devices = devices;
  settings.dropped = dropped;
  settings.adjacency = privacy::Adjacency::replace_one;
  return settings;
}

secagg::EncodingPlan plan_of(const Settings& settings) {
  return secagg::EncodingPlan::create(settings).value();
}

// Every way to encode: plain, with the clip bit, rotated, both, without negative entries, on a grid so coarse
// that roundings are thrown away and drawn again.
std::vector<secagg::EncodingPlan> plans(std::int64_t dimension, std::uint64_t devices,
                                        std::uint64_t dropped) {
  std::vector<Settings> all(6, plan_settings(dimension, devices, dropped));
  all[1].clip_bit_weight = 0.5;
  all[2].rotation_seed = 9;
  all[3].rotation_seed = 9, all[3].clip_bit_weight = 0.5;
  all[4].nonnegative = true;
  all[5].step = 0.7;
  std::vector<secagg::EncodingPlan> made;
  for (const Settings& settings : all) made.push_back(plan_of(settings));
  return made;
}

void expect_same(const Result<Gathered>& law, const Result<Gathered>& simulated) {
  ASSERT_EQ(law.has_value(), simulated.has_value());
  if (!law) return;
  ASSERT_EQ(law->groups.size(), simulated->groups.size());
  for (std::size_t g = 0; g < law->groups.size(); ++g) {
    EXPECT_EQ(law->groups[g].entries, simulated->groups[g].entries) << "group " << g;
    EXPECT_EQ(law->groups[g].arrived, simulated->groups[g].arrived);
  }
  EXPECT_EQ(law->bytes_up, simulated->bytes_up);
  EXPECT_EQ(law->samples, simulated->samples);
  EXPECT_NEAR(law->loss, simulated->loss, 1e-9);
}

TEST(LawGather, WithoutNoiseItsIntegersAreTheSimulatedOnes) {
  const NoiseOrigin noise = NoiseOrigin::reproducible(7);
  // Few numbers, several pieces of numbers, and a length that is no multiple of anything.
  for (const std::int64_t dimension : {1, 37, 2500}) {
    KnownUpdates updates(varied_updates(24, dimension));
    for (const double bound : {1.0, 2.0, 0.37}) {
      for (const auto& plan : plans(dimension, 8, 0)) {
        LawGather law(devices_of(updates, noise, 24));
        SimulatedGather simulated(devices_of(updates, noise, 24));
        expect_same(law.sum({3, plan, bound}), simulated.sum({3, plan, bound}));
      }
    }
  }
}

TEST(LawGather, WhoStaysAwayIsLeftOutAlike) {
  const NoiseOrigin noise = NoiseOrigin::reproducible(7);
  KnownUpdates updates(varied_updates(24, 37));
  for (const auto& plan : plans(37, 10, 8)) {
    // 20 of 24 are drawn for every round and may come three times.
    LawGather law(devices_of(updates, noise, 20, 3));
    SimulatedGather simulated(devices_of(updates, noise, 20, 3));
    bool somebody_stayed_away = false;
    for (std::uint32_t round = 0; round < 5; ++round) {
      const auto expected = simulated.sum({round, plan, 2});
      expect_same(law.sum({round, plan, 2}), expected);
      somebody_stayed_away |= expected && expected->arrived() < 20;
    }
    EXPECT_TRUE(somebody_stayed_away);
  }
}

TEST(LawGather, RefusesWhatNoDeviceCouldEncodeAndPlansNobodyAgreedTo) {
  for (const Tensor& wrong : {torch::ones({5}), torch::full({6}, NAN), torch::full({6}, INFINITY)}) {
    KnownUpdates updates(varied_updates(4, 6));
    updates.all[2] = wrong;
    LawGather gather(devices_of(updates, NoiseOrigin::secret(), 4));
    EXPECT_FALSE(gather.sum({0, plan_of(plan_settings(6, 4)), 1}));
  }
  KnownUpdates updates(varied_updates(10, 6));
  Settings strong = plan_settings(6, 10), weak = strong;
  strong.noise_multiplier = 1, weak.noise_multiplier = 0.5;
  SimulatedDevices devices = devices_of(updates, NoiseOrigin::secret(), 10);
  devices.agreed = {secagg::PlanAgreement::to(plan_of(strong))};
  LawGather gather(std::move(devices));
  EXPECT_TRUE(gather.sum({0, plan_of(strong), 1}));
  EXPECT_FALSE(gather.sum({1, plan_of(weak), 1}));
}

// What is in a sum to which devices without an update add their noise.
struct PureNoise {
  std::vector<std::int64_t> values;
  std::uint64_t arrived = 0;
};
template <class Gather>
PureNoise noise_of(const secagg::EncodingPlan& plan, const NoiseOrigin& origin, bool some_stay_away) {
  const auto devices = plan.settings().devices;
  const auto dimension = static_cast<std::int64_t>(plan.settings().dimension);
  KnownUpdates updates(std::vector<Tensor>(devices + 4, torch::zeros({dimension})));
  Gather gather(
      devices_of(updates, origin, static_cast<std::int64_t>(devices), some_stay_away ? 1 : every_round));
  if (some_stay_away) {
    EXPECT_TRUE(gather.sum({0, plan, 1}));  // in the next round only the others come
  }
  const Gathered gathered = gather.sum({1, plan, 1}).value();
  PureNoise noise{{}, gathered.arrived()};
  for (const std::uint32_t entry : gathered.groups.front().entries)
    noise.values.push_back(plan.modulus().centre(entry));
  return noise;
}

secagg::EncodingPlan noisy_plan(privacy::ShareKind kind, double noise_multiplier) {
  // A coarse grid, on which the laws are narrow enough to be told apart.
  Settings settings = plan_settings(50'000, 12, 10);
  settings.step = 0.5, settings.entry_clip = 1, settings.rounding_beta = 0.999;
  settings.noise = kind;
  settings.noise_multiplier = noise_multiplier;
  return plan_of(settings);
}

template <class Gather>
void expect_the_law(bool some_stay_away) {
  using namespace privacy::statistics;
  const auto origin = NoiseOrigin::reproducible(11);
  const auto plan = noisy_plan(privacy::ShareKind::skellam, 0.002);
  const PureNoise noise = noise_of<Gather>(plan, origin, some_stay_away);
  EXPECT_EQ(noise.arrived < 12, some_stay_away);
  ASSERT_GT(noise.arrived, 0U);
  const double variance = static_cast<double>(noise.arrived) * plan.noise_share()->share_variance(),
               sigma = std::sqrt(variance);
  ASSERT_LT(sigma, 1.5) << "too wide to see the law";
  EXPECT_TRUE(fits(noise.values, skellam(variance), sigma));
  EXPECT_FALSE(fits(noise.values, skellam(variance / 2), sigma));
  EXPECT_FALSE(fits(noise.values, skellam(variance * 11 / 12), sigma)) << "one share less";
  EXPECT_FALSE(fits(std::vector<std::int64_t>(noise.values.size(), 0), skellam(variance), sigma));
  EXPECT_FALSE(fits(noise.values, discrete_gaussian(sigma), sigma)) << "as wide, another law";
}

TEST(LawGather, WithNoiseTheSumHasTheLawOfThoseWhoArrived) {
  for (const bool some_stay_away : {false, true}) expect_the_law<LawGather>(some_stay_away);
}

TEST(SimulatedGather, WithNoiseTheSumHasTheLawOfThoseWhoArrived) {
  for (const bool some_stay_away : {false, true}) expect_the_law<SimulatedGather>(some_stay_away);
}

TEST(LawGather, DiscreteGaussianSharesHaveTheLawOfOneDeviceAfterAnother) {
  using namespace privacy::statistics;
  const auto plan = noisy_plan(privacy::ShareKind::discrete_gaussian, 0.01);
  for (const bool some_stay_away : {false, true}) {
    const auto law = noise_of<LawGather>(plan, NoiseOrigin::reproducible(1), some_stay_away);
    const auto simulated = noise_of<SimulatedGather>(plan, NoiseOrigin::reproducible(2), some_stay_away);
    EXPECT_EQ(law.arrived, simulated.arrived);
    EXPECT_TRUE(same_law(law.values, simulated.values));
  }
}

TEST(LawGather, EveryEntryAndGroupAndRoundHasNoiseOfItsOwn) {
  Settings settings = plan_settings(40'000, 4);
  settings.noise_multiplier = 1;
  const auto plan = plan_of(settings);
  KnownUpdates updates(std::vector<Tensor>(8, torch::zeros({40'000})));
  for (const NoiseOrigin& origin : {NoiseOrigin::reproducible(5), NoiseOrigin::secret()}) {
    LawGather gather(devices_of(updates, origin, 8));
    const Gathered first = gather.sum({0, plan, 1}).value(), second = gather.sum({1, plan, 1}).value();
    const std::vector<std::uint32_t>* sums[] = {&first.groups[0].entries, &first.groups[1].entries,
                                                &second.groups[0].entries, &second.groups[1].entries};
    const auto centred = [&](std::uint32_t entry) {
      return static_cast<double>(plan.modulus().centre(entry));
    };
    const double variance = 4 * plan.noise_share()->share_variance();
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = a + 1; b < 4; ++b) {
        double products = 0;
        for (std::size_t i = 0; i < 40'000; ++i) products += centred((*sums[a])[i]) * centred((*sums[b])[i]);
        EXPECT_NEAR(products / 40'000 / variance, 0, 5.5 / std::sqrt(40'000.0));
      }
      // Within a sum, from one stream of noise to the next too.
      for (const std::size_t lag : {1U, 1024U, 16384U, 32768U}) {
        double products = 0;
        for (std::size_t i = lag; i < 40'000; ++i)
          products += centred((*sums[a])[i]) * centred((*sums[a])[i - lag]);
        EXPECT_NEAR(products / 40'000 / variance, 0, 5.5 / std::sqrt(40'000.0)) << "lag " << lag;
      }
    }
  }
}

TEST(LawGather, ReproducibleSumsDoNotDependOnThreadsAndSecretOnesAreNeverAlike) {
  KnownUpdates updates(varied_updates(30, 20'000));
  for (const double noise_multiplier : {1.0, 0.0}) {
    Settings settings = plan_settings(20'000, 15);
    settings.noise_multiplier = noise_multiplier;
    const auto sums = [&](const NoiseOrigin& origin) {
      LawGather gather(devices_of(updates, origin, 30));
      const Gathered gathered = gather.sum({2, plan_of(settings), 1}).value();
      return std::pair(gathered.groups[0].entries, gathered.groups[1].entries);
    };
    const int threads = thread_count();
    const auto first = sums(NoiseOrigin::reproducible(5));
    set_thread_count(5);
    EXPECT_EQ(first, sums(NoiseOrigin::reproducible(5)));
    set_thread_count(threads);
    EXPECT_NE(first, sums(NoiseOrigin::reproducible(6)));
    EXPECT_NE(sums(NoiseOrigin::secret()), sums(NoiseOrigin::secret()));
  }
}

// What is published of rounds by their law, under audit: one of ten updates is at one end of the ball or the
// other.
class AuditedRounds {
 public:
  AuditedRounds(const Settings& settings, float own) : plan_(plan_of(settings)) {
    updates_.all[0] = torch::tensor({own, 0.0F});
  }
  Result<std::vector<double>> mean_of(std::uint32_t round) {
    SOTTO_TRY(const Gathered gathered, gather_.sum({round, plan_, 1}));
    secagg::SumDecoder server(plan_);
    for (const GroupSum& group : gathered.groups) SOTTO_CHECK(server.add_group(group.entries));
    SOTTO_TRY(secagg::DecodedMean mean, server.decode());
    return std::move(mean.update);
  }

 private:
  secagg::EncodingPlan plan_;
  KnownUpdates updates_{std::vector<Tensor>(10, torch::zeros({2}))};
  LawGather gather_{devices_of(updates_, NoiseOrigin::reproducible(5), 10)};
};

privacy::AuditedMechanism audited_rounds(double noise_multiplier, const privacy::AuditClaim& claim) {
  Settings settings = plan_settings(2, 10);
  settings.noise_multiplier = noise_multiplier;
  privacy::AuditedMechanism subject{.claim = claim, .noiseless = {{{0.1, 0}, {-0.1, 0}}}};
  const std::array rounds = {std::make_shared<AuditedRounds>(settings, 30.0F),
                             std::make_shared<AuditedRounds>(settings, -1.0F)};
  subject.release = [rounds](privacy::Neighbour neighbour, privacy::DeviceRandom random) {
    return rounds[static_cast<std::size_t>(neighbour)]->mean_of(
        static_cast<std::uint32_t>(random.source()()));
  };
  subject.statistics.push_back(privacy::projection(subject.noiseless[0], subject.noiseless[1]));
  return subject;
}

TEST(LawGather, PassesTheAuditAndFailsItWithHalfOfTheNoise) {
  Settings settings = plan_settings(2, 10);
  settings.noise_multiplier = 1;
  const auto claim = privacy::claim_of(*plan_of(settings).event(), privacy::subject::audited_delta).value();
  const auto audit = [&](double noise_multiplier) {
    return privacy::audit_mechanism(audited_rounds(noise_multiplier, claim), {.samples = 20'000, .seed = 7})
        .value();
  };
  const auto finding = audit(1);
  EXPECT_FALSE(finding.refuted());
  EXPECT_GT(finding.share(), 0.8) << "it sees most of what is claimed";
  EXPECT_TRUE(audit(0.5).refuted());
}

TEST(SumSettings, LargeCohortsAreSummedByTheirLawUnlessSomethingElseIsAsked) {
  SumSettings settings;
  EXPECT_EQ(settings.chosen(999), "simulated");
  EXPECT_EQ(settings.chosen(1000), "law");
  for (const char* asked : {"simulated", "masked", "law"}) {
    settings.sums = asked;
    EXPECT_EQ(settings.chosen(10), asked);
    EXPECT_EQ(settings.chosen(100'000), asked);
  }
  KnownUpdates updates(std::vector<Tensor>(1000, torch::zeros({2})));
  const auto made = [&](std::int64_t cohort) {
    return SumSettings{}.gather(devices_of(updates, NoiseOrigin::secret(), cohort)).value();
  };
  EXPECT_NE(dynamic_cast<LawGather*>(made(1000).get()), nullptr);
  EXPECT_NE(dynamic_cast<SimulatedGather*>(made(999).get()), nullptr);
}

TEST(UserUpdates, BlocksHoldNoMoreThanTheirMemoryAndEveryUserOnce) {
  constexpr std::int64_t dimension = 2'000'000;
  const auto fit = static_cast<std::size_t>(UserUpdates::block_bytes / (sizeof(float) * dimension));
  KnownUpdates updates(std::vector<Tensor>(2 * fit + 1, torch::zeros({dimension})));
  for (std::size_t i = 0; i < updates.all.size(); ++i)
    updates.all[i] = torch::full({1}, static_cast<double>(i), torch::kFloat32).expand({dimension});
  std::vector<data::UserId> users(updates.all.size()), seen;
  std::iota(users.begin(), users.end(), data::UserId{0});
  ASSERT_TRUE(updates.each_block(0, users, [&](const UpdateBlock& block) -> Status {
    EXPECT_LE(block.directions.nbytes(), UserUpdates::block_bytes);
    EXPECT_EQ(block.directions.size(0), static_cast<std::int64_t>(block.users.size()));
    for (std::size_t i = 0; i < block.users.size(); ++i) {
      EXPECT_EQ(block.directions[static_cast<std::int64_t>(i)][7].item<float>(),
                static_cast<float>(block.users[i]));
      EXPECT_EQ(block.losses[i], 0.5);
      EXPECT_EQ(block.samples[i], 2U);
      seen.push_back(block.users[i]);
    }
    return {};
  }));
  EXPECT_EQ(seen, users);
}

// ---- what a card does: by the same operations on the CPU, and on a card where there is one

class OnTensors : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (device().is_cuda() && !torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  }
  static torch::Device device() { return torch::Device(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(TensorEncoder, OnTensors, ::testing::Values("cpu", "cuda"),
                         [](const auto& one) { return std::string(one.param); });

Tensor whole_numbers(const TensorEncoder& encoder, const secagg::EncodingPlan& plan, const Tensor& update,
                     double bound, std::uint64_t key, torch::Device device) {
  Tensor sum = torch::zeros({static_cast<std::int64_t>(plan.entries())},
                            torch::TensorOptions(torch::kInt64).device(device));
  EXPECT_TRUE(encoder.add(update.view({1, -1}).to(device), bound, key, sum));
  return sum.to(torch::kCPU);
}

TEST_P(OnTensors, IsTheDevicesEncodingUpToTheDrawsOfRounding) {
  for (const std::int64_t dimension : {1, 37, 2500}) {
    for (const auto& plan : plans(dimension, 8, 0)) {
      const TensorEncoder encoder(plan, device());
      const secagg::UpdateEncoder one_by_one(plan);
      std::uint64_t key = 0;
      for (const Tensor& update : varied_updates(7, dimension)) {
        const Tensor own = whole_numbers(encoder, plan, update, 2, ++key, device());
        const Tensor scaled = update / 2;
        std::vector<std::int32_t> expected(plan.entries());
        SeededRandom draws(key, Purpose::test);
        ASSERT_TRUE(one_by_one.round({scaled.data_ptr<float>(), static_cast<std::size_t>(dimension)}, draws,
                                     expected));
        std::int64_t squares = 0, furthest = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const auto value = own[static_cast<std::int64_t>(i)].item<std::int64_t>();
          squares += value * value;
          furthest = std::max(furthest, std::abs(value - expected[i]));
        }
        EXPECT_LE(furthest, 1) << "rounded up here and down there";
        EXPECT_LE(static_cast<std::uint64_t>(squares), plan.rounding().squared_bound());
      }
    }
  }
}

TEST_P(OnTensors, WhereNothingIsLeftToChanceItIsTheDevicesEncodingExactly) {
  // Multiples of the grid's step; the clip bit is one too.
  Settings settings = plan_settings(64, 8);
  settings.clip_bit_weight = 0.5;
  const auto plan = plan_of(settings);
  const Tensor updates = torch::arange(-4 * 64, 4 * 64).view({8, 64}).to(torch::kFloat32) / 8192;
  Tensor sum = torch::zeros({65}, torch::TensorOptions(torch::kInt64).device(device()));
  ASSERT_TRUE(TensorEncoder(plan, device()).add(updates.to(device()), 0.5, 1, sum));
  std::vector<std::int64_t> expected(65, 0);
  SeededRandom draws(1, Purpose::test);
  for (std::int64_t row = 0; row < 8; ++row) {
    const Tensor own = updates[row] / 0.5;
    std::vector<std::int32_t> whole(65);
    ASSERT_TRUE(secagg::UpdateEncoder(plan).round({own.data_ptr<float>(), 64}, draws, whole));
    for (std::size_t i = 0; i < 65; ++i) expected[i] += whole[i];
  }
  EXPECT_TRUE(torch::equal(sum.to(torch::kCPU), torch::tensor(expected)));
}

TEST_P(OnTensors, RoundsAtRandomWithoutBias) {
  const auto plan = plan_of(plan_settings(4, 8));
  const TensorEncoder encoder(plan, device());
  constexpr std::int64_t rows = 40'000;
  const Tensor update = torch::tensor({0.3F, -0.25F, 0.9F, 0.5F}) / 4096;  // in steps
  Tensor sum = torch::zeros({4}, torch::TensorOptions(torch::kInt64).device(device()));
  ASSERT_TRUE(encoder.add(update.expand({rows, 4}).to(device()), 1, 17, sum));
  const double wanted[] = {0.3, -0.25, 0.9, 0.5};
  for (std::int64_t i = 0; i < 4; ++i)
    EXPECT_NEAR(static_cast<double>(sum[i].item<std::int64_t>()) / rows, wanted[i],
                5.5 * 0.5 / std::sqrt(rows));
}

TEST_P(OnTensors, RefusesNaNAndInfinityAndFitsItsMemory) {
  const auto plan = plan_of(plan_settings(4, 8));
  const TensorEncoder encoder(plan, device());
  for (const double wrong : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    Tensor rows = torch::zeros({3, 4}, device());
    Tensor sum = torch::zeros({4}, torch::TensorOptions(torch::kInt64).device(device()));
    rows[1][2] = wrong;
    EXPECT_FALSE(encoder.add(rows, 1, 1, sum));
  }
  EXPECT_EQ(encoder.rows_within(1), 1);
  EXPECT_LE(encoder.rows_within(1 << 20) * 4 * 40, 1 << 20);
}

// Multiples of the grid's step: whole rounds on the device are those of one device after another on the CPU.
TEST_P(OnTensors, WhereNothingIsLeftToChanceARoundHasTheIntegersOfSimulatedDevices) {
  std::vector<Tensor> updates, there;
  for (std::int64_t user = 0; user < 24; ++user) {
    updates.push_back((torch::arange(300) * (user + 1)).remainder(17).sub(8).to(torch::kFloat32) / 4096);
    there.push_back(updates.back().to(device()));
  }
  KnownUpdates here(updates), on_device(there);
  for (const bool clip_bit : {false, true}) {
    Settings settings = plan_settings(300, 12, 11);
    if (clip_bit) settings.clip_bit_weight = 0.5;
    const auto plan = plan_of(settings);
    // Everybody comes to the first round, and nobody may come again.
    LawGather law(devices_of(on_device, NoiseOrigin::secret(), 24, 1));
    SimulatedGather simulated(devices_of(here, NoiseOrigin::reproducible(7), 24, 1));
    expect_same(law.sum({0, plan, 1}), simulated.sum({0, plan, 1}));
  }
}

// A seed addresses a card's rounding too, and another seed another one.
TEST_P(OnTensors, ReproducibleSumsAreTheSameAgain) {
  std::vector<Tensor> there;
  for (const Tensor& update : varied_updates(30, 2000)) there.push_back(update.to(device()));
  KnownUpdates updates(there);
  Settings settings = plan_settings(2000, 30);
  settings.noise_multiplier = 1;
  const auto sum = [&](const NoiseOrigin& origin) {
    LawGather gather(devices_of(updates, origin, 30));
    return gather.sum({2, plan_of(settings), 1}).value().groups.front().entries;
  };
  EXPECT_EQ(sum(NoiseOrigin::reproducible(5)), sum(NoiseOrigin::reproducible(5)));
  EXPECT_NE(sum(NoiseOrigin::reproducible(5)), sum(NoiseOrigin::reproducible(6)));
  EXPECT_NE(sum(NoiseOrigin::secret()), sum(NoiseOrigin::secret()));
}

}  // namespace
}  // namespace sotto::fl
