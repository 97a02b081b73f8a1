// Every experiment can be run as it is declared: nothing is trained here.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "eval/experiments/efficient_costs.h"
#include "eval/experiments/experiment.h"
#include "eval/experiments/grid/run_grid.h"
#include "eval/experiments/paper_experiments.h"
#include "eval/training_run.h"
#include "fl/tiny_interactions.h"
#include "fl/tiny_news.h"
#include "model/bert/bert_model.h"

namespace sotto::eval {
namespace {

class Declaration : public ::testing::TestWithParam<ExperimentEntry> {};

TEST_P(Declaration, EveryRowIsAcceptedByItsRecipeAtEverySize) {
  const ExperimentEntry& entry = GetParam();
  for (const bool quick : {true, false}) {
    for (const std::uint64_t users : {1500U, 50000U, 100000U}) {
      const auto grid = entry.grid({quick, users == 50000 ? "Frappe" : "newsroom", users, 800, {}});
      ASSERT_TRUE(grid) << grid.error().message;
      const auto checked = check_grid(*grid, {});
      EXPECT_TRUE(checked) << (checked ? "" : checked.error().message);
      EXPECT_FALSE(grid->title.empty() || grid->about.empty() || grid->paper_data.empty());
      std::set<std::string> measures, files;
      for (const GridColumn& column : grid->columns) EXPECT_TRUE(measures.insert(column.measure).second);
      for (const GridPlot& plot : grid->plots) EXPECT_TRUE(files.insert(plot.file).second) << plot.file;
      for (const GridRow& row : grid->rows)
        for (const PaperNumber& number : row.paper)
          EXPECT_TRUE(measures.contains(number.measure)) << row.label << " " << number.measure;
    }
  }
}

std::vector<ExperimentEntry> grids() {
  std::vector<ExperimentEntry> found;
  for (const ExperimentEntry& entry : experiments())
    if (entry.grid != nullptr) found.push_back(entry);
  return found;
}

INSTANTIATE_TEST_SUITE_P(Experiments, Declaration, ::testing::ValuesIn(grids()), [](const auto& test) {
  std::string name(test.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Experiments, HaveOneNameOneWayToRunAndStandByPaper) {
  std::set<std::string_view> names, papers;
  std::string_view paper;
  for (const ExperimentEntry& entry : experiments()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_NE(entry.grid == nullptr, entry.run == nullptr) << entry.name;
    if (entry.paper != paper) {
      EXPECT_TRUE(papers.insert(entry.paper).second) << entry.name;
    }
    paper = entry.paper;
  }
  EXPECT_GE(names.size(), 26U);
}

std::string refusal(const char* experiment, const fs::path& data, const fs::path& out, bool quick) {
  ExperimentRequest request;
  request.data = data;
  request.out = out;
  request.quick = quick;
  const auto result = run_experiment(*find_experiment(experiment).value(), request);
  if (result) return "accepted";
  EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
  return result.error().message;
}

TEST(Experiments, LeaveOutRowsThatTheDataCannotGive) {
  const auto has = [](const Grid& grid, std::string_view label) {
    return std::any_of(grid.rows.begin(), grid.rows.end(),
                       [&](const auto& row) { return row.label == label; });
  };
  GridContext context;
  context.users = context.items = 1000;
  context.data = "Frappe";
  EXPECT_TRUE(has(privrec_frappe(context).value(), "PrivRec, leaking"));
  EXPECT_FALSE(has(privrec_movielens(context).value(), "PrivRec, as printed"));
  context.data = "MovieLens-1M";
  EXPECT_FALSE(has(privrec_frappe(context).value(), "PrivRec, leaking"));
  EXPECT_TRUE(has(privrec_movielens(context).value(), "PrivRec, as printed"));
}

TEST(Experiments, SayHowToGetTheDataTheyNeed) {
  const TempFolder folder, news, ratings;
  fl::testing::tiny_news(news);
  fl::testing::tiny_ratings(ratings);
  const fs::path out = folder / "out";
  EXPECT_NE(refusal("privrec-movielens", "", out, true).find("sotto data import movielens"),
            std::string::npos);
  EXPECT_NE(refusal("fednewsrec-table2", "", out, false).find("--quick"), std::string::npos);
  EXPECT_NE(refusal("privrec-movielens", news.path(), out, true).find("has no interactions"),
            std::string::npos);
  EXPECT_NE(refusal("fednewsrec-table2", ratings.path(), out, true).find("has no impressions"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(out));
}

TEST(Experiments, TheAccountantsTablesNeedNoData) {
  const TempFolder folder;
  ExperimentRequest request;
  request.out = folder / "out";
  std::vector<nlohmann::json> events;
  request.event = [&](const nlohmann::json& event) { events.push_back(event); };
  const auto result = run_experiment(*find_experiment("privrec-accountant").value(), request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(events.size(), 36U);
  for (const auto& event : events)
    EXPECT_NEAR(event.at("epsilon_reproduced").get<double>(), event.at("epsilon_paper").get<double>(), 1e-4);
  for (const auto& file : result->files) EXPECT_GT(fs::file_size(file), 500U) << file;
}

TEST(BertCost, CountsTheNumbersThatTheModelHolds) {
  for (const char* size : {"tiny", "mini"}) {
    const auto config = model::bert_of_size(size).value();
    std::int64_t held = 0;
    for (const auto& parameter : model::BertModel(config).parameters()) held += parameter.numel();
    EXPECT_EQ(bert_parameters(config), held) << size;
  }
  EXPECT_EQ(user_model_parameters(), 560400);
}

TEST(GroupCost, AUsersItemsAreThoseOfItsTrainingImpressions) {
  const TempFolder folder;
  const data::Dataset dataset = fl::testing::tiny_news(folder, 12);
  const auto sets = training_items(dataset, 100, 1);
  ASSERT_EQ(sets.size(), 12U);
  // User 2: history {0, 2}; clicked 4 and 6 with 5, 7 and 9 shown beside; 8 is shown on the test day only.
  EXPECT_EQ(std::set(sets[2].begin(), sets[2].end()), (std::set<std::uint32_t>{0, 2, 4, 5, 6, 7, 9}));
}

TEST(FedNewsRecAblation, ThePartLeftOutHasNoParametersAndTheRestStillLearns) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_news(data, 20);
  std::map<std::string, std::int64_t> parameters;
  for (const std::string parts : {"both", "long", "short"}) {
    TrainJob job;
    job.recipe = "fedrec";
    job.out = runs / parts;
    job.rounds = 30;
    job.assignments = {"cohort=20",
                       "word_size=8",
                       "heads=2",
                       "head_size=4",
                       "negatives=2",
                       "pooling_size=4",
                       "learning_rate=0.02",
                       "validation_impressions=0",
                       "interests=" + parts};
    const auto outcome = train_run(job, dataset, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_LT(outcome->summary.rounds.back().loss, outcome->summary.rounds.front().loss) << parts;
    parameters[parts] = outcome->parameters;
  }
  // Pooling over two vectors merges the parts: 8 x 4 weights, bias and query of 4.
  const std::int64_t merging = 8 * 4 + 4 + 4, attention = 3 * 8 * 8, pooling = 8 * 4 + 4 + 4,
                     recurrent = 3 * (8 * 8 + 8 * 8 + 8);
  EXPECT_EQ(parameters["both"] - parameters["long"], merging + recurrent);
  EXPECT_EQ(parameters["both"] - parameters["short"], merging + attention + pooling);
}

}  // namespace
}  // namespace sotto::eval
