// The engine behind most experiments: rows x seeds, resumed, averaged, written.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/interrupt.h"
#include "eval/experiments/grid/grid_report.h"
#include "eval/experiments/grid/run_grid.h"
#include "eval/experiments/grid/side_by_side.h"
#include "fl/tiny_interactions.h"
#include "fl/tiny_news.h"
#include "report/well_formed.h"

namespace sotto::eval {
namespace {

const std::vector<std::string> narrow_rows = {"rounds=3",    "cohort=4",    "word_size=8",
                                              "heads=2",     "head_size=4", "pooling_size=4",
                                              "negatives=2", "batch=8",     "filters=8"};

class GridExperiment : public ::testing::Test {
 protected:
  GridExperiment() {
    grid.title = "A small grid";
    grid.about = "Two models.";
    grid.paper_data = "MSN-News";
    grid.shared = narrow_rows;
    grid.columns = news_columns();
    grid.plots = {{"auc", "AUC", "auc", "users", "AUC, %"},
                  {"loss", "Loss", "loss", "round", "loss", 1, false, false, PlotSource::rounds}};
    grid.rows = {{"central",
                  "central",
                  {"model=nrms", "validation_impressions=0"},
                  "",
                  paper_news(60, 30, 31, 32),
                  "nrms",
                  1},
                 {"federated", "fedrec", {"validation_impressions=0"}, "", {}, "nrms", 2}};
    request.data = data.path();
    request.out = out / "results";
    request.quick = true;
    request.seeds = 2;
    request.event = [this](const nlohmann::json& event) { events.push_back(event); };
  }
  ~GridExperiment() override { set_interrupted(false); }

  Result<ExperimentResult> run() { return run_grid(grid, "small", request, dataset); }
  std::string written(const char* file) const { return read_file(request.out / file).value(); }

  TempFolder data, out;
  data::Dataset dataset = fl::testing::tiny_news(data, 20);
  Grid grid;
  ExperimentRequest request;
  std::vector<nlohmann::json> events;
};

TEST_F(GridExperiment, TrainsEveryRowWithEverySeedAndAveragesThem) {
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->interrupted);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].at("label"), "central");
  EXPECT_EQ(events[1].at("label"), "federated");
  EXPECT_EQ(events[0].at("seed"), 1);
  EXPECT_EQ(events[2].at("seed"), 2);
  const double first = events[0].at("auc"), second = events[2].at("auc");
  const std::string csv = written("results.csv");
  EXPECT_NE(csv.find(fmt::format(",{:.7g},{:.7g},0.6,", (first + second) / 2, std::abs(first - second) / 2)),
            std::string::npos)
      << csv;
}

