// Every experiment can be run as it is declared: nothing is trained here.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
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
#include "secagg/vectors/calibrated_plan.h"

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

// The clock of a quick experiment cuts rows short (grid_test.cpp); that it seldom has to is because what a
// row computes is bounded, whatever the size of the data.
TEST_P(Declaration, AQuickRowComputesNoMoreOnLargeData) {
  const ExperimentEntry& entry = GetParam();
  constexpr double clicks = 95, users = 1'000'000;
  const auto grid = entry.grid({true, "large", static_cast<std::uint64_t>(users), 100'000, {}, clicks});
  ASSERT_TRUE(grid) << grid.error().message;
  for (const GridRow& row : grid->rows) {
    const auto settings = row_settings(*grid, row, {});
    ASSERT_TRUE(settings) << row.label << ": " << settings.error().message;
    const auto trained = nlohmann::json::parse(settings->complete);
    const double rounds = trained.at("rounds"), epochs = std::max(trained.value("local_epochs", 1), 1),
                 devices = trained.value("cohort", trained.value("group", 0.0));
    if (row.recipe == "dp-svd") {
      EXPECT_LE(trained.at("items"), 100) << row.label << ": pairs of them";
      EXPECT_LE(trained.at("train_share").get<double>() * users, 10'000) << row.label;
      continue;
    }
    if (trained.contains("batch")) {
      EXPECT_EQ(devices, 0) << row.label;
      EXPECT_LE(rounds * trained.at("batch").get<double>(), 10'000) << row.label;
      continue;
    }
    if (row.recipe == "sotto") {
      EXPECT_LE(trained.at("user_share").get<double>() * users, 1501) << row.label;
      continue;
    }
    ASSERT_GT(devices, 0) << row.label << ": by what is its work bounded?";
    if (entry.needs == DataNeed::news) {
      EXPECT_LE(rounds * devices, 1500) << row.label;
    } else {
      EXPECT_LE(rounds * devices * epochs, 6000) << row.label;
    }
    // BERT on devices, and noise that every device would draw for all of its numbers.
    if (trained.value("model", "") == "plm-nr" && trained.contains("cohort")) {
      EXPECT_LE(rounds * devices, 120) << row.label;
    }
    if (trained.value("mode", "") == "sound" && devices > 50 && trained.contains("sums")) {
      EXPECT_EQ(trained.at("sums"), "law") << row.label;
    }
  }
}

// What follows a sign such as "ε_t = " in a row's group and label; 0 for ∞, as settings have it.
std::optional<double> named(const GridRow& row, const std::string& sign) {
  const std::string name = row.group + ", " + row.label;
  const auto place = name.rfind(sign);
  if (place == std::string::npos) return std::nullopt;
  const std::string value = name.substr(place + sign.size());
  return value.starts_with("∞") ? 0 : std::strtod(value.c_str(), nullptr);
}

// "--set training_epsilon=4" once trained with 4 under the label "ε_t = 10", and serving_epsilon=4 was
// ignored.
TEST_P(Declaration, EveryBudgetInANameIsTheOneThatIsUsedOrTheOtherIsRefused) {
  const ExperimentEntry& entry = GetParam();
  std::vector<std::vector<std::string>> asked = {{}};
  for (const char* budget : {"epsilon=4", "training_epsilon=4", "serving_epsilon=4", "training_epsilon=0",
                             "serving_epsilon=0", "mode=paper", "mode=sound", "against=server"})
    asked.push_back({budget});
  for (const bool quick : {true, false}) {
    for (const auto& given : asked) {
      const auto grid = entry.grid({quick, "newsroom", 1500, 800, given});
      ASSERT_TRUE(grid) << grid.error().message;
      for (const GridRow& row : grid->rows) {
        const std::string what = fmt::format("{}, {} with {}", row.group, row.label, fmt::join(given, ""));
        const auto settings = row_settings(*grid, row, given);
        if (!settings) {
          EXPECT_FALSE(given.empty()) << what << ": " << settings.error().message;
          EXPECT_EQ(settings.error().kind, ErrorKind::bad_input);
          // Nothing that is sound is trained without a budget of its own either.
          if (settings.error().message.find("is named after it") == std::string::npos) {
            EXPECT_TRUE(given.front().starts_with("mode=")) << what << ": " << settings.error().message;
          }
          continue;
        }
        auto used = nlohmann::json::parse(settings->complete);
        for (const std::string& assignment : row.at_test)
          used[assignment.substr(0, assignment.find('='))] =
              std::stod(assignment.substr(assignment.find('=') + 1));
        for (const auto& [sign, setting] :
             {std::pair{"ε_t = ", "training_epsilon"}, {"ε_s = ", "serving_epsilon"}, {"ε = ", "epsilon"}})
          if (const auto value = named(row, sign); value && used.contains(setting)) {
            EXPECT_EQ(*value, used.at(setting)) << what;
          }
        if (row.query && std::isfinite(row.query->claimed)) {
          EXPECT_EQ(row.query->claimed, used.at("serving_epsilon")) << what;
        }
        if (row.label.find("sound") != std::string::npos) {
          EXPECT_EQ(used.value("mode", "sound"), "sound") << what;
        }
        if (row.label.find("as printed") != std::string::npos && used.contains("mode")) {
          EXPECT_EQ(used.at("mode"), "paper") << what;
        }
      }
    }
  }
}

// A place on an axis is a name as well. A setting is on the axis if it is where the row is in every row of
// the group: one that is there in a single row may be so by chance.
TEST_P(Declaration, TheUserCannotMoveARowFromItsPlaceOnAnAxis) {
  const ExperimentEntry& entry = GetParam();
  const auto grid = entry.grid({false, "newsroom", 1500, 800, {}});
  ASSERT_TRUE(grid) << grid.error().message;
  std::map<std::string, std::set<std::string>> elsewhere;
  const auto own_settings = [](const GridRow& row) {
    std::set<std::string> own;
    for (const std::string& assignment : row.settings) own.insert(assignment.substr(0, assignment.find('=')));
    return own;
  };
  std::map<const GridRow*, nlohmann::json> used;
  for (const GridRow& row : grid->rows) {
    if (!std::isfinite(row.x)) continue;
    const auto plain = row_settings(*grid, row, {});
    ASSERT_TRUE(plain) << plain.error().message;
    const auto& complete = used[&row] = nlohmann::json::parse(plain->complete);
    for (const std::string& name : own_settings(row))
      if (!complete.contains(name) || !complete.at(name).is_number() || complete.at(name) != row.x)
        elsewhere[row.group].insert(name);
  }
  for (const auto& [row, complete] : used) {
    std::set<std::string> axis;
    for (const std::string& name : own_settings(*row))
      if (!elsewhere[row->group].contains(name) || name == "user_share") axis.insert(name);
    std::size_t fixed = 0;
    for (const std::string& name : axis) {
      const auto moved = row_settings(*grid, *row, {name + "=0.75"});
      if (!moved && moved.error().message.find("is named after it") != std::string::npos) ++fixed;
    }
    EXPECT_TRUE(fixed > 0 || axis.empty())
        << row->group << ", " << row->label << ": " << fmt::format("{}", fmt::join(axis, ", "));
  }
}

TEST_P(Declaration, ColumnsOfMetricsAreInPercentAndSaySo) {
  const auto grid = GetParam().grid({true, "newsroom", 1500, 800, {}});
  ASSERT_TRUE(grid) << grid.error().message;
  for (const GridColumn& column : grid->columns) {
    const bool is_metric = column.measure.find("auc") == 0 || column.measure.find("mrr") == 0 ||
                           column.measure.find("ndcg") != std::string::npos ||
                           column.measure.find("hits") != std::string::npos;
    EXPECT_EQ(is_metric, column.heading.find('%') != std::string::npos) << column.heading;
    if (is_metric) {
      EXPECT_EQ(column.factor, 100) << column.heading;
    }
  }
}

// "--set epsilon=4" once trained with 4 under the label "ε = 8".
TEST_P(Declaration, LabelsSayWhichBudgetIsTrainedAndWhoseViewItBounds) {
  const ExperimentEntry& entry = GetParam();
  for (const std::vector<std::string>& given :
       std::vector<std::vector<std::string>>{{}, {"epsilon=4"}, {"against=server"}, {"against=published"}}) {
    const auto grid = entry.grid({true, "newsroom", 1500, 800, given});
    ASSERT_TRUE(grid) << grid.error().message;
    for (const GridRow& row : grid->rows) {
      const auto settings = row_settings(*grid, row, given);
      ASSERT_TRUE(settings) << row.label << ": " << settings.error().message;
      const auto trained = nlohmann::json::parse(settings->complete);
      const std::string sign = "ε = ";
      const auto place = row.label.find(sign);
      if (place == std::string::npos || trained.value("mode", "sound") == "paper") continue;
      EXPECT_EQ(std::strtod(row.label.c_str() + place + sign.size(), nullptr), trained.at("epsilon"))
          << row.label;
      if (!trained.contains("against")) continue;
      if (given == std::vector<std::string>{"epsilon=4"}) {
        EXPECT_EQ(trained.at("against"), "server") << row.label << ": a number that a person types";
      }
      EXPECT_TRUE(row.label.ends_with(", " + trained.at("against").get<std::string>())) << row.label;
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

TEST(Experiments, KnowTheRealMindByItsSize) {
  const Grid grid = efficient_table2({false, "MIND", 94057, 65238, {}}).value();
  EXPECT_TRUE(is_paper_data(grid, "MIND", 94057));
  EXPECT_FALSE(is_paper_data(grid, "MIND", 1000000)) << "the large one";
  EXPECT_FALSE(is_paper_data(grid, "newsroom", 94057));
}

TEST(Experiments, PutThePapersAdressaNumbersBesideAdressa) {
  for (const auto make : {fednewsrec_table2, efficient_table2}) {
    const Grid grid = make({false, "Adressa", 640503, 20428, {}}).value();
    EXPECT_TRUE(is_paper_data(grid, "Adressa", 640503));
    const auto fcf =
        std::find_if(grid.rows.begin(), grid.rows.end(), [](const auto& row) { return row.label == "FCF"; });
    ASSERT_NE(fcf, grid.rows.end());
    EXPECT_EQ(fcf->paper.size(), 4U) << "AUC, MRR and both nDCG";
    EXPECT_GT(fcf->paper.front().value, 0.513) << "not the column of the other data set";
  }
}

TEST(Experiments, FiguresOfEfficientFedRecSayWhichNewsModelTheyTrain) {
  for (const auto make : {efficient_group_size, efficient_users}) {
    EXPECT_NE(make({false, "MIND", 1000, 800, {}})->title.find("not the paper's BERT"), std::string::npos);
    EXPECT_EQ(make({false, "MIND", 1000, 800, {"model=plm-nr"}})->title.find("NRMS"), std::string::npos);
  }
}

TEST(Experiments, FedNewsRecsFigureOfUsersTakesTwoPercentOfThem) {
  const auto grid = fednewsrec_users({false, "MIND", 50000, 800, {}});
  for (const GridRow& row : grid->rows) {
    const std::string cohort = fmt::format("cohort={:.0f}", 0.02 * row.x);
    EXPECT_NE(std::find(row.settings.begin(), row.settings.end(), cohort), row.settings.end()) << row.label;
  }
}

TEST(Experiments, PrivateRecsServingRowsIncludeDpFedRecTrainedWithoutNoise) {
  const GridContext context{false, "MIND", 50000, 800, {}};
  const auto rows_of = [](const Grid& grid, std::string_view group) {
    return std::count_if(grid.rows.begin(), grid.rows.end(), [&](const auto& row) {
      return row.recipe == "dp-fedrec" && row.group.starts_with(group);
    });
  };
  const Grid table = privaterec_table2(context).value(), figure = privaterec_serving_epsilon(context).value();
  for (const char* backbone : {"NAML", "NRMS", "PLM-NR"}) {
    EXPECT_EQ(rows_of(table, backbone), 2) << "with and without noise in training";
    EXPECT_EQ(rows_of(figure, backbone), 7) << "a curve";
  }
}

TEST(Experiments, DpPrivRecAsPrintedIsAllThatIsPrinted) {
  const Grid grid = privrec_dp({false, "MovieLens-1M", 6040, 3706, {}}).value();
  const auto row = std::find_if(grid.rows.begin(), grid.rows.end(),
                                [](const auto& one) { return one.label == "DP-PrivRec, as printed"; });
  ASSERT_NE(row, grid.rows.end());
  const auto settings = nlohmann::json::parse(row_settings(grid, *row, {})->complete);
  const nlohmann::json printed = {
      {"inputs", "paper"},   {"labels", "ratings"}, {"cohort", 30},
      {"rounds", 1000},      {"local_steps", 0},    {"proximal_norm", "paper"},
      {"optimiser", "sgd"},  {"learning_rate", 1},  {"printed_quantile", 0.9},
      {"printed_bound", 40}, {"printed_noise", 1},  {"printed_budget_share", 0.7}};
  for (const auto& [name, value] : printed.items()) EXPECT_EQ(settings.at(name), value) << name;
  EXPECT_GT(settings.at("local_epochs"), 1);
  EXPECT_GT(settings.at("tuning_epochs"), 0);
  EXPECT_GT(settings.at("proximal"), 0);
  EXPECT_EQ(grid.plots.front().source, PlotSource::cutoffs) << "Figures 3 and 4 are Hits@k by k";
  EXPECT_EQ(privrec_gamma_clip({false, "MovieLens-1M", 6040, 3706, {}})->plots.front().measure, "hits20");
}

TEST(Experiments, AQuickLookTakesAsLongOnLargeDataAsOnSmall) {
  const auto small = fednewsrec_table2({true, "newsroom", 1500, 800, {}, 12}),
             large = fednewsrec_table2({true, "MovieLens-1M as impressions", 60'000, 3883, {}, 95});
  ASSERT_TRUE(small && large);
  const auto has = [](const std::vector<std::string>& settings, const char* wanted) {
    return std::find(settings.begin(), settings.end(), wanted) != settings.end();
  };
  EXPECT_TRUE(has(small->shared, "rounds=40"));
  EXPECT_TRUE(has(large->shared, "rounds=8"));
  for (const GridRow& row : large->rows) {
    EXPECT_FALSE(has(row.settings, "cohort=6000")) << row.label;
    if (row.recipe == "sotto") {
      EXPECT_TRUE(has(row.settings, "user_share=0.025000")) << row.label;
    }
  }
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
  const std::string csv = read_file(request.out / "results.csv", 1 << 20).value();
  std::size_t infinite = 0;
  for (std::size_t at = csv.find(",0,∞"); at != std::string::npos; at = csv.find(",0,∞", at + 1)) ++infinite;
  EXPECT_EQ(infinite, 12U) << "the column δ = 0";
}

// At the size of MovieLens: the noise of the smallest ones is too much for the grid of the default bits.
TEST(PrivRecDp, EveryBudgetAgainstTheServerIsHeldByTheBitsOfItsRow) {
  const auto* entry = find_experiment("privrec-dp").value();
  constexpr std::uint64_t users = 6040;
  const auto grid = entry->grid({false, "MovieLens-1M", users, 3706, {}}).value();
  std::size_t rows = 0;
  for (const GridRow& row : grid.rows) {
    const auto asked = nlohmann::json::parse(row_settings(grid, row, {}).value().complete);
    if (row.recipe != "dp-privrec" || asked.at("mode") != "sound" || asked.at("against") != "server" ||
        asked.at("epsilon") > 2)
      continue;
    ++rows;
    const secagg::TrainingShape shape{.dimension = 506'000,
                                      .population = users * 8 / 10,
                                      .cohort = asked.at("cohort").get<std::uint64_t>(),
                                      .rounds = asked.at("rounds").get<std::uint64_t>()};
    secagg::TrainingBudget budget{.epsilon = asked.at("epsilon").get<double>(),
                                  .delta = asked.at("delta").get<double>(),
                                  .against = privacy::Adversary::server,
                                  .bits = asked.at("bits").get<unsigned>(),
                                  .dropping = asked.at("dropping").get<double>(),
                                  .corrupted = asked.at("corrupted").get<double>(),
                                  .clip = 1,
                                  .bound_follows = true};
    const auto held = secagg::calibrated_plan(budget, shape);
    ASSERT_TRUE(held) << row.label << ": " << held.error().message;
    EXPECT_LE(held->guarantee.server.epsilon, budget.epsilon) << row.label;
    EXPECT_GT(held->guarantee.server.epsilon, 0.99 * budget.epsilon) << row.label;
  }
  EXPECT_EQ(rows, 2U);
}

TEST(BertCost, CountsTheNumbersThatTheModelHolds) {
  for (const char* size : {"tiny", "mini"}) {
    const auto config = model::bert_of_size(size).value();
    std::int64_t held = 0;
    for (const auto& parameter : model::BertModel(config).parameters()) held += parameter.numel();
    EXPECT_EQ(bert_parameters(config), held) << size;
  }
  EXPECT_EQ(user_model_parameters(), 560400);
  // Table 3 of the paper: 10.01 million floats, pooling and projection included.
  EXPECT_NEAR(2e-6 * static_cast<double>(plm_nr_parameters(model::bert_of_size("tiny").value())), 10.01,
              0.005);
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
