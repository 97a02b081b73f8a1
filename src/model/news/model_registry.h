#pragma once
// All news models by name: what each reads, and how it is built.

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "model/news/news_models.h"

namespace sotto::model {

struct ModelEntry {
  std::string_view name, summary;
  FeatureUse features;
  bool two_towers;         // a NewsRecommender
  double user_mask;        // default share of histories read as an unknown user's; 0: no vectors of users
  std::string_view reads;  // names of its settings in NewsShape, separated by spaces
  std::shared_ptr<RankingModel> (*make)(const ModelInputs& inputs);

  bool reads_setting(std::string_view setting) const;
  bool user_ids() const { return user_mask > 0; }
  // No vector of anybody's own, and item vectors that are the same for all: what devices can train together.
  bool federated() const { return two_towers && !user_ids(); }
};

// The one table of all models.
std::span<const ModelEntry> models();
// An unknown name suggests the nearest one and lists all.
Result<const ModelEntry*> find_model(std::string_view name);

}  // namespace sotto::model