TEST_F(GridExperiment, EverythingWrittenIsMarkedAsQuickAndStandsBesideTheTrivialRows) {
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  const std::string html = written("report.html");
  for (const char* part : {"QUICK RUN", "another data set (MSN-News)", "random order", "most popular first",
                           "60.00", "Mean ± standard error over 2 seeds"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  EXPECT_NE(written("auc.svg").find("(quick run)"), std::string::npos);
  EXPECT_NE(written("results.csv").find("small,quick,tiny"), std::string::npos);
  EXPECT_EQ(result->text.find("QUICK RUN"), 0U);
  for (const auto& event : events) EXPECT_EQ(event.at("quick"), true);
  EXPECT_EQ(report::markup_problem(written("loss.svg")), "");
}

TEST_F(GridExperiment, ATrainedRowIsHeldAgainstPopularity) {
  request.seeds = 1;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  const std::string csv = written("results.csv");
  const auto commas = [](std::string_view line) { return std::ranges::count(line, ','); };
  const std::string_view header = std::string_view(csv).substr(0, csv.find('\n'));
  const auto cells_between = commas(header.substr(0, header.find(",auc,") + 1)) -
                             commas(header.substr(0, header.find(",label,") + 1));
  const auto number = [&](const std::string& label) {
    std::size_t at = csv.find("," + label + ",") + 1;
    for (auto cell = cells_between; cell > 0; --cell) at = csv.find(',', at) + 1;
    return std::stod(csv.substr(at));
  };
  for (const char* label : {"central", "federated"}) {
    const bool below = number(label) < number("most popular first");
    EXPECT_EQ(result->text.find(fmt::format("{} †", label)) != std::string::npos, below) << csv;
    EXPECT_EQ(written("report.html").find(fmt::format("{} †", label)) != std::string::npos, below);
  }
}

TEST_F(GridExperiment, FinishedRowsAreTakenAsTheyAreAndChangedOnesAreTrainedAgain) {
  ASSERT_TRUE(run());
  const auto before = events;
  const auto file_time = fs::last_write_time(request.out / "rows.jsonl");
  events.clear();
  ASSERT_TRUE(run());
  EXPECT_EQ(events, before);
  EXPECT_EQ(fs::last_write_time(request.out / "rows.jsonl"), file_time);

  grid.rows[1].settings.push_back("learning_rate=0.05");
  events.clear();
  ASSERT_TRUE(run());
  EXPECT_EQ(events[0], before[0]);
  EXPECT_NE(events[1].at("seconds"), before[1].at("seconds"));
  EXPECT_GT(fs::last_write_time(request.out / "rows.jsonl"), file_time);
}

TEST_F(GridExperiment, LaterSeedsJoinWhatEarlierOnesFinished) {
  request.seeds = 3;
  ASSERT_TRUE(run());
  const auto together = written("results.csv");
  const auto whole = events;
  request.out = out / "parts";
  request.seeds = 1;
  ASSERT_TRUE(run());
  events.clear();
  fs::remove_all(request.out / "runs");  // rows that were kept elsewhere come without their runs
  request.first_seed = 2;
  request.seeds = 2;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(events.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(events[i].at("seed"), whole[i].at("seed")) << i;
    EXPECT_EQ(events[i].at("auc"), whole[i].at("auc")) << i;
  }
  EXPECT_NE(written("report.html").find("Mean ± standard error over 3 seeds"), std::string::npos);
  std::set<std::string> trained;
  for (const auto& entry : fs::directory_iterator(request.out / "runs"))
    if (entry.is_directory()) trained.insert(entry.path().filename().string());
  EXPECT_EQ(trained.size(), 4U) << "two rows with two seeds";
  for (const std::string& run : trained) EXPECT_FALSE(run.ends_with("seed1")) << run;
  const std::string curves = written("loss.svg");
  EXPECT_NE(curves.find("<path d=\"M"), std::string::npos) << curves;
  const auto auc_of = [](const std::string& csv) {
    const auto line = csv.find("federated");
    return csv.substr(line, csv.find(",,", line) - line);
  };
  EXPECT_EQ(auc_of(written("results.csv")), auc_of(together));
}

TEST_F(GridExperiment, EarlierSeedsOfOtherSettingsDoNotJoin) {
  request.seeds = 1;
  ASSERT_TRUE(run());
  for (GridRow& row : grid.rows) row.settings.emplace_back("learning_rate=0.05");
  request.first_seed = 2;
  events.clear();
  ASSERT_TRUE(run());
  ASSERT_EQ(events.size(), 2U);
  for (const auto& event : events) EXPECT_EQ(event.at("seed"), 2);
  EXPECT_NE(written("report.html").find("One seed"), std::string::npos);
}

TEST_F(GridExperiment, OtherDataStartsOver) {
  request.seeds = 1;
  ASSERT_TRUE(run());
  const auto before = events;
  const TempFolder other;
  const data::Dataset larger = fl::testing::tiny_news(other, 30);
  request.data = other.path();
  events.clear();
  ASSERT_TRUE(run_grid(grid, "small", request, larger));
  EXPECT_NE(events[0].at("training_users"), before[0].at("training_users"));
}

TEST_F(GridExperiment, StopsBetweenRowsWhenInterruptedAndGoesOnWithTheSameNumbers) {
  ASSERT_TRUE(run());
  const auto whole = events;
  events.clear();
  request.out = out / "parts";
  request.event = [this](const nlohmann::json& event) {
    events.push_back(event);
    set_interrupted(true);
  };
  const auto stopped = run();
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(stopped->interrupted);
  EXPECT_FALSE(stopped->out_of_time) << "a signal stopped it";
  EXPECT_EQ(events.size(), 1U);
  EXPECT_NE(written("results.csv").find("central"), std::string::npos);
  set_interrupted(false);
  request.event = [this](const nlohmann::json& event) { events.push_back(event); };
  events.clear();
  ASSERT_TRUE(run());
  ASSERT_EQ(events.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(events[i].at("auc"), whole[i].at("auc")) << i;
}

TEST_F(GridExperiment, AStopTakesWhatIsFinishedBehindTheRowItStoppedAt) {
  // As processes side by side leave it: the later row is finished with both seeds, the first is not begun.
  const Grid whole = grid;
  grid.rows.erase(grid.rows.begin());
  ASSERT_TRUE(run());
  grid.rows = whole.rows;
  events.clear();
  set_interrupted(true);
  const auto stopped = run();
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(stopped->interrupted);
  ASSERT_EQ(events.size(), 2U);
  for (const auto& event : events) EXPECT_EQ(event.at("label"), "federated");
  EXPECT_NE(written("results.csv").find("small,quick (incomplete),tiny"), std::string::npos);
  EXPECT_NE(written("results.csv").find("federated"), std::string::npos);
  EXPECT_EQ(written("results.csv").find("central"), std::string::npos);
  EXPECT_NE(stopped->text.find("INCOMPLETE"), std::string::npos);
  EXPECT_NE(written("report.html").find("INCOMPLETE"), std::string::npos);

  // Trained by a worker, but in no file of finished rows yet.
  fs::remove(request.out / "rows.jsonl");
  events.clear();
  ASSERT_TRUE(run());
  EXPECT_EQ(events.size(), 2U);

  set_interrupted(false);
  ASSERT_TRUE(run());
  EXPECT_EQ(written("results.csv").find("incomplete"), std::string::npos);
  EXPECT_EQ(written("report.html").find("INCOMPLETE"), std::string::npos);
}

TEST_F(GridExperiment, AStopDropsNoRunThatWasMadeWithOtherSettings) {
  request.seeds = 1;
  ASSERT_TRUE(run());
  const RowSettings settings = row_settings(grid, grid.rows[1], {}).value();
  const fs::path trained =
      run_folder({grid.rows[1], settings, 1, data.path(), request.out / "runs", "cpu", "data"});
  ASSERT_TRUE(fs::exists(trained / "result.json"));
  fs::remove(request.out / "rows.jsonl");
  ASSERT_TRUE(write_file_atomically(trained.string() + ".made-with", "other data\n"));
  set_interrupted(true);
  events.clear();
  ASSERT_TRUE(run());
  EXPECT_EQ(events.size(), 1U);
  EXPECT_TRUE(fs::exists(trained / "result.json"));
}

// A clock that is looked at between rounds: every look takes a second.
TEST_F(GridExperiment, AQuickExperimentSharesItsTwoMinutesAndSaysWhatTheyCutShort) {
  double now = 0;
  request.now = [&now] { return now += 1; };
  request.seeds = 1;
  grid.shared.push_back("rounds=1000");
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->interrupted);
  EXPECT_LE(now, QuickClock::seconds_in_all);
  ASSERT_EQ(events.size(), 2U);
  const double first = events[0].at("stopped_after"), second = events[1].at("stopped_after");
  EXPECT_NEAR(first, 0.75 * 0.95 * QuickClock::seconds_in_all / 2, 3) << "its share of the time";
  EXPECT_GT(second, first) << "what the first row left is the second's";
  for (const auto& event : events) {
    EXPECT_EQ(event.at("rounds_planned"), 1000);
    EXPECT_EQ(event.at("rounds"), event.at("stopped_after"));
    EXPECT_GT(event.at("auc").get<double>(), 0) << "tested as it was then";
  }
  const std::string note = fmt::format("central: stopped by the clock after {:g} of 1000 rounds", first);
  EXPECT_NE(result->text.find(note), std::string::npos) << result->text;
  EXPECT_NE(written("report.html").find(note), std::string::npos);
  for (const std::string& text : {result->text, written("report.html")})
    EXPECT_NE(text.find("depend on the machine"), std::string::npos);
  EXPECT_NE(written("results.csv").find(fmt::format(",1,0,{:g},", first)), std::string::npos)
      << written("results.csv");
}

TEST_F(GridExperiment, ARowForWhichTheTwoMinutesAreOverIsLeftToTheNextCall) {
  double now = 0;
  request.now = [&now] { return now += 30; };
  const auto first = run();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->out_of_time);
  EXPECT_FALSE(first->interrupted) << "no signal stopped it";
  ASSERT_FALSE(events.empty());
  ASSERT_LT(events.size(), 4U);
  for (const auto& event : events) EXPECT_GE(event.at("rounds"), 1);
  EXPECT_NE(first->text.find("INCOMPLETE: the two minutes were over before all rows had 2 seeds"),
            std::string::npos)
      << first->text;
  for (int call = 0; call < 4 && events.size() < 4; ++call) {
    events.clear();
    const auto next = run();
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(next->out_of_time, events.size() < 4U);
  }
  EXPECT_EQ(events.size(), 4U);
  EXPECT_EQ(written("report.html").find("INCOMPLETE"), std::string::npos);
}

TEST_F(GridExperiment, OnlyQuickRunsAreTimedAndTheyTakeFewSeeds) {
  request.now = [] { return 1e9; };
  request.quick = false;
  request.seeds = 1;
  const auto whole = run();
  ASSERT_TRUE(whole) << whole.error().message;
  for (const auto& event : events) EXPECT_EQ(event.at("rounds"), 3);
  EXPECT_FALSE(events[0].contains("stopped_after"));
  request.quick = true;
  request.seeds = 6;
  const auto many = run();
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().message.find("at most 5 seeds"), std::string::npos) << many.error().message;
}

