// A run releases its demand once: secret noise, kept in its folder, charged before it is drawn.

#include "publish/run_demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fl/tiny_news.h"
#include "publish/normal_rows.h"
#include "serving/run_privacy.h"

namespace sotto::publish {
namespace {

using serving::demand_charges;
using ::testing::HasSubstr;

class RunDemand : public ::testing::Test {
 protected:
  Result<Demand> ask(const fs::path& run, double epsilon = 1, std::uint32_t model = 1) const {
    fs::create_directories(run);
    ReaderSettings settings;
    settings.groups = 3, settings.demand_epsilon = epsilon;
    return demand_of_run(run, dataset, testing::normal_rows(dataset.item_count(), 4, model), settings, 1);
  }
  std::string refusal(const Result<Demand>& asked) const {
    return asked ? "nothing was refused" : asked.error().message;
  }

  const TempFolder data, runs;
  const data::Dataset dataset = sotto::fl::testing::tiny_news(data);
};

TEST_F(RunDemand, IsDrawnOncePerRunWithNoiseThatNobodyKnows) {
  const Demand a = ask(runs / "a").value(), again = ask(runs / "a").value(), b = ask(runs / "b").value();
  EXPECT_EQ(a.shares, again.shares);
  EXPECT_EQ(a.group_of, again.group_of);
  EXPECT_EQ(a.group_of, b.group_of) << "groups are public";
  EXPECT_NE(a.shares, b.shares);
  EXPECT_EQ(demand_charges(runs / "a")->releases, 1U);
  EXPECT_DOUBLE_EQ(demand_charges(runs / "a")->epsilon, 1);
}

TEST_F(RunDemand, IsKeptWhenTheRunIsTrainedOn) {
  const Demand before = ask(runs / "run", 1, 1).value(), after = ask(runs / "run", 1, 2).value();
  EXPECT_EQ(before.group_of, after.group_of) << "new item vectors, the groups that were released";
  EXPECT_EQ(before.shares, after.shares);
  EXPECT_EQ(demand_charges(runs / "run")->releases, 1U);
}

TEST_F(RunDemand, ALostReleaseIsMadeAndChargedAgain) {
  const Demand first = ask(runs / "run", 0.5).value();
  fs::remove(runs / "run" / "demand.json");
  EXPECT_NE(ask(runs / "run", 0.5)->shares, first.shares);
  EXPECT_EQ(demand_charges(runs / "run")->releases, 2U);
  EXPECT_DOUBLE_EQ(demand_charges(runs / "run")->epsilon, 1);
  EXPECT_THAT(serving::privacy_of_run(runs / "run")->text,
              HasSubstr("demand, released 2 times: epsilon 1 per training reader"));
}

TEST_F(RunDemand, RefusesAnotherBudgetAnotherCatalogueAndDamage) {
  ASSERT_TRUE(ask(runs / "run", 1));
  EXPECT_THAT(refusal(ask(runs / "run", 2)), HasSubstr("--demand-epsilon 1, or remove it"));
  EXPECT_EQ(demand_charges(runs / "run")->releases, 1U) << "nothing was drawn";
  std::ofstream(runs / "run" / "demand.json")
      << R"({"epsilon": 1, "catalogue": 5, "groups": [0], "shares": [1]})";
  EXPECT_THAT(refusal(ask(runs / "run")), HasSubstr("another catalogue"));
  std::ofstream(runs / "run" / "demand.json") << "{}";
  EXPECT_THAT(refusal(ask(runs / "run")), HasSubstr("damaged"));
  fs::remove(runs / "run" / "demand.json");
  std::ofstream(runs / "run" / serving::demand_charges_file) << "what?\n";
  EXPECT_THAT(refusal(ask(runs / "run")), HasSubstr("not known any more"));
}

}  // namespace
}  // namespace sotto::publish
