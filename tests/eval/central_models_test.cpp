// Every news model from the command's point of view: it trains, learns, resumes and is measured.

#include <gtest/gtest.h>

#include <algorithm>

#include "eval/training_run.h"
#include "fl/tiny_news.h"
#include "model/news/model_registry.h"

namespace sotto::eval {
namespace {

const std::vector<std::string> few_steps = {"negatives=2", "batch=16", "learning_rate=0.02",
                                            "validation_impressions=0"};

TrainJob job_of(const std::string& recipe, const fs::path& out, std::int64_t rounds) {
  TrainJob job;
  job.recipe = recipe;
  job.out = out;
  job.rounds = rounds;
  job.assignments = few_steps;
  return job;
}

// The catalogue's model takes its items from their words, and ten tiny titles do not span a space: its runs
// are tested with the flagship's.
bool learns_items(const model::ModelEntry& entry) { return !entry.reads_setting("vector_size"); }

// Sizes that only some models have.
void shrink(TrainJob& job, const model::ModelEntry& entry) {
  const std::pair<const char*, const char*> sizes[] = {
      {"word_size", "12"},  {"heads", "2"},        {"head_size", "6"},
      {"filters", "12"},    {"pooling_size", "8"}, {"category_size", "4"},
      {"entity_size", "4"}, {"user_size", "4"},    {"dropout", "0.1"}};
  for (const auto& [name, value] : sizes)
    if (entry.reads_setting(name)) job.assignments.push_back(std::string(name) + "=" + value);
  if (entry.reads_setting("word_size")) job.assignments.emplace_back("word_scale=0.3");
  if (entry.reads_setting("bert")) job.assignments.emplace_back("learning_rate=0.001");
}

class CentralModel : public ::testing::TestWithParam<std::string_view> {
 protected:
  TrainJob job(const fs::path& out, std::int64_t rounds) const {
    TrainJob made = job_of("central", out, rounds);
    made.assignments.push_back("model=" + std::string(GetParam()));
    shrink(made, *model::find_model(GetParam()).value());
    return made;
  }
};

TEST_P(CentralModel, LearnsWhatReadersLike) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_news(data, 40);
  const auto outcome = train_run(job(runs / "run", 60), dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto& rounds = outcome->summary.rounds;
  EXPECT_LT(rounds.back().loss, 0.6 * rounds.front().loss);
  EXPECT_GT(outcome->test.mean.auc, 0.75);
  const auto again = evaluate_run(runs / "run", dataset);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_DOUBLE_EQ(std::get<metrics::MeanImpressionMetrics>(*again).mean.auc, outcome->test.mean.auc);
}

TEST_P(CentralModel, ResumedRunEqualsAnUninterruptedOneBitForBit) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_news(data);
  const auto straight = train_run(job(runs / "whole", 4), dataset, {});
  ASSERT_TRUE(straight) << straight.error().message;
  ASSERT_TRUE(train_run(job(runs / "parts", 2), dataset, {}));
  TrainJob rest = job(runs / "parts", 4);
  rest.resume = true;
  rest.assignments.clear();
  const auto resumed = train_run(rest, dataset, {});
  ASSERT_TRUE(resumed) << resumed.error().message;
  ASSERT_EQ(resumed->summary.rounds.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(resumed->summary.rounds[i].loss, straight->summary.rounds[i].loss) << "round " << i;
}

INSTANTIATE_TEST_SUITE_P(Models, CentralModel, ::testing::ValuesIn([] {
                           std::vector<std::string_view> names;
                           for (const auto& entry : model::models())
                             if (learns_items(entry)) names.push_back(entry.name);
                           return names;
                         }()),
                         [](const auto& test) {
                           std::string name(test.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST(CentralModels, OtherDataIsRefusedWhereItsUsersWouldBeReadAsOthers) {
  const TempFolder data, other, runs;
  const data::Dataset dataset = fl::testing::tiny_news(data), strangers = fl::testing::tiny_news(other, 14);
  for (const char* name : {"nrms", "lstur"}) {
    TrainJob job = job_of("central", runs / name, 1);
    job.assignments.push_back("model=" + std::string(name));
    shrink(job, *model::find_model(name).value());
    ASSERT_TRUE(train_run(job, dataset, {}));
    EXPECT_TRUE(evaluate_run(runs / name, dataset));
  }
  EXPECT_TRUE(evaluate_run({.run = runs / "nrms", .other_data = true}, strangers))
      << "words alone go with any data";
  const auto refused = evaluate_run({.run = runs / "lstur", .other_data = true}, strangers);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("on its own data"), std::string::npos) << refused.error().message;
}

TEST(CentralModels, ShowsTheSettingsThatTheChosenModelReadsAndNoOthers) {
  for (const auto& entry : model::models()) {
    const auto recipe = recipes::find_recipe("central").value()->make();
    SettingsTable table;
    ASSERT_TRUE(recipes::bind_settings(*recipe, table, {"model=" + std::string(entry.name)}));
    for (const char* name : {"heads", "filters", "user_size", "entity_size", "bert_size"}) {
      const auto rows = table.rows();
      const bool shown =
          std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
      const bool read =
          std::string_view(name) == "bert_size" ? entry.reads_setting("bert") : entry.reads_setting(name);
      EXPECT_EQ(shown, read) << name << " of " << entry.name;
    }
  }
}

TEST(CentralModels, AnUnknownModelIsRefusedWithAllNames) {
  const auto recipe = recipes::find_recipe("central").value()->make();
  SettingsTable table;
  const Status refused = recipes::bind_settings(*recipe, table, {"model=nmrs"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("nrms"), std::string::npos) << refused.error().message;
}

TrainJob federated_job(const fs::path& out, const std::string& model) {
  TrainJob job = job_of("fedrec", out, 2);
  std::erase(job.assignments, "batch=16");
  job.assignments.insert(job.assignments.end(), {"model=" + model, "cohort=4"});
  if (const auto entry = model::find_model(model)) shrink(job, **entry);
  return job;
}

TEST(Fedrec, TrainsTheModelsThatDevicesCanShare) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_news(data);
  for (const auto& entry : model::models()) {
    if (!learns_items(entry)) continue;
    const std::string name(entry.name);
    const auto outcome = train_run(federated_job(runs / name, name), dataset, {});
    EXPECT_EQ(outcome.has_value(), entry.federated()) << name;
    if (outcome) continue;
    EXPECT_NE(outcome.error().message.find("central --set model=" + name), std::string::npos)
        << outcome.error().message;
    EXPECT_FALSE(fs::exists(runs / name)) << "a refused run leaves nothing behind";
  }
}

TEST(Fedrec, UnknownModelNamesTheNearest) {
  const TempFolder data, runs;
  const auto refused = train_run(federated_job(runs / "run", "nmrs"), fl::testing::tiny_news(data), {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("did you mean 'nrms'"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace sotto::eval