TEST_F(GridExperiment, AnInterruptedRunIsContinuedNotStartedAgain) {
  const RowSettings settings = row_settings(grid, grid.rows[1], {}).value();
  const auto job = [&](const char* folder) {
    return RowJob{grid.rows[1], settings, 1, data.path(), out / folder, "cpu", "data"};
  };
  const auto straight = run_row(job("straight"), dataset, {});
  ASSERT_TRUE(straight) << straight.error().message;
  const auto stopped = run_row(job("parts"), dataset, [](std::uint32_t round) {
    if (round == 1) set_interrupted(true);
  });
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_FALSE(stopped->has_value());
  set_interrupted(false);
  std::vector<std::uint32_t> rounds;
  const auto rest = run_row(job("parts"), dataset, [&](std::uint32_t round) { rounds.push_back(round); });
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rounds, std::vector<std::uint32_t>{3});
  EXPECT_EQ((*rest)->at("auc"), (*straight)->at("auc"));
}

TEST_F(GridExperiment, WorkersTrainWhatNoOtherDoesAndTheCollectorTrainsNothingAgain) {
  ASSERT_TRUE(run());
  const auto alone = events;
  events.clear();
  request.out = out / "shared";
  const RowSettings settings = row_settings(grid, grid.rows[1], {}).value();
  const fs::path taken =
      run_folder({grid.rows[1], settings, 2, data.path(), request.out / "runs", "cpu", "data"});
  fs::create_directories(request.out / "runs");
  request.worker = true;
  {
    const auto claim = Claim::take(taken);  // as another worker would
    ASSERT_TRUE(claim && *claim);
    EXPECT_FALSE(Claim::take(taken).value());
    ASSERT_TRUE(run());
    EXPECT_FALSE(fs::exists(taken / "result.json"));
  }
  EXPECT_TRUE(events.empty());
  EXPECT_FALSE(fs::exists(request.out / "results.csv"));
  ASSERT_TRUE(run());  // the claim ended with its holder
  const auto trained = fs::last_write_time(taken / "result.json");
  request.worker = false;
  ASSERT_TRUE(run());
  EXPECT_EQ(fs::last_write_time(taken / "result.json"), trained);
  ASSERT_EQ(events.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(events[i].at("auc"), alone[i].at("auc")) << i;
}

TEST(SideBySide, AFailedWorkerIsNamedByItsLog) {
  const TempFolder logs;
  int looks = 0;
  ASSERT_TRUE(run_workers({"/bin/sh", "-c", "echo done"}, 3, logs.path(), [&] { ++looks; }));
  EXPECT_GT(looks, 0);
  EXPECT_EQ(read_file(logs / "worker-3.log").value(), "done\n");
  const auto failing = run_workers({"/bin/sh", "-c", "echo no >&2; exit 1"}, 1, logs.path(), [] {});
  ASSERT_FALSE(failing);
  EXPECT_NE(failing.error().message.find("worker-1.log"), std::string::npos) << failing.error().message;
  EXPECT_EQ(read_file(logs / "worker-1.log").value(), "no\n");
  EXPECT_FALSE(run_workers({"/nowhere/program"}, 1, logs.path(), [] {}));
}

TEST(SideBySide, WorkersAreStoppedWithTheirParent) {
  const TempFolder logs;
  set_interrupted(true);
  const auto stopped = run_workers({"/bin/sh", "-c", "sleep 3; echo finished"}, 2, logs.path(), [] {});
  set_interrupted(false);
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(read_file(logs / "worker-1.log").value(), "");
}

TEST_F(GridExperiment, RowsThatDifferInTheirTestAloneShareARun) {
  request.seeds = 1;
  const std::vector<std::string> training = {"mode=paper", "basis_vectors=2", "padding=0"};
  grid.rows = {{"exact", "privaterec", training, "", {}, "", NAN, {"serving_epsilon=0"}},
               {"noisy",
                "privaterec",
                training,
                "",
                {},
                "",
                NAN,
                {"serving_epsilon=0.001"},
                QueryEpsilon{0.001, 0.002}}};
  ASSERT_TRUE(run());
  std::size_t runs = 0;
  for (const auto& entry : fs::directory_iterator(request.out / "runs"))
    runs += entry.is_directory() ? 1U : 0U;
  EXPECT_EQ(runs, 1U);
  EXPECT_EQ(events[0].at("seconds"), events[1].at("seconds"));
  EXPECT_NE(events[0].at("auc"), events[1].at("auc"));
  EXPECT_NE(written("report.html").find("query 0.002"), std::string::npos);
}

TEST_F(GridExperiment, ARowThatFailsIsNamedAndTheOthersAreFinished) {
  request.seeds = 1;
  grid.rows.insert(grid.rows.begin(),
                   {"worn out",
                    "fednewsrec",
                    {"mode=sound", "epsilon=50", "cohort=10", "rounds=6", "participations=1", "dropping=0",
                     "validation_impressions=0", "train_words=true"}});
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->failures.size(), 1U);
  EXPECT_EQ(result->failures[0].find("worn out: "), 0U) << result->failures[0];
  EXPECT_EQ(events.size(), 2U);
  EXPECT_NE(written("report.html").find("Failed: worn out"), std::string::npos);
}

