#include "base/distributions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace sotto {
namespace {

// Words given by hand, to steer a draw into one branch.
class ScriptedRandom final : public RandomSource {
 public:
  explicit ScriptedRandom(std::vector<std::uint64_t> words) : words_(std::move(words)) {}
  void fill(std::span<std::uint64_t> out) override {
    for (auto& word : out) word = next_ < words_.size() ? words_[next_++] : 0;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t next_ = 0;
};

double chi_square(const std::vector<std::size_t>& counts, double expected) {
  double sum = 0;
  for (const std::size_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

struct Moments {
  double mean, variance;
};

Moments moments(const std::function<double(RandomSource&)>& draw) {
  SeededRandom random(11, Purpose::test);
  constexpr int count = 200'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double x = draw(random);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / count;
  return {mean, squares / count - mean * mean};
}

TEST(Uniform01, CoversZeroButNotOne) {
  ScriptedRandom zeros({0}), ones({~std::uint64_t{0}});
  EXPECT_EQ(uniform01(zeros), 0.0);
  EXPECT_EQ(uniform01(ones), 1.0 - 0x1.0p-53);
  EXPECT_LT(uniform01(ones), 1.0);
}

TEST(UniformOpen01, IsSafeUnderLog) {
  ScriptedRandom zeros({0}), ones({~std::uint64_t{0}});
  EXPECT_EQ(uniform_open01(zeros), 1.0);
  EXPECT_EQ(uniform_open01(ones), 0x1.0p-53);
}

TEST(UniformBelow, IsUniformForSmallRanges) {
  SeededRandom random(5, Purpose::test);
  for (const std::uint64_t n : {2, 3, 7, 10, 64}) {
    std::vector<std::size_t> counts(n);
    for (int i = 0; i < 100'000; ++i) ++counts.at(uniform_below(random, n));
    // Mean n - 1, standard deviation sqrt(2 (n - 1)).
    const double degrees = static_cast<double>(n - 1);
    EXPECT_LT(chi_square(counts, 100'000.0 / static_cast<double>(n)), degrees + 5 * std::sqrt(2 * degrees))
        << n;
  }
}

TEST(UniformBelow, IsUnbiasedWhereAModuloWouldNotBe) {
  // With n = 3/4 of 2^64 a modulo hits the lower third twice as often.
  const std::uint64_t n = std::uint64_t{3} << 62;
  SeededRandom random(6, Purpose::test);
  std::vector<std::size_t> thirds(3);
  for (int i = 0; i < 90'000; ++i) ++thirds.at(uniform_below(random, n) / (n / 3));
  EXPECT_LT(chi_square(thirds, 30'000), 2 + 5 * 2.0);
}

TEST(UniformBelow, RejectsTheWordsThatWouldBias) {
  // 2^64 mod 3 = 1: exactly one word of all, zero, must be thrown away.
  ScriptedRandom random({0, 0, ~std::uint64_t{0}});
  EXPECT_EQ(uniform_below(random, 3), 2u);
}

TEST(UniformBelow, OneHasOnlyZero) {
  SeededRandom random(1, Purpose::test);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(uniform_below(random, 1), 0u);
}

TEST(Bernoulli, ZeroIsNeverAndOneIsAlways) {
  SeededRandom random(1, Purpose::test);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(bernoulli(random, 0.0));
    EXPECT_TRUE(bernoulli(random, 1.0));
  }
}

TEST(Distributions, HaveTheirMeansAndVariances) {
  const auto normals = moments(normal), exponentials = moments(exponential);
  EXPECT_NEAR(normals.mean, 0.0, 0.012);
  EXPECT_NEAR(normals.variance, 1.0, 0.02);
  EXPECT_NEAR(exponentials.mean, 1.0, 0.012);
  EXPECT_NEAR(exponentials.variance, 1.0, 0.04);
}

TEST(Normal, HasTheTailsOfANormal) {
  SeededRandom random(12, Purpose::test);
  int beyond_two = 0;
  for (int i = 0; i < 100'000; ++i) beyond_two += std::abs(normal(random)) > 2 ? 1 : 0;
  EXPECT_NEAR(beyond_two, 4550, 5 * 66);  // 4.55 %, five standard deviations
}

TEST(Shuffle, ReachesEveryOrderEquallyOften) {
  SeededRandom random(14, Purpose::test);
  std::map<std::vector<int>, std::size_t> orders;
  for (int i = 0; i < 24'000; ++i) {
    std::vector<int> values = {0, 1, 2, 3};
    shuffle(std::span(values), random);
    ++orders[values];
  }
  ASSERT_EQ(orders.size(), 24u);
  std::vector<std::size_t> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  EXPECT_LT(chi_square(counts, 1000), 23 + 5 * std::sqrt(46.0));
}

// The same draws on a full permutation.
std::vector<std::uint32_t> dense_sample(std::uint32_t n, std::uint32_t k, RandomSource& random) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0u);
  for (std::uint32_t i = 0; i < k; ++i) std::swap(all[i], all[i + uniform_below(random, n - i)]);
  all.resize(k);
  return all;
}

TEST(SampleWithoutReplacement, EqualsAFullFisherYates) {
  SeededRandom cases(18, Purpose::test);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto n = static_cast<std::uint32_t>(uniform_below(cases, 2000));
    const auto k = static_cast<std::uint32_t>(uniform_below(cases, n + 1));
    SeededRandom sparse(seed, Purpose::test), dense(seed, Purpose::test);
    ASSERT_EQ(sample_without_replacement(n, k, sparse), dense_sample(n, k, dense)) << k << " of " << n;
  }
}

TEST(SampleWithoutReplacement, IsDistinctInAHugeRange) {
  SeededRandom random(15, Purpose::test);
  const auto sample = sample_without_replacement(0xFFFFFFFF, 10'000, random);
  EXPECT_EQ(std::set<std::uint32_t>(sample.begin(), sample.end()).size(), 10'000u);
}

TEST(SampleWithoutReplacement, TakesEveryMemberEquallyOften) {
  SeededRandom random(16, Purpose::test);
  std::vector<std::size_t> counts(50);
  for (int i = 0; i < 20'000; ++i) {
    for (const std::uint32_t member : sample_without_replacement(50, 10, random)) ++counts.at(member);
  }
  EXPECT_LT(chi_square(counts, 4000), 49 + 5 * std::sqrt(98.0));
}

TEST(SampleWithoutReplacement, TakesAllWhenAskedForAll) {
  SeededRandom random(17, Purpose::test);
  auto sample = sample_without_replacement(100, 100, random);
  EXPECT_FALSE(std::is_sorted(sample.begin(), sample.end()));
  std::sort(sample.begin(), sample.end());
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(sample[i], i);
}

}  // namespace
}  // namespace sotto
