#include <gtest/gtest.h>

#include <array>

#include "metrics/mean.h"

namespace sotto::metrics {
namespace {

TEST(ClickRates, PutsWhatWasNeverShownBetweenLikedAndIgnored) {
  ClickRates rates(3);
  const std::array<std::uint32_t, 2> shown{0, 1};
  const std::array<std::uint8_t, 2> clicked{1, 0};
  for (int i = 0; i < 50; ++i) rates.add(shown, clicked);
  const auto smoothed = rates.smoothed();
  // Mean rate 1/2: (50 + 50) / 150, (0 + 50) / 150, 50 / 100.
  EXPECT_FLOAT_EQ(smoothed[0], 100.0F / 150);
  EXPECT_FLOAT_EQ(smoothed[1], 50.0F / 150);
  EXPECT_FLOAT_EQ(smoothed[2], 0.5F);
}

TEST(ClickRates, FewObservationsMoveLittle) {
  ClickRates rates(3);
  for (int i = 0; i < 1000; ++i)
    rates.add(std::array<std::uint32_t, 2>{0, 1}, std::array<std::uint8_t, 2>{0, 1});
  rates.add(std::array<std::uint32_t, 1>{2}, std::array<std::uint8_t, 1>{1});
  const auto smoothed = rates.smoothed();
  EXPECT_GT(smoothed[1], smoothed[2]) << "one lucky click must not beat a thousand";
  EXPECT_GT(smoothed[2], smoothed[0]);
}

TEST(ClickRates, OfNothingAreEqual) { EXPECT_EQ(ClickRates(2).smoothed(), (std::vector<float>{0, 0})); }

}  // namespace
}  // namespace sotto::metrics
