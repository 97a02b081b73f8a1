// PLM-NR with a checkpoint from the command's point of view.

#include <gtest/gtest.h>

#include "eval/training_run.h"
#include "fl/tiny_news.h"
#include "model/tiny_bert.h"

namespace sotto::eval {
namespace {

constexpr const char* vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nred\nblue\nfire\nsea\nnumber\n,\n.\n";

class PlmNrRun : public ::testing::Test {
 protected:
  PlmNrRun() : dataset_(fl::testing::tiny_news(data_)) {
    model::testing::write_tiny_checkpoint(bert_.path());
    EXPECT_TRUE(write_file_atomically(bert_ / "vocab.txt", vocabulary));
    // Random weights tell titles apart, as those of tiny_bert() hardly do.
    torch::manual_seed(1);
    model::BertModel random(model::testing::tiny_config());
    random.random_start();
    const model::testing::StoredTensors stored(random, torch::kFloat32, text::TensorType::f32);
    EXPECT_TRUE(text::write_safetensors(bert_ / "model.safetensors", stored.views));
    job_.recipe = "central";
    job_.out = runs_ / "run";
    job_.rounds = 60;
    job_.assignments = {"model=plm-nr",       "bert=" + bert_.path().string(),
                        "max_pieces=7",       "heads=2",
                        "head_size=4",        "pooling_size=5",
                        "learning_rate=0.01", "negatives=2",
                        "batch=16",           "validation_impressions=0",
                        "dropout=0",          "trainable_layers=all"};
  }
  TempFolder data_, runs_, bert_;
  data::Dataset dataset_;
  TrainJob job_;
};

TEST_F(PlmNrRun, LearnsAndIsMeasuredAgainAsItWas) {
  const auto outcome = train_run(job_, dataset_, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_LT(outcome->summary.rounds.back().loss, outcome->summary.rounds.front().loss);
  EXPECT_FALSE(fs::exists(job_.out / "vocabulary.sotto")) << "the checkpoint has its own";
  const auto again = evaluate_run(job_.out, dataset_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_DOUBLE_EQ(std::get<metrics::MeanImpressionMetrics>(*again).mean.auc, outcome->test.mean.auc);
}

TEST_F(PlmNrRun, AnotherCheckpointInItsPlaceIsRefused) {
  job_.rounds = 1;
  ASSERT_TRUE(train_run(job_, dataset_, {}));
  model::testing::write_tiny_checkpoint(bert_.path());  // another vocabulary
  const auto refused = evaluate_run(job_.out, dataset_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("another BERT"), std::string::npos) << refused.error().message;
}

TEST_F(PlmNrRun, FederatedDevicesCountOnlyTheLayersThatLearn) {
  job_.recipe = "fedrec";
  job_.rounds = 2;
  std::erase(job_.assignments, "batch=16");
  job_.assignments.insert(job_.assignments.end(), {"cohort=4", "trainable_layers=none"});
  const auto frozen = train_run(job_, dataset_, {});
  ASSERT_TRUE(frozen) << frozen.error().message;
  job_.out = runs_ / "last";
  job_.assignments.back() = "trainable_layers=last 1";
  const auto last = train_run(job_, dataset_, {});
  ASSERT_TRUE(last) << last.error().message;
  const std::int64_t layer = 4 * (8 * 8 + 8) + (8 * 12 + 12) + (12 * 8 + 8) + 4 * 8;
  EXPECT_EQ(last->parameters - frozen->parameters, layer);
  EXPECT_EQ(last->bytes_up - frozen->bytes_up, 4U * static_cast<std::uint64_t>(layer));
}

}  // namespace
}  // namespace sotto::eval
