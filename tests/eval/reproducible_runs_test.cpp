// By default nobody can draw a run's noise again; a reproducible run says that no ε holds for its files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/binary_file.h"
#include "base/interrupt.h"
#include "eval/private_recipes.h"
#include "eval/small_newsroom.h"
#include "fl/run_log.h"
#include "fl/tiny_interactions.h"

namespace sotto::eval {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

torch::Tensor published(const fs::path& run) {
  const auto file = BinaryFileReader::open(run / "best.sotto", "checkpoint", 2).value();
  return fl::load_checkpoint(run / "best.sotto", std::string(file.text("layout").value())).value().parameters;
}

json read_json(const fs::path& file) { return json::parse(read_file(file, 1 << 20).value()); }

class Reproducible : public ::testing::TestWithParam<testing::PrivateRecipe> {};

TEST_P(Reproducible, RunsAreEqualAndSecretOnesAreNot) {
  const testing::SmallNewsroom news(60);
  const TempFolder ratings;
  const data::Dataset interactions = fl::testing::tiny_ratings(ratings, 60);
  const auto& tested = GetParam();
  const auto train = [&](const std::string& out, bool reproducible) {
    TrainJob job = news.job(tested.recipe, out, 2, testing::small_settings(tested.recipe));
    (tested.mode == "paper" ? job.mode : job.epsilon) = tested.mode == "paper" ? "paper" : "50";
    job.reproducible = reproducible;
    // The printed bound of 40 would drown a dozen users in noise.
    if (job.mode == "paper" && tested.recipe == "dp-privrec")
      job.assignments.emplace_back("printed_bound=0.1");
    const auto outcome = train_run(job, tested.takes_interactions() ? interactions : news.dataset, {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return published(job.out);
  };
  EXPECT_FALSE(torch::equal(train("a", false), train("b", false))) << "the same noise was drawn twice";
  EXPECT_TRUE(torch::equal(train("c", true), train("d", true)));
  EXPECT_EQ(read_json(news.runs / "a" / "run.json").at("reproducible"), false);
  EXPECT_EQ(read_json(news.runs / "c" / "run.json").at("reproducible"), true);
  EXPECT_TRUE(read_json(news.runs / "a" / "privacy.json").at("simulation").is_null());
  EXPECT_TRUE(read_json(news.runs / "a" / "result.json").at("simulation").is_null());
  EXPECT_THAT(read_file(news.runs / "a" / "privacy.txt").value(), Not(HasSubstr("simulation:")));
  EXPECT_THAT(read_file(news.runs / "c" / "privacy.txt").value(), HasSubstr("no ε holds for these files"));
}

// All that print an ε of their training.
std::vector<testing::PrivateRecipe> with_noise() {
  std::vector<testing::PrivateRecipe> cases;
  for (const auto& tested : testing::private_recipes())
    if (tested.mode == "sound" || (tested.recipe != "efficient-fedrec" && tested.recipe != "privaterec"))
      cases.push_back(tested);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Recipes, Reproducible, ::testing::ValuesIn(with_noise()),
                         [](const auto& test) { return test.param.label(); });

// With known noise, the item counts of two data sets that differ in one user differ in that user's items.
TEST(Reproducible, OneUserReplacedIsHiddenBySecretNoiseAlone) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  const auto counts = [&](const std::string& out, bool reproducible) {
    TrainJob job;
    job.recipe = "dp-svd", job.out = runs / out, job.epsilon = "1", job.reproducible = reproducible;
    const auto outcome = train_run(job, dataset, {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return published(job.out).slice(0, 0, 12);
  };
  EXPECT_EQ((counts("a", true) - counts("b", true)).count_nonzero().item<std::int64_t>(), 0);
  EXPECT_EQ((counts("c", false) - counts("d", false)).count_nonzero().item<std::int64_t>(), 12);
}

TEST(Reproducible, ARunStaysWhatItIsWhenItIsResumed) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  const auto begin = [&](const std::string& out, bool reproducible) {
    TrainJob job;
    job.recipe = "dp-svd", job.out = runs / out, job.epsilon = "16", job.reproducible = reproducible;
    const auto stop = [](const fl::RoundRecord&) { set_interrupted(true); };
    EXPECT_TRUE(train_run(job, dataset, {.round = stop}).value().summary.interrupted);
    set_interrupted(false);
  };
  const auto resume = [&](const std::string& out, bool reproducible) {
    TrainJob job;
    job.recipe = "dp-svd", job.out = runs / out, job.reproducible = reproducible, job.resume = true;
    return train_run(job, dataset, {});
  };
  begin("secret", false);
  EXPECT_THAT(testing::refusal(resume("secret", true)), HasSubstr("leave out --reproducible"));
  const auto gone_on = resume("secret", false);
  ASSERT_TRUE(gone_on) << gone_on.error().message;
  EXPECT_FALSE(gone_on->privacy->reproducible);
  begin("seeded", true);
  const auto again = resume("seeded", false);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->privacy->reproducible) << "some of its noise came from the seed";
}

}  // namespace
}  // namespace sotto::eval
