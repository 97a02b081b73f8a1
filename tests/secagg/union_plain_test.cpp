// Unions without noise: what is in, what can be missed, and that a sketch never answers wrongly.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "base/distributions.h"
#include "privacy/noise_statistics.h"
#include "secagg/item_union/dense_union.h"
#include "secagg/item_union/item_set.h"
#include "secagg/item_union/sparse_union.h"
#include "secagg/vectors/modular_sum.h"

namespace sotto::secagg {
namespace {

using Items = std::vector<std::uint32_t>;

std::vector<Items> random_sets(std::size_t devices, std::size_t items, std::uint64_t catalogue,
                               RandomSource& random) {
  std::vector<Items> sets(devices, Items(items));
  for (Items& set : sets) {
    for (auto& item : set) item = static_cast<std::uint32_t>(uniform_below(random, catalogue));
  }
  return sets;
}

Items union_in_the_clear(const std::vector<Items>& sets) {
  std::set<std::uint32_t> all;
  for (const Items& set : sets) all.insert(set.begin(), set.end());
  return {all.begin(), all.end()};
}

template <class Union>
auto sum_of(const Union& form, const std::vector<Items>& sets, RandomSource& random) {
  std::vector<std::vector<std::uint64_t>> devices;
  devices.reserve(sets.size());
  for (const Items& set : sets)
    devices.push_back(*form.encode(set, privacy::DeviceRandom::simulated(random)));
  return *modular_sum(devices, *Modulus::of_bits(64));
}

RC_GTEST_PROP(DenseUnion, IsTheUnion, ()) {
  const auto catalogue = *rc::gen::inRange<std::uint64_t>(1, 300);
  const auto devices = *rc::gen::inRange<std::size_t>(1, 20);
  const auto items = *rc::gen::inRange<std::size_t>(0, 30);
  SeededRandom random(*rc::gen::arbitrary<std::uint32_t>(), Purpose::test);
  const auto form = *DenseUnion::create(catalogue);
  const auto sets = random_sets(devices, items, catalogue, random);
  RC_ASSERT(*form.decode(sum_of(form, sets, random)) == union_in_the_clear(sets));
}

// That `holders` random non-zero numbers modulo m = 2^bits sum to zero: (1 − (−1/(m−1))^(holders−1))/m. Zero
// for one holder, largest for two: 1/(m−1).
double false_zero_probability(std::uint64_t holders, unsigned bits) {
  if (holders < 2) return 0;
  const double m = std::exp2(bits);
  // One minus an alternating power, without cancellation where it matters: holders = 2 gives m/(m−1).
  const double power = std::pow(m - 1, -static_cast<double>(holders - 1));
  return (holders % 2 == 0 ? 1 + power : 1 - power) / m;
}

TEST(DenseUnion, FalseZeroProbabilityIsExactByBruteForce) {
  for (const unsigned bits : {1U, 2U, 3U, 4U}) {
    const int m = 1 << bits;
    std::vector<double> ways(static_cast<std::size_t>(m));  // sums of non-zero numbers modulo m
    ways[0] = 1;
    for (std::uint64_t holders = 1; holders <= 6; ++holders) {
      std::vector<double> next(ways.size());
      for (int sum = 0; sum < m; ++sum) {
        for (int r = 1; r < m; ++r)
          next[static_cast<std::size_t>((sum + r) % m)] += ways[static_cast<std::size_t>(sum)];
      }
      ways = next;
      const double exact = ways[0] / std::pow(m - 1, static_cast<double>(holders));
      EXPECT_NEAR(false_zero_probability(holders, bits), exact, 1e-12) << holders << " holders modulo " << m;
      EXPECT_LE(exact, 1.0 / (m - 1));
    }
  }
  EXPECT_EQ(false_zero_probability(1, 64), 0);
  EXPECT_NEAR(false_zero_probability(2, 64) * 0x1.0p64, 1, 1e-12);
}

TEST(DenseUnion, MissesAsOftenAsStatedAndNeverASingleHolder) {
  constexpr std::uint64_t item_count = 200000;
  const auto form = *DenseUnion::create(item_count, 8);
  Items all(item_count);
  for (std::uint32_t i = 0; i < item_count; ++i) all[i] = i;
  SeededRandom random(1, Purpose::test);
  std::vector<std::uint64_t> sum(item_count);
  for (std::uint64_t holders = 1; holders <= 3; ++holders) {
    ASSERT_TRUE(add_entries(sum, *form.encode(all, privacy::DeviceRandom::simulated(random))).has_value());
    const auto missed = static_cast<double>(item_count - form.decode(sum)->size());
    const double expected = false_zero_probability(holders, 8) * item_count;
    // Binomial with mean 780: 4.9 standard deviations, two-sided below 1e-6.
    EXPECT_LE(std::fabs(missed - expected), 4.9 * std::sqrt(expected)) << holders;
  }
}

TEST(RandomNonzero, IsUniformOverTheNonzeroNumbers) {
  SeededRandom random(2, Purpose::test);
  std::vector<std::uint64_t> draws(100000);
  for (auto& draw : draws) draw = random_nonzero(0xFF, random);
  std::vector<double> law(256, 1.0 / 255);
  law[0] = 0;
  EXPECT_TRUE(privacy::statistics::fits_choice(draws, law));
}

TEST(DenseUnion, RefusesForeignItemsAndSums) {
  const auto form = *DenseUnion::create(10);
  SeededRandom random(3, Purpose::test);
  EXPECT_FALSE(form.encode(Items{10}, privacy::DeviceRandom::simulated(random)).has_value());
  EXPECT_FALSE(form.decode(std::vector<std::uint64_t>(9)).has_value());
  EXPECT_FALSE(DenseUnion::create(0).has_value());
  EXPECT_FALSE(DenseUnion::create((std::uint64_t{1} << 32) + 1).has_value());
  EXPECT_FALSE(DenseUnion::create(10, 7).has_value());
}

RC_GTEST_PROP(SparseUnion, IsTheUnionOrSaysItDoesNotKnow, ()) {
  const auto catalogue = *rc::gen::inRange<std::uint64_t>(1, 1U << 31);
  const auto devices = *rc::gen::inRange<std::size_t>(1, 20);
  const auto items = *rc::gen::inRange<std::size_t>(0, 60);
  SeededRandom random(*rc::gen::arbitrary<std::uint32_t>(), Purpose::test);
  const auto sets = random_sets(devices, items, catalogue, random);
  const auto form = *SparseUnion::create({catalogue, *rc::gen::inRange<std::uint64_t>(1, 1000), random()});
  const auto answer = form.decode(sum_of(form, sets, random));
  if (answer) {
    RC_ASSERT(*answer == union_in_the_clear(sets));
  } else {
    RC_ASSERT(answer.error().kind == ErrorKind::failed);
  }
}

TEST(SparseUnion, DecodesAtItsCapacityAlmostAlways) {
  // Measured failures at capacity are below 1 in 1000 for all these sizes: five in 300 have a chance below
  // 2e-5.
  for (const std::uint64_t capacity : {1UL, 5UL, 20UL, 100UL, 1000UL}) {
    int failures = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      SeededRandom random(seed, Purpose::test, static_cast<std::uint32_t>(capacity));
      const auto form = *SparseUnion::create({1000000, capacity, seed});
      const Items items = sample_without_replacement(1000000, static_cast<std::uint32_t>(capacity), random);
      const auto answer = form.decode(*form.encode(items, privacy::DeviceRandom::simulated(random)));
      if (!answer) {
        ++failures;
      } else {
        ASSERT_EQ(answer->size(), capacity);
      }
    }
    EXPECT_LT(failures, 5) << capacity;
  }
}

TEST(SparseUnion, ReportsAnOverfullTable) {
  SeededRandom random(4, Purpose::test);
  const auto form = *SparseUnion::create({1000000, 100, 1});
  const auto answer = form.decode(sum_of(form, random_sets(10, 100, 1000000, random), random));
  ASSERT_FALSE(answer.has_value());
  EXPECT_NE(answer.error().message.find("more room"), std::string::npos);
}

TEST(SparseUnion, WorksForTheWholeRangeOfItemNumbers) {
  SeededRandom random(5, Purpose::test);
  const Items extremes{0, 1, UINT32_MAX - 1, UINT32_MAX, 1U << 31};
  const auto form = *SparseUnion::create({std::uint64_t{1} << 32, 5, 9});
  const auto answer = form.decode(sum_of(form, std::vector<Items>{extremes, {0}, {UINT32_MAX}}, random));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(*answer, union_in_the_clear({extremes}));
}

TEST(SparseUnion, DecodesWeightsWithManyZerosAtTheEndAndReportsTooMany) {
  // A weight of 2^v leaves the item modulo 2^(64−v).
  const auto form = *SparseUnion::create({1 << 20, 10, 3});
  class Fixed final : public RandomSource {
   public:
    explicit Fixed(std::uint64_t word) : word_(word) {}
    void fill(std::span<std::uint64_t> out) override { std::fill(out.begin(), out.end(), word_); }

   private:
    std::uint64_t word_;
  };
  const Items item{0xABCDE};
  for (const unsigned zeros : {0U, 1U, 20U, 44U}) {
    Fixed random(std::uint64_t{3} << zeros);
    const auto answer = form.decode(*form.encode(item, privacy::DeviceRandom::simulated(random)));
    ASSERT_TRUE(answer.has_value()) << zeros;
    EXPECT_EQ(*answer, item);
  }
  for (const unsigned zeros : {45U, 60U, 63U}) {
    Fixed random(std::uint64_t{1} << zeros);
    EXPECT_FALSE(form.decode(*form.encode(item, privacy::DeviceRandom::simulated(random))).has_value())
        << zeros;
  }
}

TEST(SparseUnion, NoticesEveryChangedWord) {
  SeededRandom random(6, Purpose::test);
  const auto form = *SparseUnion::create({1000, 20, 1});
  const auto sum = sum_of(form, random_sets(3, 5, 1000, random), random);
  ASSERT_TRUE(form.decode(sum).has_value());
  for (std::size_t word = 0; word < sum.size(); ++word) {
    auto changed = sum;
    changed[word] += 1;
    EXPECT_FALSE(form.decode(changed).has_value()) << word;
  }
}

TEST(SparseUnion, SurvivesForgedTables) {
  SeededRandom random(7, Purpose::test);
  const auto form = *SparseUnion::create({1000, 50, 1});
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint64_t> forged(form.entries());
    for (auto& word : forged) word = random() % (i % 5 == 0 ? 3 : ~std::uint64_t{0});
    (void)form.decode(forged);
  }
  EXPECT_FALSE(form.decode(std::vector<std::uint64_t>(form.entries() - 1)).has_value());
  EXPECT_TRUE(form.decode(std::vector<std::uint64_t>(form.entries()))->empty());
}

