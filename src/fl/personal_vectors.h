#pragma once
// Fast personal adaptation, on the device and for the device alone: a vector of the reader's own beside what
// the shared user model makes of the history, found by a few steps of descent on the impressions that the
// device has kept. It learns from what was shown and not clicked, which histories leave out. Nothing of it is
// ever sent.
//
//   p ← p − (Σ over clicks ∇ −log softmax((u_i + p)·shown)[click] + weight·p) / (weight + clicks)
//
// Letters: U users, D size of a vector.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/settings.h"
#include "data/dataset.h"
#include "model/news/news_recommender.h"

namespace sotto {

struct PersonalSettings {
  std::int64_t steps = 10;  // 0: no adaptation
  double weight = 3;
  void bind(SettingsTable& table);
};

// Plain values; safe to read from several threads.
struct PersonalVectors {
  std::int64_t size = 0;  // D
  std::unordered_map<UserId, std::vector<float>> of_user;

  // From the training impressions of the users given; those without any keep none. The model is only read.
  static PersonalVectors learn(NewsRecommender& model, const Dataset& dataset, std::vector<UserId> users,
                               std::size_t max_history, const PersonalSettings& settings);
  // [users, D], zeros for those without one.
  torch::Tensor rows(const std::vector<UserId>& users) const;
};

}  // namespace sotto