TEST_F(GridExperiment, ThatAModelDivergesIsWhatCameOutOfItsRow) {
  grid.rows.insert(grid.rows.begin(), {"steep",
                                       "central",
                                       {"model=nrms", "validation_impressions=0", "optimiser=sgd",
                                        "learning_rate=1000", "rounds=30"}});
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->failures.empty()) << result->failures[0];
  ASSERT_EQ(events.size(), 6U);
  const int round = events[0].at("diverged");
  EXPECT_GT(round, 0);
  EXPECT_NE(events[0].at("why").get<std::string>().find("no longer a number"), std::string::npos);
  EXPECT_NE(result->text.find("diverged, round"), std::string::npos) << result->text;
  EXPECT_NE(written("report.html").find("diverged, round"), std::string::npos);
  EXPECT_NE(written("results.csv").find("steep,central,,2,2,,,,"), std::string::npos)
      << written("results.csv");
  EXPECT_EQ(report::markup_problem(written("auc.svg")), "");
  const auto before = events;
  const auto file_time = fs::last_write_time(request.out / "rows.jsonl");
  events.clear();
  ASSERT_TRUE(run());
  EXPECT_EQ(events, before) << "it is not trained again";
  EXPECT_EQ(fs::last_write_time(request.out / "rows.jsonl"), file_time);
}

