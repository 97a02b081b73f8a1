// Every recipe that sums securely also trains with sums=law: the same run again where it is reproducible, and
// the simulated one bit for bit where there is no noise.

#include <gtest/gtest.h>

#include "base/binary_file.h"
#include "eval/private_recipes.h"
#include "eval/small_newsroom.h"
#include "fl/run_log.h"
#include "fl/tiny_interactions.h"

namespace sotto::eval {
namespace {

torch::Tensor parameters_of(const fs::path& run) {
  const auto file = BinaryFileReader::open(run / "last.sotto", "checkpoint", 2).value();
  return fl::load_checkpoint(run / "last.sotto", std::string(file.text("layout").value())).value().parameters;
}

class LawRuns : public ::testing::TestWithParam<testing::PrivateRecipe> {};

TEST_P(LawRuns, AreDrawnByTheSeedOnlyIfReproducibleAndSaySo) {
  const testing::SmallNewsroom news(60);
  const TempFolder ratings;
  const data::Dataset interactions = fl::testing::tiny_ratings(ratings, 60);
  const auto& tested = GetParam();
  const bool noisy = tested.mode == "sound";
  int number = 0;
  const auto train = [&](const std::string& sums, bool reproducible) {
    auto settings = testing::small_settings(tested.recipe);
    settings.push_back("sums=" + sums);
    TrainJob job = news.job(tested.recipe, sums + std::to_string(number++), 2, settings);
    job.reproducible = reproducible;
    (noisy ? job.epsilon : job.mode) = noisy ? "50" : "paper";
    const auto outcome = train_run(job, tested.takes_interactions() ? interactions : news.dataset, {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    if (noisy) {
      EXPECT_NE(read_file(job.out / "privacy.json", 1 << 20).value().find("sums=" + sums), std::string::npos);
    }
    return parameters_of(job.out);
  };
  const torch::Tensor law = train("law", true);
  EXPECT_TRUE(torch::equal(law, train("law", true)));
  // Simulated devices draw every share; without noise there is nothing else to draw.
  EXPECT_EQ(torch::equal(law, train("simulated", true)), !noisy);
  if (noisy) {
    EXPECT_FALSE(torch::equal(train("law", false), train("law", false)));
  }
}

std::vector<testing::PrivateRecipe> summed_recipes() {
  std::vector<testing::PrivateRecipe> cases;
  for (const auto& tested : testing::private_recipes())
    if (tested.mode == "sound" || tested.recipe == "efficient-fedrec") cases.push_back(tested);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Recipes, LawRuns, ::testing::ValuesIn(summed_recipes()),
                         [](const auto& test) { return test.param.label(); });

}  // namespace
}  // namespace sotto::eval
