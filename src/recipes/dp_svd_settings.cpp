#include "recipes/dp_svd_settings.h"

#include <algorithm>

namespace sotto {

namespace {

// The fewer columns, the less noise: features with more values than this (title words) are left out.
constexpr std::int64_t most_values_of_feature = 100;

}  // namespace

DpSvdSettings::DpSvdSettings() {
  // Everybody is in one sum: with fewer bits the grid is so coarse that rounding lengthens the vectors.
  budget.bits = 28;
}

void DpSvdSettings::bind(SettingsTable& table) {
  table.add_choice("noise", noise, {"distributed", "none"}, "none: no noise, no differential privacy")
      .add("items", items, {0, 10'000},
           "Items that get a vector, the most counted ones; 0: training users / 8, between 50 and 1,000")
      .add(
          "choose_noise", choose_noise, {0.0, 1000.0},
          "Noise multiplier of the counts that choose them, over that of the pairs; 0: thousands of training "
          "users, between 1 and 4")
      .add("vectors", vectors, {1, 4096}, "Numbers per item, at most")
      .add("ridge", ridge, {0.0, 1e9}, "A direction in which so many users agree counts half")
      .add("features", features, "Also look for what items of one genre, category or decade have in common")
      .add("popularity", popularity, {0.0, 1e9},
           "With so many training users an item's share of all counts adds to its score once, "
           "with half of them twice")
      .add("again", again, {0.0, 1e6},
           "How far what a user has used before is lifted, by the logarithm of how often");
  budget.bind_budget(table);
  data.bind(table);
}

Status DpSvdSettings::check(std::int64_t rounds) const {
  if (rounds != 2)
    return bad_input("dp-svd has two rounds, one for each release, not {}: leave out rounds", rounds);
  if (noise == "none" && budget.epsilon > 0)
    return bad_input("noise=none keeps no budget: leave out --epsilon, or noise=none");
  if (noise != "none" && budget.epsilon <= 0)
    return bad_input("dp-svd needs a budget: give --epsilon (and delta, {:g} by default)", budget.delta);
  return {};
}

SumsShape DpSvdSettings::shape(const Dataset& dataset, const InteractionData& interactions) const {
  const std::uint64_t users = interactions.users.size(), all = dataset.item_count();
  const std::uint64_t chosen =
      items > 0 ? static_cast<std::uint64_t>(items) : std::clamp<std::uint64_t>(users / 8, 50, 1000);
  const double counts_noise =
      choose_noise > 0 ? choose_noise : std::clamp(static_cast<double>(users) / 1000, 1.0, 4.0);
  return {all, std::min(chosen, all), users, counts_noise};
}

SpectrumSettings DpSvdSettings::spectrum(std::size_t users) const {
  return {vectors, ridge / static_cast<double>(users)};
}

RankingWeights DpSvdSettings::ranking(std::size_t users) const {
  return {popularity / static_cast<double>(users), again};
}

std::vector<TabularField> DpSvdSettings::features_of(const Dataset& dataset) const {
  if (!features) return {};
  return item_fields(dataset.catalogue(), most_values_of_feature);
}

}  // namespace sotto
