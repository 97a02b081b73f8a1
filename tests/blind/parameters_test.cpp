#include "blind/parameters.h"

#include <gmock/gmock.h>

#include <cmath>

#include "blind/shape.h"

namespace sotto::blind {
namespace {

using ::testing::HasSubstr;

void expect_the_bound(const Parameters& parameters) {
  const Shape& shape = parameters.shape;
  SCOPED_TRACE(::testing::Message() << shape.dimension << " numbers, " << shape.clusters << " clusters of "
                                    << shape.rows << ", " << shape.probes << " probes");
  EXPECT_TRUE(check(parameters));
  const double row_norm = std::sqrt(shape.clusters) * parameters.item_norm;
  EXPECT_LE(failure_bound(shape, parameters.step_bits, row_norm), std::ldexp(1, -40));
  // p > 2·R_i·R_u with p = 2^32/step.
  EXPECT_GT(std::ldexp(1, static_cast<int>(32 - parameters.step_bits)),
            2.0 * parameters.item_norm * parameters.user_norm);
  EXPECT_LE(rounding_error(parameters), coarsest_rounding);
}

// All limits together: q = 2^32 is enough from two numbers an item to the longest vectors, the most clusters,
// the most slots and the most probes, and vectors of one number are refused.
TEST(BlindParameters, HoldTheirBoundAtEverySizeOffered) {
  for (const std::uint32_t dimension : {1U, 2U, 16U, 64U, 400U, 1024U, 4096U}) {
    for (const std::uint32_t clusters : {1U, 4U, 100U, 1024U, 1536U, 10'000U, ShapeLimits::clusters}) {
      for (const std::uint32_t rows : {1U, 2048U, 10'607U, ShapeLimits::rows}) {
        for (const std::uint32_t probes : {1U, 3U, ShapeLimits::probes}) {
          const Shape shape{dimension, clusters, rows, probes};
          const auto chosen = choose_parameters(shape);
          const bool is_offered = check(shape).has_value() && dimension > 1;
          ASSERT_EQ(chosen.has_value(), is_offered) << dimension << ' ' << clusters << ' ' << rows;
          if (chosen) expect_the_bound(*chosen);
        }
      }
    }
  }
}

// From ten thousand to a hundred million items, as a server chooses; with bytes for anything.
TEST(BlindParameters, HoldTheirBoundAtEveryShapeThatAServerChooses) {
  for (const std::uint32_t dimension : {16U, 64U, 400U, 1024U, 4096U}) {
    for (const std::size_t items : {10'000UL, 1'000'000UL, 100'000'000UL}) {
      for (const std::uint32_t probes : {1U, 3U}) {
        const auto shape =
            choose_shape(items, dimension,
                         {.refresh_bytes = 1 << 28, .hint_bytes = std::size_t{1} << 29, .probes = probes});
        ASSERT_TRUE(shape) << shape.error().message;
        EXPECT_GE(shape->slots(), items);
        expect_the_bound(choose_parameters(*shape).value());
      }
    }
  }
}

TEST(BlindParameters, OneMoreBitOfAnythingIsRefused) {
  const auto chosen = choose_parameters({64, 1000, 1000, 3});
  ASSERT_TRUE(chosen);
  Parameters longer = *chosen;
  longer.item_norm *= 2;
  EXPECT_THAT(check(longer).error().message, HasSubstr("32 bits"));
  Parameters louder = longer;
  louder.user_norm /= 4;
  EXPECT_THAT(check(louder).error().message, HasSubstr("decryption could fail"));
  Parameters finer = *chosen;
  finer.step_bits -= 2;
  EXPECT_THAT(check(finer).error().message, HasSubstr("decryption could fail"));
}

TEST(BlindParameters, ShapesWithoutRoomAreRefusedWithWhatToDo) {
  EXPECT_THAT(choose_parameters({64, 70'000, 10, 1}).error().message, HasSubstr("clusters"));
  EXPECT_THAT(choose_parameters({1, 1000, 1000, 3}).error().message, HasSubstr("Choose longer vectors"));
  EXPECT_THAT(choose_shape(10'000, 1, {}).error().message, HasSubstr("Choose longer vectors"));
  EXPECT_THAT(choose_shape(10'000, 5000, {}).error().message, HasSubstr("1 to 4096 numbers per item"));
}

// The smallest block size β with which lattice reduction finds the secret (primal attack, 2016 estimate: a
// vector of norm σ√β shows up in the last block), and what a search in that dimension costs, 2^(0.292·β).
double attack_bits(double n, double log_q, double sigma) {
  for (double beta = 60; beta < 2000; ++beta) {
    const double delta =
        std::log2(std::pow(M_PI * beta, 1 / beta) * beta / (2 * M_PI * M_E)) / (2 * (beta - 1));
    for (double samples = n / 2; samples < 3 * n; samples += 16) {
      const double dimension = n + samples + 1;
      if (std::log2(sigma) + 0.5 * std::log2(beta) <=
          (2 * beta - dimension - 1) * delta + samples / dimension * log_q)
        return 0.292 * beta;
    }
  }
  return 584;
}

TEST(BlindParameters, AreAsHardAsTheStandardsLineOf128Bits) {
  const double ours = attack_bits(ring_degree, modulus_bits, error_sigma);
  EXPECT_GE(ours, attack_bits(1024, 29, 3.2));  // homomorphic encryption standard, n = 1024
  EXPECT_GE(ours, 110);
  EXPECT_LT(attack_bits(1024, 32, 6.4), 100);  // the same with SimplePIR's error
}

TEST(BlindShape, HasAListPerTasteForASmallPoolAndSquareClustersForALargeOne) {
  for (const std::size_t items : {100UL, 2'048UL}) {
    const auto whole = choose_shape(items, 64, {});
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(*whole, (Shape{64, 1, static_cast<std::uint32_t>(items), 1}));
  }
  for (const std::size_t items : {2'049UL, 10'000UL, 100'000UL, 1'000'000UL}) {
    const auto shape = choose_shape(items, 64, {});
    ASSERT_TRUE(shape) << shape.error().message;
    EXPECT_EQ(shape->rows, 2048U);
    EXPECT_GE(shape->clusters, 128U);
    EXPECT_GE(shape->slots(), 2 * items);  // items stand in several
    EXPECT_EQ(shape->probes, items < 100'000 ? 3U : 1U);
    const ShapeCost cost = cost_of(*shape);
    EXPECT_LE(cost.up + cost.down, ShapeBudget().refresh_bytes);
    EXPECT_LE(cost.database, std::max<std::size_t>(100 * items, 10'000'000));  // bytes of the server
  }
  for (const std::size_t items : {10'000'000UL, 100'000'000UL}) {
    const auto shape = choose_shape(items, 64, {.refresh_bytes = 10 << 20, .probes = {}});
    ASSERT_TRUE(shape) << shape.error().message;
    const double root = std::sqrt(1.125 * static_cast<double>(items));
    EXPECT_NEAR(shape->clusters, root, 0.02 * root);
    EXPECT_NEAR(shape->rows, root, 0.02 * root);
  }
}

TEST(BlindShape, KeepsToItsBudgetOrSaysWhatIsNeeded) {
  ShapeBudget budget;
  budget.refresh_bytes = 100'000;
  const auto narrow = choose_shape(1'000'000, 64, budget);
  ASSERT_TRUE(narrow) << narrow.error().message;
  EXPECT_LE(cost_of(*narrow).up + cost_of(*narrow).down, budget.refresh_bytes);
  EXPECT_GT(narrow->rows, 2048U);
  const auto small_hint =
      choose_shape(1'000'000, 64, {.refresh_bytes = 4 << 20, .hint_bytes = 4 << 20, .probes = {}});
  ASSERT_TRUE(small_hint) << small_hint.error().message;
  EXPECT_LE(cost_of(*small_hint).hint, 4U << 20);
  EXPECT_THAT(choose_shape(100'000'000, 64, {}).error().message, HasSubstr("cannot be served blindly"));
  EXPECT_TRUE(choose_shape(100'000'000, 64, {.refresh_bytes = 10 << 20, .probes = {}}));
  EXPECT_THAT(choose_shape(0, 64, {}).error().message, HasSubstr("nothing to serve"));
}

}  // namespace
}  // namespace sotto::blind
