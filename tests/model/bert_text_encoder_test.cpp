#include <torch/csrc/autograd/autograd.h>

#include "model/bert/bert_text.h"
#include "model/flat_parameters.h"
#include "model/recompute.h"
#include "model/tiny_bert.h"

namespace sotto::model {
namespace {

using testing::tiny_bert;
using testing::tiny_pieces;
using testing::tiny_texts;
using torch::Tensor;

TEST(Recomputed, GivesTheGradientsOfThePlainCall) {
  torch::manual_seed(1);
  const auto double_leaf = torch::TensorOptions(torch::kFloat64).requires_grad(true);
  const Tensor x = torch::randn({3, 4}, double_leaf), w = torch::randn({4, 2}, double_leaf),
               frozen = torch::randn({2}, torch::kFloat64), unused = torch::randn({5}, double_leaf);
  const auto part = [&](const Tensor& input) { return (input.mm(w) * frozen).tanh(); };
  const std::vector<Tensor> leaves = {x, w};
  const auto plain = torch::autograd::grad({part(x).square().sum()}, leaves);
  int calls = 0;
  const Tensor out = recomputed(
      [&](const Tensor& input) {
        ++calls;
        return part(input);
      },
      x, {w, unused});
  EXPECT_EQ(calls, 1);
  const auto again = torch::autograd::grad({out.square().sum()}, leaves);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(again[0].equal(plain[0]));
  EXPECT_TRUE(again[1].equal(plain[1]));
}

TEST(Recomputed, NeedsNoGradientOfItsInput) {
  const Tensor x = torch::ones({2, 2}), w = torch::ones({2, 2}).set_requires_grad(true);
  recomputed([&](const Tensor& input) { return input.mm(w); }, x, {w}).sum().backward();
  EXPECT_TRUE(w.grad().equal(torch::full({2, 2}, 2.0)));
  EXPECT_FALSE(x.grad().defined());
}

TEST(ChunksOf, HoldWholeSegmentsAndAtLeastOne) {
  const Segments texts({0, 4, 6, 6, 13, 14});
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(chunks_of(texts, 100), (Numbers{0, 5}));
  EXPECT_EQ(chunks_of(texts, 6), (Numbers{0, 3, 4, 5}));
  EXPECT_EQ(chunks_of(texts, 8), (Numbers{0, 3, 5}));
  EXPECT_EQ(chunks_of(texts, 0), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(chunks_of(Segments({0}), 5), (Numbers{0, 0}));
}

struct Encoded {
  Tensor vectors, gradients;
};

// The same encoder with another bound on memory.
Encoded encode(std::int64_t memory, const TrainableParts& trained) {
  auto bert = tiny_bert();
  bert->train_only(trained);
  torch::manual_seed(2);
  BertTextEncoder encoder(bert, 5, memory);
  encoder.to(torch::kFloat64);
  FlatParameters flat(encoder);
  const Tensor vectors = encoder.forward(tiny_pieces, tiny_texts());
  vectors.square().sum().backward();
  return {vectors.detach(), flat.gradients().clone()};
}

TEST(BertTextEncoder, ResultAndGradientsDoNotDependOnTheMemory) {
  for (const TrainableParts& trained :
       {TrainableParts{true, {0, 1}}, TrainableParts{true, {}}, TrainableParts{false, {0, 1}},
        TrainableParts{false, {1}}, TrainableParts{false, {0}}, TrainableParts{}}) {
    const Encoded whole = encode(1 << 30, trained), apart = encode(1, trained);
    EXPECT_TRUE(torch::allclose(apart.vectors, whole.vectors, 1e-12, 1e-12));
    EXPECT_TRUE(torch::allclose(apart.gradients, whole.gradients, 1e-12, 1e-12));
    EXPECT_GT(whole.gradients.abs().sum().item<double>(), 0);
  }
}

TEST(BertTextEncoder, TextWithoutPiecesIsTheZeroVector) {
  BertTextEncoder encoder(tiny_bert(), 5, 1);
  const Tensor vectors = encoder.forward({2, 3}, Segments({0, 0, 2, 2}));
  EXPECT_TRUE(vectors[0].eq(0).all().item<bool>());
  EXPECT_FALSE(vectors[1].eq(0).all().item<bool>());
  EXPECT_TRUE(vectors[2].eq(0).all().item<bool>());
  const Tensor none = encoder.forward({}, Segments({0, 0}));
  EXPECT_EQ(none.sizes(), torch::IntArrayRef({1, 8}));
}

}  // namespace
}  // namespace sotto::model