// The table must not tell how many devices hold an item: the weight in its cells has one law for 1 and for 2
// holders.
TEST(SparseUnion, HidesHowManyHoldAnItem) {
  std::vector<std::int64_t> one, two;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    SeededRandom random(seed, Purpose::test, 8);
    const auto form = *SparseUnion::create({1000, 1, 1});
    const auto bits = [&](std::size_t holders) {
      const auto sum = sum_of(form, std::vector<Items>(holders, Items{77}), random);
      for (std::size_t cell = 0; 2 * cell + 1 < sum.size(); ++cell) {
        if (sum[2 * cell] != 0)
          return static_cast<std::int64_t>(sum[2 * cell] & 63);  // low bits: parity shows first
      }
      return std::int64_t{-1};
    };
    one.push_back(bits(1));
    two.push_back(bits(2));
  }
  EXPECT_TRUE(privacy::statistics::same_law(one, two));
}

TEST(SparseUnion, CostsTheUnionNotTheCatalogue) {
  const auto sparse = *SparseUnion::create({1000000, 1320, 1});
  EXPECT_LT(sparse.bytes_per_device(), 32000U);
  EXPECT_EQ(sparse.bytes_per_device(), SparseUnion::create({4000000, 1320, 1})->bytes_per_device());
  EXPECT_FALSE(SparseUnion::create({10, 0, 1}).has_value());
  EXPECT_FALSE(SparseUnion::create({10, UINT64_MAX, 1}).has_value());
}

}  // namespace
}  // namespace sotto::secagg
