// Tries to disprove the promise of a query, on the bytes that would be sent: two readers whose whole
// histories differ must look alike within e^ε. Each test also shows that it would notice noise that is too
// small.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "device/query/query_mechanism.h"
#include "device/small_pack.h"
#include "device/wire/query_wire.h"
#include "privacy/accounting/gaussian_exact.h"
#include "privacy/audit/threshold_event.h"

namespace sotto::device {
namespace {

constexpr std::uint32_t wide = 4;
constexpr double failure = 1e-7;  // chance that one bound is wrong

DevicePack pack_with(std::vector<float> basis, std::vector<float> prototypes) {
  DevicePack pack = testing::small_pack(0, "mean");
  pack.dimension = wide;
  const auto rows = [](const std::vector<float>& values) {
    return static_cast<std::uint32_t>(values.size() / wide);
  };
  pack.basis = *PackTensor::from_floats("basis", {rows(basis), wide}, basis, NumberForm::f32);
  pack.prototypes =
      *PackTensor::from_floats("prototypes", {rows(prototypes), wide}, prototypes, NumberForm::f32);
  pack.average_user.assign(wide, 0);
  pack.anonymous.assign(wide, 0);
  pack.items = *make_items({}, wide);
  pack.model = *model_name(pack);
  return pack;
}

// `count` clicks on one kind of item.
ReadableHistory clicks_on(std::vector<float> item, std::size_t count) {
  ReadableHistory history;
  for (std::size_t i = 0; i < count; ++i) {
    history.clicks.push_back({i, {0}});
    history.vectors.insert(history.vectors.end(), item.begin(), item.end());
  }
  return history;
}

using Draws = std::map<std::string, std::uint64_t>;  // wire bytes and how often they came

Draws draws_of(const QueryMechanism& mechanism, const ReadableHistory& history, std::uint64_t count,
               std::uint32_t stream) {
  SeededRandom source(20'240'229, Purpose::test, stream);
  Draws draws;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto query = mechanism.draw(history, privacy::DeviceRandom::simulated(source));
    if (!query) throw std::runtime_error(query.error().message);
    ++draws[encode(request_of(*query, 500))];
  }
  return draws;
}

// The largest ε that an event proves: log(P[event | first] / P[event | second]), surely.
double proven_epsilon(std::uint64_t first, std::uint64_t second, std::uint64_t trials) {
  const double low = privacy::clopper_pearson_lower(trials, first, failure);
  return low > 0 ? std::log(low / privacy::clopper_pearson_upper(trials, second, failure)) : 0;
}

double proven_by_counts(const QueryMechanism& mechanism, const ReadableHistory& a, const ReadableHistory& b) {
  constexpr std::uint64_t draw_count = 60'000;
  const Draws first = draws_of(mechanism, a, draw_count, 1);
  const Draws second = draws_of(mechanism, b, draw_count, 2);
  double proven = 0;
  for (const auto& [bytes, count] : first) {
    const auto found = second.find(bytes);
    proven = std::max(proven, proven_epsilon(count, found == second.end() ? 0 : found->second, draw_count));
  }
  for (const auto& [bytes, count] : second) {
    const auto found = first.find(bytes);
    proven = std::max(proven, proven_epsilon(count, found == first.end() ? 0 : found->second, draw_count));
  }
  return proven;
}

QuerySettings prototypes(std::string rule, double epsilon) {
  QuerySettings settings;
  settings.mechanism = "prototypes";
  settings.rule = std::move(rule);
  settings.epsilon = epsilon;
  return settings;
}

TEST(QueryPrivacy, PrototypesOfTwoHistoriesAreWithinEpsilon) {
  // The worst pair: one likes the first prototype only, the other all but the first.
  std::vector<float> vectors{1, 0, 0, 0};
  for (int i = 1; i < 16; ++i) vectors.insert(vectors.end(), {-1, 0, 0, 0});
  const DevicePack pack = pack_with({1, 0, 0, 0, 0, 1, 0, 0}, vectors);
  const ReadableHistory a = clicks_on({1, 0, 0, 0}, 3);
  const ReadableHistory b = clicks_on({-1, 0, 0, 0}, 40);
  for (const std::string rule : {"response", "similarity"}) {
    for (const double epsilon : {0.25, 1.0}) {
      const auto honest = QueryMechanism::create(prototypes(rule, epsilon), pack);
      const auto halved = QueryMechanism::create(prototypes(rule, 2 * epsilon), pack);
      ASSERT_TRUE(honest && halved);
      const double proven = proven_by_counts(*honest, a, b);
      EXPECT_LE(proven, epsilon) << rule;
      EXPECT_GT(proven, epsilon / 4) << rule << ": the test has no power";
      EXPECT_GT(proven_by_counts(*halved, a, b), epsilon) << rule << ": half the noise goes unnoticed";
    }
  }
}

// Bounds over the thresholds of one statistic of the sent coefficients.
double proven_by_thresholds(const QueryMechanism& mechanism, const ReadableHistory& a,
                            const ReadableHistory& b) {
  constexpr std::uint64_t draw_count = 100'000;
  const auto statistics = [&](const ReadableHistory& history, std::uint32_t stream) {
    std::vector<double> values;
    values.reserve(draw_count);
    for (const auto& [bytes, count] : draws_of(mechanism, history, draw_count, stream)) {
      const auto request = decode_recommend_request(bytes);
      if (!request) throw std::runtime_error(request.error().message);
      const auto& weights = std::get<std::vector<float>>(request->query);
      values.insert(values.end(), count, std::log(weights[0]) - std::log(weights[1]));
    }
    return values;
  };
  const std::vector<double> first = statistics(a, 3);
  const std::vector<double> second = statistics(b, 4);
  double proven = 0;
  for (double threshold = 0; threshold <= 6; threshold += 0.5) {
    const auto above = [&](const std::vector<double>& values) {
      return static_cast<std::uint64_t>(
          std::count_if(values.begin(), values.end(), [&](double value) { return value > threshold; }));
    };
    proven = std::max(proven, proven_epsilon(above(first), above(second), draw_count));
  }
  return proven;
}

// Basis vectors so long that the attention is all on one of them.
DevicePack two_directions() { return pack_with({100, 0, 0, 0, 0, 100, 0, 0}, {1, 0, 0, 0, 0, 1, 0, 0}); }

QuerySettings coefficients(std::string noise, double epsilon) {
  QuerySettings settings;
  settings.mechanism = "coefficients";
  settings.noise = std::move(noise);
  settings.delta = settings.noise == "gaussian" ? 1e-6 : 0;
  settings.epsilon = epsilon;
  return settings;
}

TEST(QueryPrivacy, CoefficientsOfTwoHistoriesAreWithinEpsilon) {
  const DevicePack pack = two_directions();
  const ReadableHistory a = clicks_on({1, 0, 0, 0}, 3);
  const ReadableHistory b = clicks_on({0, 1, 0, 0}, 40);
  const auto honest = QueryMechanism::create(coefficients("laplace", 1), pack);
  const auto halved = QueryMechanism::create(coefficients("laplace", 2), pack);
  ASSERT_TRUE(honest && halved);
  const double proven = proven_by_thresholds(*honest, a, b);
  EXPECT_LE(proven, 1);
  EXPECT_GT(proven, 0.5) << "the test has no power";
  EXPECT_GT(proven_by_thresholds(*halved, a, b), 1) << "half the noise goes unnoticed";
}

// Gaussian noise hides a factor of two below its δ, so its size is measured instead. The weights before noise
// are (1, 0), their sensitivity is √2 and σ = √2·m: the first comes out larger with probability Φ(1/(2m)).
TEST(QueryPrivacy, GaussianCoefficientsHaveTheNoiseThatTheTheoremAsksFor) {
  constexpr std::uint64_t draw_count = 100'000;
  const auto first_larger = [&](double epsilon) {
    const auto mechanism = QueryMechanism::create(coefficients("gaussian", epsilon), two_directions());
    std::uint64_t larger = 0;
    for (const auto& [bytes, count] : draws_of(*mechanism, clicks_on({1, 0, 0, 0}, 3), draw_count, 5)) {
      const auto weights = std::get<std::vector<float>>(decode_recommend_request(bytes)->query);
      if (weights[0] > weights[1]) larger += count;
    }
    return larger;
  };
  const double multiplier = *privacy::analytic_noise_multiplier(1, 1e-6);
  const double expected = 0.5 * std::erfc(-1 / (2 * multiplier) / std::sqrt(2.0));
  const std::uint64_t honest = first_larger(1);
  EXPECT_LE(privacy::clopper_pearson_lower(draw_count, honest, failure), expected);
  EXPECT_GE(privacy::clopper_pearson_upper(draw_count, honest, failure), expected);
  EXPECT_GT(privacy::clopper_pearson_lower(draw_count, first_larger(2), failure), expected)
      << "half the noise goes unnoticed";
}

TEST(QueryPrivacy, PaperModeStatesWhatItReallyTells) {
  const DevicePack pack = two_directions();
  QuerySettings settings = coefficients("laplace", 1);
  settings.mode = "paper";
  const auto paper = QueryMechanism::create(settings, pack);
  const double proven = proven_by_thresholds(*paper, clicks_on({1, 0, 0, 0}, 3), clicks_on({0, 1, 0, 0}, 3));
  EXPECT_GT(proven, 1);  // the paper's ε is refuted
  ASSERT_TRUE(paper->event());
  EXPECT_LE(proven, std::get<privacy::PureDp>(paper->event()->mechanism).epsilon);
}

TEST(QueryPrivacy, TheBytesHaveOneSizeWhateverWasClicked) {
  const DevicePack pack = testing::small_pack();
  for (const std::string mechanism : {"coefficients", "prototypes"}) {
    QuerySettings settings;
    settings.mechanism = mechanism;
    settings.epsilon = 1;
    const auto query = QueryMechanism::create(settings, pack);
    SeededRandom random(1, Purpose::test);
    std::set<std::size_t> sizes;
    for (std::size_t clicks = 0; clicks < 30; ++clicks) {
      const auto drawn = query->draw(clicks_on(std::vector<float>(testing::vector_size, 1.5F), clicks),
                                     privacy::DeviceRandom::simulated(random));
      sizes.insert(encode(request_of(*drawn, 500)).size());
    }
    EXPECT_EQ(sizes.size(), 1U) << mechanism;
  }
}

TEST(QueryPrivacy, NoHistoryMakesADrawFail) {
  const DevicePack pack = testing::small_pack();
  SeededRandom random(1, Purpose::test);
  for (const std::string mechanism : {"coefficients", "prototypes"}) {
    QuerySettings settings;
    settings.mechanism = mechanism;
    settings.epsilon = 1;
    const auto query = QueryMechanism::create(settings, pack);
    for (const float value : {0.0F, 1e38F, -1e38F, std::nanf("")}) {
      const ReadableHistory history = clicks_on(std::vector<float>(testing::vector_size, value), 3);
      const auto drawn = query->draw(history, privacy::DeviceRandom::simulated(random));
      ASSERT_TRUE(drawn) << drawn.error().message;
      EXPECT_TRUE(check(request_of(*drawn, 500)));
    }
  }
}

}  // namespace
}  // namespace sotto::device