TEST_F(GridExperiment, WorkersKeepThatAModelDiverged) {
  request.seeds = 1;
  grid.rows = {
      {"steep",
       "central",
       {"model=nrms", "validation_impressions=0", "optimiser=sgd", "learning_rate=1000", "rounds=30"}}};
  request.worker = true;
  ASSERT_TRUE(run());
  request.worker = false;
  const auto rows = fs::last_write_time(request.out / "rows.jsonl");
  ASSERT_TRUE(run());
  EXPECT_EQ(fs::last_write_time(request.out / "rows.jsonl"), rows) << "the worker has written it";
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(events[0].contains("diverged"));
}

TEST_F(GridExperiment, MistakesAreRefusedBeforeAnythingIsTrained) {
  request.assignments = {"chort=3"};
  const auto unknown = run();
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::bad_input);
  EXPECT_NE(unknown.error().message.find("did you mean 'cohort'"), std::string::npos)
      << unknown.error().message;
  request.assignments = {"cohort=0"};
  EXPECT_FALSE(run());
  request.assignments = {};
  grid.rows[1].label = grid.rows[0].label;
  EXPECT_FALSE(run());
  grid.rows[1].label = "federated";
  grid.rows[1].settings.push_back("no_such_setting=1");
  EXPECT_FALSE(run());
  EXPECT_FALSE(fs::exists(request.out));
}

