#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/distributions.h"
#include "not_finite.h"
#include "report/plot_layout.h"

namespace sotto::report {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

using testing::infinity;
using testing::nan;

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> result;
  for (const double tick : axis.ticks()) result.push_back(axis.label(tick));
  return result;
}

TEST(Ticks, AreRoundNumbers) {
  EXPECT_THAT(labels(Axis::between(0, 1, {.wanted_ticks = 5})),
              ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(labels(Axis::between(-3, 12, {.wanted_ticks = 4})), ElementsAre("0", "5", "10"));
  EXPECT_THAT(labels(Axis::between(0.612, 0.655, {.wanted_ticks = 5})),
              ElementsAre("0.62", "0.63", "0.64", "0.65"));
  EXPECT_THAT(labels(Axis::between(0, 1500, {.wanted_ticks = 3})), ElementsAre("0", "500", "1000", "1500"));
}

TEST(Ticks, ShareOneUnit) {
  EXPECT_THAT(labels(Axis::between(0, 20'000, {.wanted_ticks = 4})),
              ElementsAre("0", "5k", "10k", "15k", "20k"));
  EXPECT_THAT(labels(Axis::between(0, 2.2e6, {.wanted_ticks = 4})),
              ElementsAre("0", "0.5M", "1.0M", "1.5M", "2.0M"));
  EXPECT_EQ(tick_label(1e-5, 1e-5, 5e-5), "1e-05");
  EXPECT_EQ(tick_label(100'001, 1, 100'005), "100001");  // a unit would hide the difference
}

TEST(Ticks, OnALogarithmicAxisAreDecades) {
  EXPECT_THAT(labels(Axis::between(0.001, 10, {.logarithmic = true})),
              ElementsAre("0.001", "0.01", "0.1", "1", "10"));
  EXPECT_THAT(labels(Axis::between(1, 30, {.logarithmic = true})), ElementsAre("1", "2", "5", "10", "20"));
  EXPECT_LE(Axis::between(1e-200, 1e200, {.logarithmic = true}).ticks().size(), 8U);
}

TEST(Ticks, OfAnyRangeAreInsideItAndFewAndDistinct) {
  SeededRandom random(31, Purpose::test);
  for (int round = 0; round < 5000; ++round) {
    const double low = (uniform01(random) - 0.5) * std::pow(10, 20 * uniform01(random) - 10);
    const double high = low + std::pow(10, 20 * uniform01(random) - 10);
    const Axis axis = Axis::between(low, high, {});
    ASSERT_FALSE(axis.ticks().empty()) << low << " " << high;
    ASSERT_LE(axis.ticks().size(), 14U) << low << " " << high;
    const double slack = 1e-6 * (axis.high() - axis.low());
    for (std::size_t i = 0; i < axis.ticks().size(); ++i) {
      ASSERT_GE(axis.ticks()[i], axis.low() - slack);
      ASSERT_LE(axis.ticks()[i], axis.high() + slack);
      if (i > 0) {
        ASSERT_GT(axis.ticks()[i], axis.ticks()[i - 1]);
      }
    }
  }
}

TEST(Axis, CoversTheDataWithAMargin) {
  const std::vector<double> values = {2, 6, nan, infinity};
  const Axis axis = Axis::covering(values, {.margin = 0.05});
  EXPECT_DOUBLE_EQ(axis.low(), 1.8);
  EXPECT_DOUBLE_EQ(axis.high(), 6.2);
  EXPECT_DOUBLE_EQ(axis.position(4), 0.5);
  EXPECT_EQ(axis.position(100), 1.0);
}

TEST(Axis, OfBarsStartsAtZero) {
  const std::vector<double> positive = {2, 6}, negative = {-2, -6};
  EXPECT_EQ(Axis::covering(positive, {.include_zero = true}).low(), 0.0);
  EXPECT_EQ(Axis::covering(negative, {.include_zero = true}).high(), 0.0);
}

TEST(Axis, OnALogarithmicScaleIgnoresWhatIsNotPositive) {
  const std::vector<double> values = {-5, 0, 1, 100, nan};
  const Axis axis = Axis::covering(values, {.logarithmic = true, .margin = 0});
  EXPECT_DOUBLE_EQ(axis.low(), 1);
  EXPECT_DOUBLE_EQ(axis.high(), 100);
  EXPECT_THAT(axis.position(10), DoubleNear(0.5, 1e-12));
  EXPECT_FALSE(axis.shows(0));
  EXPECT_FALSE(axis.shows(-5));
}

TEST(Axis, SurvivesDegenerateData) {
  for (const bool logarithmic : {false, true}) {
    for (const std::vector<double>& values : {std::vector<double>{},
                                              {0.0},
                                              {5.0},
                                              {5.0, 5.0},
                                              {-5.0},
                                              {nan},
                                              {infinity, -infinity},
                                              {1e308, -1e308},
                                              {1e-310},
                                              {1.0, 1.0 + 1e-15},
                                              {1e300, 2}}) {
      const Axis axis = Axis::covering(values, {.logarithmic = logarithmic});
      EXPECT_LT(axis.low(), axis.high());
      EXPECT_TRUE(std::isfinite(axis.low()) && std::isfinite(axis.high()));
      EXPECT_FALSE(axis.ticks().empty());
      EXPECT_LE(axis.ticks().size(), 14U);
    }
  }
}

TEST(Axis, WithAnImpossibleRangeFallsBack) {
  EXPECT_LT(Axis::between(3, 3, {}).low(), 3);
  EXPECT_LT(Axis::between(nan, 3, {}).low(), 3);
  const Axis swapped = Axis::between(5, 1, {});
  EXPECT_LT(swapped.low(), swapped.high());
  EXPECT_GT(Axis::between(-1, 10, {.logarithmic = true}).low(), 0);
}

}  // namespace
}  // namespace sotto::report
