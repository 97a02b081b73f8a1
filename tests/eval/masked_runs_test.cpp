// Training through the clients and the server of secure aggregation is the simulated training, bit for bit:
// parameters, optimiser and clipping bound.

#include <gtest/gtest.h>

#include "base/binary_file.h"
#include "eval/private_recipes.h"
#include "eval/small_newsroom.h"
#include "fl/run_log.h"
#include "fl/tiny_interactions.h"

#ifdef SOTTO_HAVE_PROTOCOL

namespace sotto::eval {
namespace {

fl::Checkpoint last_of(const fs::path& run) {
  const auto file = BinaryFileReader::open(run / "last.sotto", "checkpoint", 2).value();
  return fl::load_checkpoint(run / "last.sotto", std::string(file.text("layout").value())).value();
}

bool same(const fl::Checkpoint& a, const fl::Checkpoint& b) {
  bool equal = a.rounds_done == b.rounds_done && torch::equal(a.parameters, b.parameters) &&
               a.optimiser.size() == b.optimiser.size();
  for (std::size_t i = 0; equal && i < a.optimiser.size(); ++i)
    equal = torch::equal(a.optimiser[i], b.optimiser[i]);
  return equal;
}

class MaskedRuns : public ::testing::TestWithParam<testing::PrivateRecipe> {};

TEST_P(MaskedRuns, EqualSimulatedOnesBitForBit) {
  const testing::SmallNewsroom news(60);
  const TempFolder ratings;
  const data::Dataset interactions = fl::testing::tiny_ratings(ratings, 60);
  const auto& tested = GetParam();
  const auto train = [&](const std::string& sums, const std::string& server) {
    auto settings = testing::small_settings(tested.recipe);
    settings.push_back("sums=" + sums);
    settings.push_back("server=" + server);
    TrainJob job = news.job(tested.recipe, sums + "-" + server, 2, settings);
    (tested.mode == "paper" ? job.mode : job.epsilon) = tested.mode == "paper" ? "paper" : "50";
    const auto outcome = train_run(job, tested.takes_interactions() ? interactions : news.dataset, {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return std::pair(last_of(job.out), outcome->bytes_up);
  };
  const auto simulated = train("simulated", "semi-honest");
  for (const char* server : {"semi-honest", "active"}) {
    const auto masked = train("masked", server);
    EXPECT_TRUE(same(masked.first, simulated.first)) << server << ": the checkpoints differ";
    EXPECT_GT(masked.second, simulated.second) << server << ": keys and shares travel too";
  }
}

// Secure sums are what every sound recipe, and Efficient-FedRec as printed, is made of.
std::vector<testing::PrivateRecipe> with_secure_sums() {
  std::vector<testing::PrivateRecipe> cases;
  for (const auto& tested : testing::private_recipes())
    if (tested.mode == "sound" || tested.recipe == "efficient-fedrec") cases.push_back(tested);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Recipes, MaskedRuns, ::testing::ValuesIn(with_secure_sums()),
                         [](const auto& test) { return test.param.label(); });

}  // namespace
}  // namespace sotto::eval

#endif
