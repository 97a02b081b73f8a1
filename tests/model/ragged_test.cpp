#include "model/layers/ragged.h"

#include "model/finite_differences.h"
#include "model/layers/row_functions.h"

namespace sotto::model {
namespace {

using torch::Tensor;

const std::vector<std::int64_t> lengths_with_gaps = {0,  3,  3, 4,
                                                     21, 38, 38};  // segments of 3, 0, 1, 17, 17, 0 rows

Tensor leaf(std::vector<std::int64_t> shape, torch::ScalarType type = torch::kFloat64) {
  return torch::randn(shape, type).requires_grad_(true);
}

// Value and gradients of both formulations of the same function.
void expect_same(const std::function<Tensor()>& fast, const std::function<Tensor()>& slow,
                 const std::vector<Tensor>& inputs, double tolerance) {
  std::vector<std::vector<Tensor>> gradients;
  std::vector<Tensor> values;
  for (const auto& function : {fast, slow}) {
    for (auto input : inputs) input.mutable_grad() = Tensor();
    const Tensor value = function();
    const Tensor weights = torch::linspace(-1, 2, value.numel(), value.options()).view(value.sizes());
    (value * weights).sum().backward();
    values.push_back(value.detach());
    gradients.emplace_back();
    for (const auto& input : inputs) gradients.back().push_back(input.grad().clone());
  }
  EXPECT_TRUE(torch::allclose(values[0], values[1], tolerance, tolerance));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(torch::allclose(gradients[0][i], gradients[1][i], tolerance, tolerance))
        << "gradient of input " << i;
}

TEST(RaggedAttention, EqualsPaddedAttention) {
  torch::manual_seed(1);
  const Segments segments(lengths_with_gaps);
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const Tensor qkv = leaf({38, 3 * 4 * 5}, type);
    expect_same([&] { return ragged_attention(qkv, segments, 4); },
                [&] { return padded_attention(qkv, segments, 4); }, {qkv},
                type == torch::kFloat32 ? 2e-5 : 1e-10);
  }
}

TEST(RaggedAttention, GradientMatchesFiniteDifferences) {
  torch::manual_seed(2);
  const Segments segments({0, 2, 2, 5});
  const Tensor qkv = leaf({5, 3 * 2 * 3}), weights = torch::randn({5, 6}, torch::kFloat64);
  testing::expect_gradients_match([&] { return (ragged_attention(qkv, segments, 2) * weights).sum(); },
                                  {qkv});
}

TEST(RaggedAttention, SurvivesLargeScores) {
  const Segments segments({0, 4});
  const Tensor qkv = torch::full({4, 12}, 200.0F);
  EXPECT_TRUE(torch::isfinite(ragged_attention(qkv, segments, 1)).all().item<bool>());
}

TEST(RaggedPool, EqualsPaddedPool) {
  torch::manual_seed(3);
  const Segments segments(lengths_with_gaps);
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const Tensor scores = leaf({38}, type), values = leaf({38, 19}, type);
    expect_same([&] { return ragged_pool(scores, values, segments); },
                [&] { return padded_pool(scores, values, segments); }, {scores, values},
                type == torch::kFloat32 ? 2e-5 : 1e-10);
  }
}

TEST(RaggedPool, GradientMatchesFiniteDifferences) {
  torch::manual_seed(4);
  const Segments segments({0, 3, 3, 4});
  const Tensor scores = leaf({4}), values = leaf({4, 3}), weights = torch::randn({3, 3}, torch::kFloat64);
  testing::expect_gradients_match([&] { return (ragged_pool(scores, values, segments) * weights).sum(); },
                                  {scores, values});
}

TEST(RaggedPool, EmptySegmentIsZero) {
  const Segments segments({0, 0, 2});
  const Tensor pooled = ragged_pool(torch::zeros({2}), torch::ones({2, 3}), segments);
  EXPECT_TRUE(pooled[0].eq(0).all().item<bool>());
  EXPECT_TRUE(pooled[1].eq(1).all().item<bool>());
}

