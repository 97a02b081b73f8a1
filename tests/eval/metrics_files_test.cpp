// The rounds of a run as tensorboard and MLflow read them, in every build: without libsodium too.

#include "eval/metrics_files.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "eval/training_run.h"
#include "fl/tiny_news.h"

namespace sotto::eval {
namespace {

class MetricsFiles : public ::testing::Test {
 protected:
  fs::path trained(const std::string& name, std::uint64_t seed) {
    TrainJob job;
    job.recipe = "fedrec";
    job.data = data_.path();
    job.out = runs_ / name;
    job.rounds = 2;
    job.seed = seed;
    job.assignments = {"cohort=4",       "word_size=8", "heads=2",    "head_size=4",
                       "pooling_size=4", "negatives=2", "model=nrms", "validation_impressions=0"};
    const auto outcome = train_run(job, dataset_, {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return job.out;
  }
  static std::string only_run(const fs::path& run) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(run / "mlruns" / "0"))
      if (entry.is_directory()) names.push_back(entry.path().filename());
    EXPECT_EQ(names.size(), 1U);
    return names.empty() ? "" : names.front();
  }

  TempFolder data_, runs_;
  data::Dataset dataset_ = fl::testing::tiny_news(data_);
};

TEST_F(MetricsFiles, MlflowHasALineOfEveryMeasurePerRoundUnderAnIdOfTheRun) {
  const fs::path run = trained("run", 1), other = trained("other", 2);
  for (const fs::path& one : {run, other}) {
    const Status written = write_metrics_files(one, "mlflow");
    ASSERT_TRUE(written) << written.error().message;
  }
  const std::string id = only_run(run);
  EXPECT_EQ(id.size(), 32U);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
  EXPECT_NE(id, only_run(other));
  const std::string meta = read_file(run / "mlruns" / "0" / id / "meta.yaml").value();
  EXPECT_NE(meta.find("run_id: " + id), std::string::npos) << meta;
  const std::string loss = read_file(run / "mlruns" / "0" / id / "metrics" / "loss").value();
  EXPECT_EQ(std::count(loss.begin(), loss.end(), '\n'), 2);

  ASSERT_TRUE(write_metrics_files(run, "mlflow"));
  EXPECT_EQ(only_run(run), id) << "the same run has the same name again";
}

TEST_F(MetricsFiles, TensorboardAndWhatThereIsNot) {
  const fs::path run = trained("run", 1);
  ASSERT_TRUE(write_metrics_files(run, "tensorboard"));
  EXPECT_GT(fs::file_size(run / "tensorboard" / "events.out.tfevents.0.sotto"), 100U);
  EXPECT_FALSE(write_metrics_files(run, "wandb"));
}

}  // namespace
}  // namespace sotto::eval