TEST_F(GridExperiment, WhatTheUserSetsComesLastInEveryRowThatKnowsIt) {
  const auto central = row_settings(grid, grid.rows[0], {"batch=5", "cohort=3"}).value();
  const auto federated = row_settings(grid, grid.rows[1], {"batch=5", "cohort=3"}).value();
  EXPECT_EQ(nlohmann::json::parse(central.complete).at("batch"), 5);
  EXPECT_EQ(nlohmann::json::parse(federated.complete).at("cohort"), 3);
  EXPECT_FALSE(nlohmann::json::parse(federated.complete).contains("batch"));
  grid.rows[1].takes_shared = false;
  EXPECT_EQ(nlohmann::json::parse(row_settings(grid, grid.rows[1], {}).value().complete).at("word_size"),
            300);
}

TEST_F(GridExperiment, WhatARowKeepsForItselfIsNotSetFromOutside) {
  grid.shared.emplace_back("rounds=7");
  grid.rows[0].own = {"rounds"};
  const auto rounds = [&](std::size_t row) {
    const auto settings = row_settings(grid, grid.rows[row], {"rounds=9"}).value();
    return nlohmann::json::parse(settings.complete).at("rounds").get<int>();
  };
  EXPECT_NE(rounds(0), 7);
  EXPECT_NE(rounds(0), 9);
  EXPECT_EQ(rounds(1), 9);
}