TEST(Segments, RefuseDecreasingBoundaries) {
  EXPECT_THROW(Segments({0, 3, 2}), c10::Error);
  EXPECT_THROW(Segments({1, 3}), c10::Error);
  EXPECT_THROW(Segments({}), c10::Error);
}

TEST(WordWindows, StopAtSegmentEnds) {
  const Tensor rows = torch::arange(1, 5, torch::kFloat32).view({4, 1});
  const Tensor expected =
      torch::tensor({{0., 1., 2.}, {1., 2., 0.}, {0., 3., 4.}, {3., 4., 0.}}).to(torch::kFloat32);
  EXPECT_TRUE(word_windows(rows, Segments({0, 2, 4})).equal(expected));
}

TEST(WordWindows, GradientMatchesFiniteDifferences) {
  torch::manual_seed(5);
  const Tensor rows = leaf({6, 2}), weights = torch::randn({6, 6}, torch::kFloat64);
  const Segments segments({0, 1, 1, 4, 6});
  testing::expect_gradients_match([&] { return (word_windows(rows, segments) * weights).sum(); }, {rows});
}

TEST(WordWindows, EqualThoseByPlainOperations) {
  torch::manual_seed(7);
  for (const auto& offsets :
       {lengths_with_gaps, std::vector<std::int64_t>{0, 0, 1, 1}, std::vector<std::int64_t>{0, 0}}) {
    const Tensor rows = leaf({offsets.back(), 3});
    const Segments segments(offsets);
    expect_same([&] { return word_windows(rows, segments); },
                [&] { return shifted_word_windows(rows, segments); }, {rows}, 1e-15);
  }
}

TEST(GatherRows, EqualsIndexSelectWithItsGradient) {
  torch::manual_seed(6);
  const Tensor table = leaf({300, 7});
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < 1000; ++i) rows.push_back(i * i % 299);  // row 299 is never used, others often
  expect_same([&] { return gather_rows(table, rows); },
              [&] { return table.index_select(0, torch::tensor(rows, torch::kInt64)); }, {table}, 1e-12);
}

TEST(GatherRows, RefusesRowsThatAreNotThere) {
  EXPECT_THROW(gather_rows(torch::zeros({3, 2}), {3}), c10::Error);
  EXPECT_THROW(gather_rows(torch::zeros({3, 2}), {-1}), c10::Error);
}

TEST(Dropout, DropsTheGivenShareAndKeepsTheMean) {
  Pass pass = Pass::train(7, 0);
  const Tensor out = dropout(torch::ones({200000}), 0.2, pass);
  EXPECT_NEAR(out.eq(0).to(torch::kFloat64).mean().item<double>(), 0.2,
              0.006);  // more than 6 standard errors
  EXPECT_NEAR(out.to(torch::kFloat64).mean().item<double>(), 1.0, 0.008);
}

TEST(Dropout, GradientUsesTheMaskOfTheForwardPass) {
  const Tensor x = torch::ones({1000}).requires_grad_(true);
  Pass pass = Pass::train(7, 1);
  const Tensor out = dropout(x, 0.5, pass);
  out.sum().backward();
  EXPECT_TRUE(x.grad().equal(out.detach()));
}

TEST(Dropout, MasksDifferBetweenLayersRoundsAndUsersButNotBetweenRuns) {
  const auto mask = [](std::uint32_t round, std::uint32_t user, int layer) {
    Pass pass = Pass::train(3, round, user);
    Tensor out;
    for (int i = 0; i <= layer; ++i) out = dropout(torch::ones({512}), 0.5, pass);
    return out;
  };
  EXPECT_TRUE(mask(1, 1, 0).equal(mask(1, 1, 0)));
  EXPECT_FALSE(mask(1, 1, 0).equal(mask(1, 1, 1)));
  EXPECT_FALSE(mask(1, 1, 0).equal(mask(2, 1, 0)));
  EXPECT_FALSE(mask(1, 1, 0).equal(mask(1, 2, 0)));
}

TEST(Dropout, IsIdentityInEvaluation) {
  Pass pass = Pass::evaluation();
  const Tensor x = torch::randn({100});
  EXPECT_TRUE(dropout(x, 0.5, pass).equal(x));
}

}  // namespace
}  // namespace sotto::model
