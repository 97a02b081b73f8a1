#include "model/bert/bert_model.h"

#include <cstdlib>

#include "model/finite_differences.h"
#include "model/flat_parameters.h"
#include "model/golden_bert.h"
#include "model/tiny_bert.h"
#include "test_paths.h"

namespace sotto::model {
namespace {

using testing::tiny_bert;
using testing::tiny_config;
using testing::tiny_pieces;
using testing::tiny_texts;
using torch::Tensor;

TEST(BertModel, EqualsAnIndependentImplementation) {
  for (const auto& expected : testing::golden_states) {
    BertConfig config = tiny_config();
    config.activation = expected.activation;
    auto model = tiny_bert(config);
    model->to(torch::kFloat64);
    const Tensor states = model->forward(tiny_pieces, tiny_texts());
    constexpr std::int64_t rows[] = {0, 3, 5, 12};
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < 8; ++c)
        EXPECT_NEAR(states[rows[r]][static_cast<std::int64_t>(c)].item<double>(), expected.rows[r][c], 1e-10)
            << "row " << r << ", " << c;
  }
}

TEST(BertModel, StatesDoNotDependOnTheOtherTexts) {
  auto model = tiny_bert();
  const Tensor together = model->forward(tiny_pieces, tiny_texts());
  EXPECT_TRUE(
      torch::allclose(model->forward({2, 3}, Segments({0, 2})), together.narrow(0, 4, 2), 1e-5, 1e-6));
}

TEST(BertModel, WholeModelMatchesFiniteDifferences) {
  auto model = tiny_bert();
  model->to(torch::kFloat64);
  torch::manual_seed(3);
  const Tensor weights = torch::randn({13, 8}, torch::kFloat64);
  testing::expect_gradients_match([&] { return (model->forward(tiny_pieces, tiny_texts()) * weights).sum(); },
                                  model->parameters(), 1e-5);
}

TEST(BertModel, OnlyTheNamedLayersLearn) {
  auto model = tiny_bert();
  model->train_only({false, {1}});
  const FlatParameters flat(*model);
  EXPECT_EQ(flat.entries().size(), 12U);
  for (const auto& entry : flat.entries()) EXPECT_EQ(entry.name.rfind("layer1.", 0), 0U) << entry.name;
  model->forward(tiny_pieces, tiny_texts()).square().sum().backward();
  EXPECT_FALSE(model->words.grad().defined());
  EXPECT_FALSE(model->layers[0]->qkv->weight.grad().defined());
  EXPECT_GT(model->layers[1]->qkv->weight.grad().abs().sum().item<double>(), 0);

  EXPECT_EQ(model->first_trained_layer(), 1);
  model->train_only({});
  EXPECT_EQ(model->first_trained_layer(), 2);

  auto whole = tiny_bert();
  whole->train_only({true, {0, 1}});
  EXPECT_EQ(whole->first_trained_layer(), 0);
  EXPECT_EQ(FlatParameters(*whole).size(), FlatParameters(*tiny_bert()).size());
}

TEST(BertModel, HasThePublishedSizeOfBertBase) {
  // One layer and a vocabulary of one piece: the rest of the count is multiplication.
  BertConfig config = bert_of_size("base").value();
  config.vocabulary = 1, config.layers = 1;
  std::int64_t numbers = 0;
  for (const auto& parameter : BertModel(config).parameters()) numbers += parameter.numel();
  const std::int64_t layer = 7'087'872, tables = (1 + 512 + 2) * 768 + 2 * 768;
  EXPECT_EQ(numbers, layer + tables);
  // 109,482,240 is the published count with the pooler's 590,592.
  EXPECT_EQ(12 * layer + tables + 30'521 * 768 + 590'592, 109'482'240);
}

TEST(BertModel, RefusesPiecesAndTextsItCannotRead) {
  auto model = tiny_bert();
  EXPECT_THROW(model->forward({11}, Segments({0, 1})), c10::Error);
  EXPECT_THROW(model->forward({-1}, Segments({0, 1})), c10::Error);
  EXPECT_THROW(model->forward(std::vector<std::int64_t>(8, 2), Segments({0, 8})), c10::Error);
  EXPECT_THROW(model->forward({1, 2}, Segments({0, 1})), c10::Error);
  EXPECT_EQ(model->forward({}, Segments({0, 0})).size(0), 0);
}

// Means of the last hidden states, compared with transformers 5.22 on the checkpoint all-MiniLM-L6-v2.
TEST(BertModel, RealCheckpointFindsSimilarSentences) {
  const char* folder = std::getenv("SOTTO_BERT");
  if (folder == nullptr) GTEST_SKIP() << "SOTTO_BERT names no checkpoint folder";
  const auto bert = load_bert(folder);
  ASSERT_TRUE(bert) << bert.error().message;
  torch::NoGradGuard no_grad;
  std::vector<Tensor> vectors;
  for (const char* text :
       {"The central bank raised interest rates again.", "Borrowing costs went up after the bank's decision.",
        "Our striker scored twice in the cup final.", "The team won the championship match."}) {
    const auto pieces = bert->tokenizer.encode_marked(text, 128);
    const Segments one({0, static_cast<std::int64_t>(pieces.size())});
    const Tensor mean = bert->model->forward({pieces.begin(), pieces.end()}, one).mean(0);
    vectors.push_back(mean / mean.norm());
  }
  const auto cosine = [&](int a, int b) { return vectors[a].dot(vectors[b]).item<double>(); };
  EXPECT_GT(cosine(0, 1), cosine(0, 2) + 0.05);
  EXPECT_GT(cosine(2, 3), cosine(1, 2) + 0.05);
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b)
      RecordProperty(fmt::format("cosine_{}_{}", a, b), fmt::format("{:.6f}", cosine(a, b)));
  if (bert->model->config().hidden != 384 || bert->model->config().layers != 6) return;
  EXPECT_NEAR(cosine(0, 1), 0.528432, 2e-5);
  EXPECT_NEAR(cosine(0, 2), 0.068111, 2e-5);
  EXPECT_NEAR(cosine(2, 3), 0.332596, 2e-5);
}

}  // namespace
}  // namespace sotto::model
