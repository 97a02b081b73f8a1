#pragma once
// The settings of dp-svd, and what follows from them for a data set.

#include "recipes/two_private_sums.h"

namespace sotto {

struct DpSvdSettings {
  std::string noise = "distributed";
  std::int64_t items = 0, vectors = 64;
  bool features = true;
  double choose_noise = 0, ridge = 50, popularity = 1000, again = 10;
  PrivateTrainingSettings budget;
  InteractionSettings data;
  DpSvdSettings();
  void bind(SettingsTable& table);

  // Refuses other rounds than the two releases, noise without a budget and a budget without noise.
  Status check(std::int64_t rounds) const;
  SumsShape shape(const Dataset& dataset, const InteractionData& data) const;
  SpectrumSettings spectrum(std::size_t users) const;
  RankingWeights ranking(std::size_t users) const;
  std::vector<TabularField> features_of(const Dataset& dataset) const;
};

}  // namespace sotto
