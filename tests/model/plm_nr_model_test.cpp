// PLM-NR beyond what news_models_test.cpp proves of every model.

#include <gtest/gtest.h>

#include "model/bert/bert_checkpoint.h"
#include "model/bert/bert_text.h"
#include "model/flat_parameters.h"
#include "model/news/items_at_once.h"
#include "model/small_news.h"
#include "model/tiny_bert.h"
#include "test_paths.h"

namespace sotto::model {
namespace {

using torch::Tensor;

TEST(PlmNr, UserModelHasThePapersSize) {
  const NewsShape shape;
  ModelInputs inputs{shape, {}, testing::small_items(), {}, testing::small_bert()};
  const auto model = find_model("plm-nr").value()->make(inputs);
  std::int64_t user = 0;
  for (const auto& item : model->named_parameters())
    if (item.key().starts_with("user.")) user += item.value().numel();
  EXPECT_EQ(user, 560'400);
  EXPECT_EQ(std::dynamic_pointer_cast<NewsRecommender>(model)->vector_size(), 400);
}

TEST(PlmNr, ItemWithoutWordsIsTheZeroVectorWithAnyBias) {
  const auto model = std::dynamic_pointer_cast<NewsRecommender>(testing::small_model("plm-nr"));
  torch::NoGradGuard no_grad;
  model->named_parameters()["projection.bias"].fill_(1);
  Pass pass;
  const Tensor vectors = model->encode_items(std::vector<data::ItemId>{5, 0}, pass);
  EXPECT_TRUE(vectors[0].eq(0).all().item<bool>());
  EXPECT_FALSE(vectors[1].eq(0).all().item<bool>());
}

TEST(PlmNr, FrozenLayersStayOutOfTheFlatParameters) {
  ModelInputs inputs = testing::small_inputs();
  inputs.bert = testing::small_bert();
  inputs.bert->train_only({false, {1}});
  const auto model = find_model("plm-nr").value()->make(inputs);
  const FlatParameters trained(*model);
  std::size_t of_bert = 0;
  for (const auto& entry : trained.entries()) {
    if (!entry.name.starts_with("text.bert.")) continue;
    EXPECT_TRUE(entry.name.starts_with("text.bert.layer1.")) << entry.name;
    ++of_bert;
  }
  EXPECT_EQ(of_bert, 12U);
}

// 2,048 titles at a time are minutes of BERT-base on two cores, during which no bar moved and Ctrl-C was not
// seen.
TEST(PlmNr, TakesFewItemsAtATimeWhereTheLanguageModelIsLarge) {
  const auto at_once = [](const char* size) {
    ModelInputs inputs = testing::small_inputs();
    BertConfig config = bert_of_size(size).value();
    config.vocabulary = 11, config.positions = 7;
    inputs.bert = std::make_shared<BertModel>(config);
    return items_at_once(dynamic_cast<NewsRecommender&>(*find_model("plm-nr").value()->make(inputs)));
  };
  const std::size_t tiny = at_once("tiny"), mini = at_once("mini"), small = at_once("small");
  EXPECT_GT(tiny, 500U);
  EXPECT_GT(tiny, mini);
  EXPECT_GT(mini, small);
  // Two matrix products of 4 d² + 2 d f numbers a layer and piece, for titles of 20 pieces: below a fifth of
  // a TFLOP, which two cores compute in a few seconds.
  EXPECT_LT(static_cast<double>(small) * 20 * 2 * 4 * (4 * 512 * 512 + 2 * 512 * 2048), 2e11);
  EXPECT_EQ(items_at_once(dynamic_cast<NewsRecommender&>(*testing::small_model("nrms"))), 2048U);
}

TEST(PlmNr, NeedsALanguageModel) {
  EXPECT_THROW(find_model("plm-nr").value()->make(testing::small_inputs()), c10::Error);
}

// A column of texts that owns its bytes.
struct Titles {
  explicit Titles(const std::vector<std::string>& texts) {
    for (const auto& text : texts) {
      bytes += text;
      offsets.push_back(bytes.size());
    }
  }
  data::StringColumn column() const { return {offsets, bytes}; }
  std::string bytes;
  std::vector<std::uint64_t> offsets = {0};
};

TEST(BertSource, ReadsTitlesAsPiecesBetweenMarkers) {
  const auto tokenizer =
      text::WordPiece::create({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "##a", "##b", ",", "."});
  ASSERT_TRUE(tokenizer);
  const Titles titles({"a b", "ab, c.", "", "c c c c c c c c", "b"});
  const ItemText text = wordpiece_text(titles.column(), *tokenizer, 7);
  EXPECT_EQ(text.offsets, (std::vector<std::int64_t>{0, 4, 11, 11, 18, 21}));
  EXPECT_EQ(std::vector<std::int32_t>(text.tokens.begin(), text.tokens.begin() + 4),
            (std::vector<std::int32_t>{2, 4, 5, 3}));
}

class CheckpointFolder : public ::testing::Test {
 protected:
  CheckpointFolder() {
    testing::write_tiny_checkpoint(folder_.path());
    settings_.folder = folder_.path().string();
    settings_.max_pieces = 7;
  }
  std::string refusal() const {
    const auto opened = open_pretrained_bert(settings_, titles_.column());
    return opened ? "accepted" : opened.error().message;
  }
  TempFolder folder_;
  BertSettings settings_;
  Titles titles_{{"a b", "c"}};
};

TEST_F(CheckpointFolder, GivesModelAndPieces) {
  const auto opened = open_pretrained_bert(settings_, titles_.column());
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->titles.tokens, (std::vector<std::int32_t>{2, 4, 5, 3, 2, 6, 3}));
  EXPECT_EQ(opened->model->first_trained_layer(), 0) << "the last 2 of 2 layers";
  EXPECT_FALSE(opened->model->words.requires_grad());
}

TEST_F(CheckpointFolder, WithoutAFileIsRefusedByItsName) {
  for (const char* name : {"config.json", "vocab.txt", "model.safetensors"}) {
    fs::rename(folder_ / name, folder_ / "away");
    EXPECT_NE(refusal().find(std::string("has no ") + name), std::string::npos) << refusal();
    fs::rename(folder_ / "away", folder_ / name);
  }
  settings_.folder = (folder_ / "vocab.txt").string();
  EXPECT_NE(refusal().find("is not a folder"), std::string::npos) << refusal();
}

TEST_F(CheckpointFolder, RefusesLayersAndLengthsTheModelDoesNotHave) {
  settings_.trainable_layers = "last 3";
  EXPECT_NE(refusal().find("'last N' needs N from 1 to 2"), std::string::npos) << refusal();
  settings_.trainable_layers = "none";
  EXPECT_EQ(refusal(), "accepted");
  settings_.max_pieces = 8;
  EXPECT_NE(refusal().find("at most 7 pieces"), std::string::npos) << refusal();
}

TEST(BertSource, RandomWeightsLearnAsAWholeAndComeFromTheSeed) {
  BertSettings settings;
  const auto make = [&](std::uint64_t seed) {
    torch::manual_seed(seed);
    return make_random_bert(settings, 50, 9).value();
  };
  const auto model = make(3);
  EXPECT_TRUE(model->words.requires_grad());
  EXPECT_EQ(model->config().vocabulary, 50);
  EXPECT_EQ(model->config().positions, 9);
  EXPECT_EQ(model->config().hidden, 128);
  EXPECT_TRUE(model->layers[1]->up->weight.equal(make(3)->layers[1]->up->weight));
  EXPECT_FALSE(model->layers[1]->up->weight.equal(make(4)->layers[1]->up->weight));
  EXPECT_NEAR(model->layers[0]->up->weight.std().item<double>(), 0.02, 0.001);
  EXPECT_TRUE(model->layers[0]->up->bias.eq(0).all().item<bool>());
  EXPECT_TRUE(model->embedding_norm->weight.eq(1).all().item<bool>());
}

}  // namespace
}  // namespace sotto::model
