// Layers against loops that read like their definition, and against finite differences.

#include "model/finite_differences.h"
#include "model/layers/recurrent.h"
#include "model/news/news_parts.h"
#include "model/small_news.h"

namespace sotto::model {
namespace {

using torch::Tensor;

Segments with_gaps() { return Segments({0, 3, 3, 4, 8}); }

void expect_layer_gradients(torch::nn::Module& layer, const std::function<Tensor(const Tensor&)>& forward,
                            std::int64_t columns) {
  layer.to(torch::kFloat64);
  torch::manual_seed(21);
  Tensor rows = torch::randn({8, columns}, torch::kFloat64).requires_grad_();
  const Tensor mix = torch::randn({1, 64}, torch::kFloat64);
  std::vector<Tensor> inputs = layer.parameters();
  inputs.push_back(rows);
  testing::expect_gradients_match(
      [&] {
        const Tensor out = forward(rows);
        return (out * mix.slice(1, 0, out.size(1))).sum();
      },
      inputs);
}

TEST(Lstm, EqualsTheTextbookLoop) {
  torch::manual_seed(22);
  Lstm lstm(3, 4);
  auto named = lstm.named_parameters();
  const Tensor rows = torch::randn({8, 3});
  const Segments segments = with_gaps();
  const Tensor states = lstm.forward(rows, segments);
  const auto& offsets = segments.offsets();
  for (std::size_t n = 0; n + 1 < offsets.size(); ++n) {
    Tensor state = torch::zeros({4}), cell = torch::zeros({4});
    for (std::int64_t i = offsets[n]; i < offsets[n + 1]; ++i) {
      const Tensor all = rows[i].matmul(named["input"]) + state.matmul(named["state"]) + named["bias"];
      cell = all.slice(0, 4, 8).sigmoid() * cell + all.slice(0, 0, 4).sigmoid() * all.slice(0, 12).tanh();
      state = all.slice(0, 8, 12).sigmoid() * cell.tanh();
      EXPECT_TRUE(torch::allclose(states[i], state, 1e-5, 1e-6)) << "row " << i;
    }
  }
}

TEST(Lstm, MatchesFiniteDifferences) {
  Lstm lstm(3, 4);
  expect_layer_gradients(
      lstm, [&](const Tensor& rows) { return lstm.forward(rows, with_gaps()); }, 3);
}

TEST(RecentGru, StartsFromTheGivenState) {
  torch::manual_seed(23);
  RecentGru gru(3, 4, 2);
  const Tensor rows = torch::randn({8, 3}), initial = torch::randn({4, 4});
  const Tensor states = gru.forward(rows, with_gaps(), initial);
  EXPECT_TRUE(states[1].equal(initial[1])) << "an empty segment keeps its state";
  const Tensor alone = gru.forward(rows.slice(0, 3, 4), Segments({0, 1}), initial.slice(0, 2, 3));
  EXPECT_TRUE(torch::allclose(states[2], alone[0], 1e-5, 1e-6));
  EXPECT_FALSE(torch::allclose(states, gru.forward(rows, with_gaps()), 1e-5, 1e-6));
}

TEST(RecentGru, MatchesFiniteDifferences) {
  RecentGru gru(3, 4, 2);
  expect_layer_gradients(
      gru, [&](const Tensor& rows) { return gru.forward(rows, with_gaps()); }, 3);
}

TEST(SegmentMax, TakesTheMaximumOfEverySegmentAndZeroOfNone) {
  torch::manual_seed(24);
  const Tensor rows = torch::randn({8, 5}) - 3;  // negative: a padded zero would win
  const Tensor most = segment_max(rows, with_gaps());
  EXPECT_TRUE(most[0].equal(std::get<0>(rows.slice(0, 0, 3).max(0))));
  EXPECT_TRUE(most[1].eq(0).all().item<bool>());
  EXPECT_TRUE(most[2].equal(rows[3]));
  EXPECT_TRUE(most[3].equal(std::get<0>(rows.slice(0, 4).max(0))));
  EXPECT_TRUE(segment_max(rows.slice(0, 0, 0), Segments({0, 0})).eq(0).all().item<bool>());
}

TEST(SegmentMean, TakesTheMeanOfEverySegmentAndZeroOfNone) {
  const Tensor rows = torch::randn({8, 5});
  const Tensor mean = segment_mean(rows, with_gaps());
  EXPECT_TRUE(torch::allclose(mean[0], rows.slice(0, 0, 3).mean(0), 1e-5, 1e-6));
  EXPECT_TRUE(mean[1].eq(0).all().item<bool>());
}

TEST(WindowConvolutions, EqualTheLoopOverWindows) {
  torch::manual_seed(25);
  WindowConvolutions convolutions(3, 5);  // 2, 2 and 1 filters
  auto named = convolutions.named_parameters();
  const Tensor rows = torch::randn({8, 3});
  const Segments segments = with_gaps();
  const Tensor out = convolutions.forward(rows, segments);
  const auto& offsets = segments.offsets();
  const std::int64_t first_filter[] = {0, 2, 4, 5};
  for (std::int64_t n = 0; n < 4; ++n) {
    const std::int64_t begin = offsets[n], end = offsets[n + 1];
    const auto row = [&](std::int64_t i) { return i >= begin && i < end ? rows[i] : torch::zeros({3}); };
    for (std::int64_t window = 1; window <= 3; ++window) {
      const std::string name = "window" + std::to_string(window);
      std::vector<Tensor> filtered = {};
      for (std::int64_t i = begin; i < end; ++i) {
        std::vector<Tensor> inside = {row(i)};
        if (window >= 2) inside.insert(inside.begin(), row(i - 1));
        if (window == 3) inside.push_back(row(i + 1));
        filtered.push_back(
            (torch::cat(inside).matmul(named[name + ".weight"]) + named[name + ".bias"]).relu());
      }
      const Tensor expected = filtered.empty() ? torch::zeros({named[name + ".bias"].size(0)})
                                               : std::get<0>(torch::stack(filtered).max(0));
      EXPECT_TRUE(torch::allclose(out[n].slice(0, first_filter[window - 1], first_filter[window]), expected,
                                  1e-5, 1e-6))
          << "segment " << n << ", window " << window;
    }
  }
}

TEST(WindowConvolutions, MatchFiniteDifferences) {
  torch::manual_seed(26);
  WindowConvolutions convolutions(3, 5);
  expect_layer_gradients(
      convolutions, [&](const Tensor& rows) { return convolutions.forward(rows, with_gaps()); }, 3);
}

TEST(CandidateAttention, EqualsTheLoopOverPairs) {
  torch::manual_seed(27);
  CandidateAttention attention(3, 4, 5);
  auto named = attention.named_parameters();
  const RaggedRows clicks{torch::randn({8, 3}), Segments({0, 3, 4, 8})};
  const Tensor candidates = torch::randn({2, 4});
  Histories histories;
  const std::vector<std::int64_t> pair_history = {2, 0, 1, 2}, pair_item = {1, 1, 0, 0};
  const Tensor pooled = attention.forward(clicks, candidates, {{}, histories, pair_history, pair_item});
  for (std::int64_t p = 0; p < 4; ++p) {
    const auto& offsets = clicks.segments.offsets();
    const Tensor rows = clicks.rows.slice(0, offsets[pair_history[p]], offsets[pair_history[p] + 1]);
    const Tensor hidden =
        (rows.matmul(named["click.weight"]) + named["click.bias"] +
         candidates[pair_item[p]].matmul(named["candidate.weight"]) + named["candidate.bias"])
            .relu();
    const Tensor weights = hidden.matmul(named["query"]).softmax(0);
    EXPECT_TRUE(torch::allclose(pooled[p], weights.matmul(rows), 1e-5, 1e-6)) << "pair " << p;
  }
}

TEST(UserVectors, AMaskedReaderIsReadAsAnUnknownOne) {
  ModelInputs inputs = testing::small_inputs();
  inputs.shape.user_mask = 0.5;
  UserVectors own(inputs, 3);
  Histories histories;
  for (int i = 0; i < 200; ++i) histories.add({}, 4);
  Pass evaluation, training = Pass::train(1, 1);
  const Tensor table = own.parameters()[0];
  EXPECT_TRUE(own.forward(histories, evaluation).eq(table[1]).all().item<bool>());
  const Tensor masked = own.forward(histories, training);
  const auto unknown = masked.eq(table[2]).all(1).sum().item<std::int64_t>();
  EXPECT_EQ(unknown + masked.eq(table[1]).all(1).sum().item<std::int64_t>(), 200);
  EXPECT_GT(unknown, 70);
  EXPECT_LT(unknown, 130);
}

TEST(RowsOrZero, LeavesZerosForMissingRows) {
  const Tensor table = torch::randn({3, 2});
  const Tensor rows = rows_or_zero(table, std::vector<std::int32_t>{2, -1, 0, -1});
  EXPECT_TRUE(rows[0].equal(table[2]));
  EXPECT_TRUE(rows[1].eq(0).all().item<bool>());
  EXPECT_TRUE(rows[2].equal(table[0]));
  EXPECT_TRUE(rows_or_zero(table, std::vector<std::int32_t>{-1}).eq(0).all().item<bool>());
}

}  // namespace
}  // namespace sotto::model
