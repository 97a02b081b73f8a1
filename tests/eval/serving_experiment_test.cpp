#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "eval/experiments/experiment.h"
#include "eval/training_run.h"
#include "fl/tiny_news.h"
#include "privacy/accounting/datasheet.h"
#include "serving/run_privacy.h"

namespace sotto::eval {
namespace {

class ServingExperiment : public ::testing::Test {
 protected:
  ServingExperiment() {
    TrainJob job;
    job.recipe = "central";
    job.out = folder / "run";
    job.rounds = 3;
    job.assignments = {"model=nrms",
                       "negatives=2",
                       "word_size=8",
                       "heads=2",
                       "head_size=4",
                       "pooling_size=4",
                       "validation_impressions=0"};
    const auto trained = train_run(job, fl::testing::tiny_news(data, 20, 60), {});
    if (!trained) throw std::runtime_error(trained.error().message);
    request.data = data.path();
    request.run = folder / "run";
    request.out = folder / "out";
    request.quick = true;
    request.assignments = {"readers=400", "groups=4"};
    request.event = [this](const nlohmann::json& event) { events.push_back(event); };
  }
  TempFolder data, folder;
  ExperimentRequest request;
  std::vector<nlohmann::json> events;
};

TEST_F(ServingExperiment, WritesEveryRowWithItsTrueEpsilonAndGoesOnWhereItStopped) {
  const auto* entry = find_experiment("serving-epsilon").value();
  const auto result = run_experiment(*entry, request);
  ASSERT_TRUE(result) << result.error().message;
  for (const auto& file : result->files) EXPECT_GT(fs::file_size(file), 100U) << file;
  ASSERT_GT(events.size(), 20U);
  for (const auto& event : events) {
    EXPECT_EQ(event.at("quick"), true);
    const bool noisy = !event.at("epsilon_asked").is_null();
    EXPECT_EQ(event.at("epsilon_answer").is_number(), noisy) << event.dump();
    if (noisy) {
      EXPECT_GE(event.at("epsilon_answer").get<double>(), 0.999 * event.at("epsilon_asked").get<double>());
    }
    EXPECT_TRUE(event.at("epsilon").is_null())
        << "the vectors were trained on the same readers, without noise";
  }
  EXPECT_NE(read_file(request.out / "serving-epsilon.csv", 1 << 20)->find("average-user,0,0,0,0,none,0"),
            std::string::npos);
  EXPECT_NE(read_file(request.out / "report.html", 1 << 22)->find("simulation: no ε holds for these files"),
            std::string::npos);
  EXPECT_NE(read_file(request.out / "report.html", 1 << 22)->find("no ε, so none holds for any row"),
            std::string::npos);
  EXPECT_EQ(events[0].at("mechanism"), "average-user");
  EXPECT_EQ(events[1].at("mechanism"), "non-private");

#ifdef SOTTO_HAVE_NET
  // Asked blindly, by one probe and by three: nothing is told, and what comes back of so small a pool is all
  // of it, ranked as well as without privacy but for the rounding.
  std::vector<std::size_t> probes;
  for (const auto& event : events) {
    if (event.at("mechanism") != "blind") continue;
    probes.push_back(event.at("size"));
    EXPECT_EQ(event.at("epsilon_answer"), 0);
    EXPECT_EQ(event.at("delta_answer"), 0);
    EXPECT_GT(event.at("pool_score10_share").get<double>(), 0.9) << event.dump();
    EXPECT_GT(event.at("reranked_score10_share").get<double>(), 0.99) << event.dump();
  }
  EXPECT_EQ(probes, (std::vector<std::size_t>{1, 3}));
#endif

  // Finished rows are taken as they are.
  const fs::path rows = request.out / "rows.jsonl";
  const auto written = fs::last_write_time(rows);
  const auto before = events;
  events.clear();
  ASSERT_TRUE(run_experiment(*entry, request));
  EXPECT_EQ(fs::last_write_time(rows), written);
  EXPECT_EQ(events, before);
}

TEST_F(ServingExperiment, AddsWhatTrainingAndDemandToldToEveryAnswer) {
  // As if the training had kept this budget.
  privacy::PrivacyDatasheet sheet{.delta = 1e-6, .epsilon_server = 4};
  sheet.reproducible = true;
  ASSERT_TRUE(write_file_atomically(request.run / "privacy.json", privacy::to_json(sheet)));
  // And had been served with a release of demand.
  ASSERT_TRUE(write_file_atomically(request.run / serving::demand_charges_file, "{\"epsilon\":0.25}\n"));
  request.assignments.push_back("demand_epsilon=0.5");
  ASSERT_TRUE(run_experiment(*find_experiment("serving-epsilon").value(), request));
  bool seen_vdp = false;
  for (const auto& event : events) {
    const std::string mechanism = event.at("mechanism");
    if (event.at("epsilon_answer").is_null()) {
      EXPECT_TRUE(event.at("epsilon").is_null()) << event.dump();
      continue;
    }
    // Neither is made of the readers who follow the released demand.
    const double demand = mechanism == "vdp-paper" || mechanism == "blind" ? 0 : 0.5;
    seen_vdp = seen_vdp || mechanism == "vdp-paper";
    EXPECT_NEAR(event.at("epsilon").get<double>(),
                4 + 0.25 + demand + event.at("epsilon_answer").get<double>(), 1e-12)
        << event.dump();
    EXPECT_NE(event.at("simulation").get<std::string>().find("training and answers"), std::string::npos);
    EXPECT_GE(event.at("delta").get<double>(), 1e-6);
  }
  EXPECT_TRUE(seen_vdp);
  EXPECT_EQ(events[0].at("mechanism"), "average-user");
  EXPECT_NE(read_file(request.out / "serving-epsilon.csv", 1 << 20)->find(",quick,training and answers,"),
            std::string::npos);
  EXPECT_EQ(events[0].at("epsilon"), 4.75) << "an average that followed the demand tells about its readers";
}

TEST_F(ServingExperiment, AQuickOneIsOverAfterTwoMinutesAndGoesOnWithTheRowsItDidNotReach) {
  double now = 0;
  request.now = [&now] { return now += 5; };
  request.run.clear();
  const auto* entry = find_experiment("serving-epsilon").value();
  const auto first = run_experiment(*entry, request);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->out_of_time);
  EXPECT_FALSE(first->interrupted) << "no signal stopped it";
  EXPECT_LE(now, QuickClock::seconds_in_all + 10);
  const std::size_t reached = events.size();
  EXPECT_GT(reached, 0U);
  for (const char* part : {"of 40 rounds", "INCOMPLETE", "depend on the machine"}) {
    EXPECT_NE(first->text.find(part), std::string::npos) << part << "\n" << first->text;
    EXPECT_NE(read_file(request.out / "report.html", 1 << 22)->find(part), std::string::npos) << part;
  }
  events.clear();
  request.now = [] { return 0.0; };
  const auto rest = run_experiment(*entry, request);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_FALSE(rest->out_of_time || rest->interrupted);
  EXPECT_GT(events.size(), reached);
  EXPECT_EQ(rest->text.find("INCOMPLETE"), std::string::npos);
}

TEST_F(ServingExperiment, RefusesWrongSettingsAndUnknownNames) {
  request.assignments = {"readrs=5"};
  EXPECT_FALSE(run_experiment(*find_experiment("serving-epsilon").value(), request).has_value());
  const auto unknown = find_experiment("serving-epsilom");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("serving-epsilon"), std::string::npos);
}

}  // namespace
}  // namespace sotto::eval
