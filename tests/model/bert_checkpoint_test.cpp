#include "model/bert/bert_checkpoint.h"

#include "base/interrupt.h"
#include "base/progress.h"
#include "model/tiny_bert.h"
#include "test_paths.h"

namespace sotto::model {
namespace {

using testing::StoredTensors;
using testing::tiny_bert;
using testing::tiny_config;
using testing::tiny_pieces;
using testing::tiny_texts;
using torch::Tensor;

void expect_refused(const text::TensorViews& tensors, std::string_view reason) {
  const auto model = bert_from_tensors(tiny_config(), tensors);
  ASSERT_FALSE(model) << reason;
  EXPECT_NE(model.error().message.find(reason), std::string::npos) << model.error().message;
}

TEST(BertCheckpoint, AFolderAsDownloadedGivesTheSameModel) {
  const TempFolder folder;
  auto written = tiny_bert();
  testing::write_tiny_checkpoint(folder.path());
  const auto read = load_bert(folder.path());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->tokenizer.settings().lower_case);
  EXPECT_EQ(read->tokenizer.encode_marked("AB, c", 7), (std::vector<text::PieceId>{2, 4, 8, 9, 6, 3}));
  EXPECT_TRUE(torch::equal(read->model->forward(tiny_pieces, tiny_texts()),
                           written->forward(tiny_pieces, tiny_texts())));

  ASSERT_TRUE(
      write_file_atomically(folder / "vocab.txt", std::string(testing::tiny_vocabulary) + "one more\n"));
  const auto other = load_bert(folder.path());
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("do not belong together"), std::string::npos) << other.error().message;
}

TEST(BertCheckpoint, LoadingHasABarAndEndsAtCtrlC) {
  const TempFolder folder;
  testing::write_tiny_checkpoint(folder.path());
  set_progress_style(ProgressStyle::bar);
  ::testing::internal::CaptureStderr();
  const auto read = load_bert(folder.path());
  const std::string shown = ::testing::internal::GetCapturedStderr();
  set_progress_style(ProgressStyle::automatic);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_NE(shown.find("loading BERT"), std::string::npos) << shown;
  EXPECT_NE(shown.find("100%"), std::string::npos) << shown;
  set_interrupted(true);
  const auto stopped = load_bert(folder.path());
  set_interrupted(false);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::failed);
  EXPECT_NE(stopped.error().message.find("stopped"), std::string::npos) << stopped.error().message;
}

TEST(BertCheckpoint, ReadsHalfPrecisionExactly) {
  auto model = tiny_bert();
  for (const auto& [type, written] : {std::pair(torch::kFloat16, text::TensorType::f16),
                                      std::pair(torch::kBFloat16, text::TensorType::bf16)}) {
    const StoredTensors stored(*model, type, written);
    const auto read = bert_from_tensors(tiny_config(), stored.views);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ((*read)->words.scalar_type(), torch::kFloat32);
    EXPECT_TRUE(torch::equal((*read)->layers[1]->qkv->weight,
                             model->layers[1]->qkv->weight.to(type).to(torch::kFloat32)));
  }
}

TEST(BertCheckpoint, AcceptsGammaAndBetaAndIgnoresHeadsByName) {
  auto model = tiny_bert();
  StoredTensors stored(*model, torch::kFloat32, text::TensorType::f32, "bert.");
  for (const auto& [usual, converted] : {std::pair("weight", "gamma"), std::pair("bias", "beta")}) {
    auto moved = stored.views.extract(std::string("bert.embeddings.LayerNorm.") + usual);
    moved.key() = std::string("bert.embeddings.LayerNorm.") + converted;
    stored.views.insert(std::move(moved));
  }
  stored.add("bert.pooler.dense.weight", torch::zeros({8, 8}), text::TensorType::f32);
  stored.add("cls.predictions.bias", torch::zeros({11}), text::TensorType::f32);
  stored.add("bert.embeddings.position_ids", torch::zeros({1, 7}, torch::kInt64), text::TensorType::i64);
  const auto read = bert_from_tensors(tiny_config(), stored.views);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(torch::equal((*read)->embedding_norm->weight, model->embedding_norm->weight));
}

TEST(BertCheckpoint, RefusesWhatDoesNotMatch) {
  auto model = tiny_bert();
  const StoredTensors good(*model, torch::kFloat32, text::TensorType::f32);
  const std::string name = "encoder.layer.1.output.dense.bias";
  ASSERT_TRUE(bert_from_tensors(tiny_config(), good.views));
  const auto with = [&](const std::string& key, const Tensor& tensor, text::TensorType type,
                        std::string_view reason) {
    StoredTensors changed(*model, torch::kFloat32, text::TensorType::f32);
    changed.add(key, tensor, type);
    expect_refused(changed.views, reason);
  };
  text::TensorViews less = good.views;
  less.erase(name);
  expect_refused(less, "'encoder.layer.1.output.dense.bias' missing");
  expect_refused({}, "and 32 more missing");
  with("encoder.layer.2.output.dense.bias", torch::zeros({8}), text::TensorType::f32,
       "has no place in this BERT");
  with("classifier.weight", torch::zeros({2, 8}), text::TensorType::f32, "'classifier.weight' has no place");
  with(name, torch::zeros({9}), text::TensorType::f32, "is [9]; config.json asks for [8]");
  with(name, torch::zeros({8}, torch::kInt64), text::TensorType::i64, "is I64; weights are F32, F16 or BF16");
  with(name, torch::full({8}, std::nan("")), text::TensorType::f32, "not finite");
  BertConfig larger = tiny_config();
  larger.hidden = 16'384;
  EXPECT_FALSE(bert_from_tensors(larger, good.views));  // and nothing of that size was allocated
}

