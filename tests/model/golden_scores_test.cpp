// Every model against an implementation that shares nothing with it: golden_scores.py.

#include "model/golden_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/small_news.h"

namespace sotto::model {
namespace {

// The weights of golden_scores.py: a formula of name and position.
void set_weights(torch::nn::Module& model) {
  torch::NoGradGuard no_grad;
  for (auto& item : model.named_parameters()) {
    if (!item.value().requires_grad()) continue;  // entity vectors are data
    int phase = 0;
    for (std::size_t place = 0; place < item.key().size(); ++place)
      phase += static_cast<int>(place + 1) * item.key()[place];
    torch::Tensor flat = torch::empty({item.value().numel()}, torch::kFloat64);
    for (std::int64_t i = 0; i < flat.numel(); ++i)
      flat[i] = 0.4 * std::sin(1.3 * static_cast<double>(i + 1) + phase % 97);
    item.value().copy_(flat.view(item.value().sizes()));
  }
}

TEST(GoldenScores, EveryModelEqualsPlainPython) {
  std::size_t checked = 0;
  for (const auto& entry : models())
    for (const auto& golden : testing::golden_scores) {
      if (golden.model != entry.name) continue;
      const auto model = testing::small_model(entry.name, torch::kFloat64);
      set_weights(*model);
      if (model->named_parameters().contains("entities"))
        model->named_parameters()["entities"].copy_(testing::small_items()->entity_vectors);
      const testing::SmallRequest request;
      Pass pass;
      const torch::Tensor scores = model->scores(request.request(), pass);
      for (std::int64_t p = 0; p < 16; ++p)
        EXPECT_NEAR(scores[p].item<double>(), golden.scores[static_cast<std::size_t>(p)], 1e-9)
            << entry.name << ", pair " << p;
      ++checked;
    }
  // The catalogue's model reads vectors in place of words: catalogue_model_test.cpp writes it out.
  EXPECT_EQ(checked + 1, models().size());
}

}  // namespace
}  // namespace sotto::model
