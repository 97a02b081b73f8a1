#include "rounds/come_back.h"

#include <gtest/gtest.h>

namespace sotto::rounds {
namespace {

using std::chrono::milliseconds;
using How = ComeBack::How;

TEST(ComeBack, IsReadAsItIsWrittenAndNothingElseIs) {
  for (const ComeBack& one : {ComeBack{How::spread, milliseconds(12'000)},
                              ComeBack{How::meet, milliseconds(0)}, ComeBack{How::spread, latest_come_back}})
    EXPECT_EQ(parse_come_back(to_text(one)), one);
  for (const char* wrong : {"", "meet", "meet=", "meet=-1", "meet=1.5", "spread=86400001", "spread=1 ",
                            "never=1", "spread=99999999999999999999"})
    EXPECT_FALSE(parse_come_back(wrong)) << wrong;
}

TEST(ComeBack, SpreadsALargePopulationOverAsManyPeriodsAsItHasCohorts) {
  const auto said =
      steer({.devices = 130'000, .cohort = 1000, .period = std::chrono::seconds(60), .next = {}});
  ASSERT_TRUE(said);
  EXPECT_EQ(said->how, How::spread);
  EXPECT_EQ(said->time, std::chrono::seconds(6000));  // 100 periods
  SeededRandom random(1, Purpose::test);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto time = draw(*said, random);
    EXPECT_GE(time, said->time / 2);
    EXPECT_LE(time, said->time * 3 / 2);
    sum += static_cast<double>(time.count());
  }
  // In each period 1.3 cohorts come.
  const double visits_per_period = 130'000.0 * 60'000 / (sum / 10'000);
  EXPECT_NEAR(visits_per_period, 1300, 20);
}

TEST(ComeBack, LetsASmallPopulationMeet) {
  const auto between =
      steer({.devices = 1200, .cohort = 1000, .period = std::chrono::seconds(60), .next = milliseconds(700)});
  EXPECT_EQ(between, (ComeBack{How::meet, milliseconds(700)}));
  EXPECT_FALSE(steer({.devices = 1200, .cohort = 1000, .period = std::chrono::seconds(60), .next = {}}))
      << "an order is open: come as soon as you can";
  SeededRandom random(1, Purpose::test);
  EXPECT_EQ(draw(*between, random), milliseconds(700)) << "all at one moment";
}

TEST(ComeBack, SendsNobodyAwayForMoreThanADay) {
  const auto said =
      steer({.devices = 100'000'000, .cohort = 1000, .period = std::chrono::hours(1), .next = {}});
  ASSERT_TRUE(said);
  EXPECT_LE(said->time * 3 / 2, latest_come_back);
}

}  // namespace
}  // namespace sotto::rounds