TEST(BertCheckpoint, VocabularyMayLackTheFillingOfTheTableButNoMore) {
  const TempFolder folder;
  BertConfig config = tiny_config();
  config.vocabulary = 11 + 127;
  const auto write = [&](std::int64_t words) {
    config.vocabulary = words;
    auto model = std::make_shared<BertModel>(config);
    model->random_start();
    const StoredTensors stored(*model, torch::kFloat32, text::TensorType::f32);
    std::string json(testing::tiny_config_json);
    json.replace(json.find("11"), 2, std::to_string(words));
    EXPECT_TRUE(text::write_safetensors(folder / "model.safetensors", stored.views));
    EXPECT_TRUE(write_file_atomically(folder / "config.json", json));
    EXPECT_TRUE(write_file_atomically(folder / "vocab.txt", testing::tiny_vocabulary));
    return load_bert(folder.path()).has_value();
  };
  EXPECT_TRUE(write(11 + 127));
  EXPECT_FALSE(write(11 + 128));
  EXPECT_FALSE(write(10));
}

TEST(BertCheckpoint, FingerprintTellsFoldersApart) {
  const TempFolder folder;
  for (const char* name : {"config.json", "vocab.txt", "model.safetensors"})
    ASSERT_TRUE(write_file_atomically(folder / name, "x"));
  const std::string before = bert_fingerprint(folder.path()).value();
  EXPECT_EQ(bert_fingerprint(folder.path()).value(), before);
  for (const char* name : {"config.json", "vocab.txt", "model.safetensors"}) {
    ASSERT_TRUE(write_file_atomically(folder / name, "y"));
    EXPECT_NE(bert_fingerprint(folder.path()).value(), before) << name;
    ASSERT_TRUE(write_file_atomically(folder / name, "x"));
  }
  fs::remove(folder / "vocab.txt");
  EXPECT_FALSE(bert_fingerprint(folder.path()));
}

TEST(BertConfig, RefusesValuesThatCannotBe) {
  ASSERT_TRUE(parse_bert_config(testing::tiny_config_json));
  const auto changed = [](std::string_view from, std::string_view to) {
    std::string text(testing::tiny_config_json);
    text.replace(text.find(from), from.size(), to);
    return parse_bert_config(text);
  };
  EXPECT_EQ(changed("\"gelu\"", "\"gelu_new\"")->activation, Gelu::tanh);
  for (const auto& [from, to] :
       {std::pair("\"gelu\"", "\"relu\""), std::pair("\"hidden_size\": 8", "\"hidden_size\": 9"),
        std::pair("\"hidden_size\": 8", "\"hidden_size\": -8"),
        std::pair("\"hidden_size\": 8", "\"hidden_size\": 8.0"),
        std::pair("\"hidden_size\": 8", "\"hidden_size\": 99999999999999999999"),
        std::pair("\"vocab_size\": 11", "\"vocab_size\": 0"), std::pair("\"vocab_size\": 11, ", ""),
        std::pair("\"bert\"", "\"roberta\""), std::pair("1e-12", "0"), std::pair("1e-12", "\"x\""),
        std::pair("\"model_type\": \"bert\"", "\"position_embedding_type\": \"relative_key\""),
        std::pair("{", "[")}) {
    EXPECT_FALSE(changed(from, to)) << from << " -> " << to;
  }
}

TEST(BertConfig, HasThePublishedSizes) {
  const auto tiny = bert_of_size("tiny").value(), large = bert_of_size("large").value();
  EXPECT_EQ(tiny.layers, 2);
  EXPECT_EQ(tiny.hidden, 128);
  EXPECT_EQ(tiny.heads, 2);
  EXPECT_EQ(tiny.intermediate, 512);
  EXPECT_EQ(large.layers, 24);
  EXPECT_EQ(large.heads, 16);
  EXPECT_EQ(large.intermediate, 4096);
  EXPECT_FALSE(bert_of_size("huge"));
}

TEST(BertConfig, ListsOfTrainableLayers) {
  using Layers = std::vector<std::int64_t>;
  EXPECT_EQ(parse_trainable_parts("last 2", 12)->layers, (Layers{10, 11}));
  EXPECT_EQ(parse_trainable_parts("1, 0,1", 2)->layers, (Layers{0, 1}));
  EXPECT_TRUE(parse_trainable_parts("none", 12)->layers.empty());
  EXPECT_TRUE(parse_trainable_parts("all", 2)->embeddings);
  EXPECT_TRUE(parse_trainable_parts("embeddings,1", 2)->embeddings);
  EXPECT_FALSE(parse_trainable_parts("0,1", 2)->embeddings);
  for (const char* wrong : {"", "12", "-1", "last 0", "last 13", "last", "0,,1", "layer 1", "1x"})
    EXPECT_FALSE(parse_trainable_parts(wrong, 12)) << wrong;
}

}  // namespace
}  // namespace sotto::model