TEST(GridResults, EveryNumberOfARunIsAMeasureUnderItsPath) {
  GridResult result;
  add_measures(result,
               {{"auc", 0.5}, {"epsilon", nullptr}, {"by_activity", {{{"hits10", 0.1}}, {{"hits10", 0.3}}}}});
  add_measures(result,
               {{"auc", 0.7}, {"epsilon", nullptr}, {"by_activity", {{{"hits10", 0.2}}, {{"hits10", 0.3}}}}});
  EXPECT_DOUBLE_EQ(result.mean("auc").mean, 0.6);
  EXPECT_DOUBLE_EQ(result.mean("by_activity.0.hits10").mean, 0.15);
  EXPECT_TRUE(std::isnan(result.mean("epsilon").mean));
  EXPECT_EQ(epsilon_texts(result).server, "none");
  EXPECT_EQ(epsilon_texts(result).claimed, "");
}

TEST(GridResults, DivergenceIsSaidWithItsRounds) {
  GridResult result;
  EXPECT_EQ(result.divergence(), "");
  EXPECT_FALSE(result.has_diverged());
  result.diverged = {4};
  EXPECT_EQ(result.divergence(), "diverged, round 4");
  EXPECT_TRUE(result.has_diverged());
  result.diverged = {4, 2};
  EXPECT_EQ(result.divergence(), "diverged, rounds 2 to 4");
  result.runs = {"a"};
  EXPECT_EQ(result.divergence(), "2 of 3 seeds diverged, rounds 2 to 4");
  EXPECT_FALSE(result.has_diverged());
  Grid grid;
  grid.columns = {{"auc", "AUC %"}};
  result.row.label = "steep";
  result.values["auc"] = {0.5};
  const GridOutcome outcome{grid, {"small", "tiny", "", "cpu", {}, 3, false}, {result}, {}, {}, {}};
  const std::string note = "steep: 2 of 3 seeds diverged, rounds 2 to 4; its numbers are of the others";
  EXPECT_NE(to_text(outcome).find(note), std::string::npos) << to_text(outcome);
  EXPECT_NE(to_html(outcome).find(note), std::string::npos);
  EXPECT_NE(to_csv(outcome).find("steep,,,3,2,"), std::string::npos) << to_csv(outcome);
}

// One row above popularity, one below, one that ranks nothing.
GridOutcome beside_popularity(const Grid& grid, double second) {
  const auto row = [](const char* label, std::map<std::string, std::vector<double>> values) {
    GridResult result;
    result.row.label = label;
    result.values = std::move(values);
    result.runs = {"a"};
    return result;
  };
  return {
      grid,
      {"small", "tiny", "", "cpu", {}, 1, false},
      {row("first", {{"auc", {0.61}}}), row("second", {{"auc", {second}}}), row("cost", {{"bytes", {5}}})},
      {{"", "random order", {{"auc", 0.5}}}, {"", "most popular first", {{"auc", 0.58}}}},
      {},
      {}};
}

TEST(GridResults, RowsBelowPopularityAreMarkedWhereverTheyAreShown) {
  Grid grid;
  grid.columns = {{"auc", "AUC %"}};
  const GridOutcome outcome = beside_popularity(grid, 0.57);
  const std::string text = to_text(outcome), html = to_html(outcome), csv = to_csv(outcome);
  for (const std::string* shown : {&text, &html}) {
    EXPECT_NE(shown->find("second †"), std::string::npos) << *shown;
    EXPECT_EQ(shown->find("first †"), std::string::npos);
    EXPECT_EQ(shown->find("cost †"), std::string::npos);
    EXPECT_NE(shown->find("† below popularity"), std::string::npos);
    EXPECT_NE(shown->find("the row says nothing about the order of systems"), std::string::npos);
  }
  EXPECT_NE(csv.find("auc_paper,below_popularity,paper_data,settings,unit_of_metrics\n"), std::string::npos)
      << csv;
  const auto cell_of = [&](const std::string& label) {
    const auto from = csv.find("," + label + ",");
    std::string line = csv.substr(from, csv.find('\n', from) - from);
    const std::string unit = R"(,"share, 0 to 1")";
    EXPECT_TRUE(line.ends_with(unit)) << line;
    line.resize(line.size() - unit.size());
    for (int last = 0; last < 2; ++last) line.erase(line.rfind(','));
    return line.substr(line.rfind(',') + 1);
  };
  EXPECT_EQ(cell_of("first"), "no");
  EXPECT_EQ(cell_of("second"), "yes");
  EXPECT_EQ(cell_of("cost"), "");
  EXPECT_EQ(cell_of("random order"), "");

  for (const std::string& shown :
       {to_text(beside_popularity(grid, 0.59)), to_html(beside_popularity(grid, 0.59))})
    EXPECT_EQ(shown.find("†"), std::string::npos);
}

// The noise of every row is seeded, so its ε holds for secret noise alone.
TEST(GridResults, AnEpsilonIsMarkedAsThatOfASimulationInTheFilesToo) {
  Grid grid;
  grid.columns = {{"auc", "AUC %"}};
  GridOutcome outcome = beside_popularity(grid, 0.57);
  EXPECT_EQ(simulation_note(outcome), "");
  outcome.results[0].values["epsilon"] = {8};
  outcome.results[0].values["delta"] = {1e-6};
  const std::string csv = to_csv(outcome);
  EXPECT_NE(csv.find("epsilon_claimed,epsilon_true,epsilon_published,delta,simulation,"), std::string::npos);
  EXPECT_NE(csv.find(",,8,none,1e-06,yes,0.61,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",,none,none,,,0.57,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",none,none,none,,,0.58,"), std::string::npos) << csv;
  for (const std::string& shown : {to_text(outcome), to_html(outcome)})
    EXPECT_NE(shown.find("simulation: no ε holds for these files"), std::string::npos);
}

TEST(GridResults, ARunWhoseRowsAreAllBelowPopularitySaysSo) {
  Grid grid;
  grid.columns = {{"auc", "AUC %"}};
  GridOutcome outcome = beside_popularity(grid, 0.57);
  outcome.results.erase(outcome.results.begin());
  EXPECT_NE(to_text(outcome).find("as all rows are, this run says nothing"), std::string::npos)
      << to_text(outcome);
}

TEST(GridResults, InteractionsAreHeldAgainstPopularityOfTheirOwnTestUsers) {
  GridResult result;
  result.values = {{"hits10", {0.10, 0.12}}, {"beside.popularity.hits10", {0.10, 0.14}}};
  EXPECT_EQ(is_below_popularity(result, {}), std::optional(true));
  result.values["hits10"] = {0.13, 0.12};
  EXPECT_EQ(is_below_popularity(result, {}), std::optional(false));
  result.values.clear();
  EXPECT_EQ(is_below_popularity(result, {}), std::nullopt) << "it diverged";
}

TEST(GridResults, InteractionsStandBesideTheRowsOfTheirOwnProtocol) {
  const TempFolder data, out;
  const data::Dataset dataset = fl::testing::tiny_ratings(data);
  Grid grid;
  grid.title = "Ratings";
  grid.shared = {"rounds=2", "cohort=8",  "embedding=4",   "hidden=4",
                 "layers=1", "factors=4", "local_epochs=2"};
  grid.columns = interaction_columns();
  grid.rows = {{"PrivRec", "privrec", {"rows=log"}, "log"}, {"FCF", "fcf", {"rows=distinct"}, "distinct"}};
  ExperimentRequest request;
  request.data = data.path();
  request.out = out / "results";
  ASSERT_TRUE(run_grid(grid, "ratings", request, dataset));
  const std::string csv = read_file(request.out / "results.csv").value();
  for (const char* row : {"log,popularity", "log,random order", "distinct,popularity",
                          "distinct,\"own items, then popularity\""})
    EXPECT_NE(csv.find(row), std::string::npos) << row << "\n" << csv;
  EXPECT_EQ(csv.find("quick"), std::string::npos);
}

}  // namespace
}  // namespace sotto::eval
