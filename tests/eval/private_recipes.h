#pragma once
// Every recipe with differential privacy, and settings that make each small.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "recipes/recipe.h"

namespace sotto::eval::testing {

struct PrivateRecipe {
  std::string recipe, mode;
  // As part of a test's name.
  std::string label() const {
    std::string name = recipe + "_" + mode;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
  bool takes_interactions() const { return recipe == "dp-privrec" || recipe == "dp-svd"; }
};
inline void PrintTo(const PrivateRecipe& tested, std::ostream* out) {
  *out << tested.recipe << ", " << tested.mode;
}

inline nlohmann::json settings_of(const recipes::RecipeEntry& entry) {
  SettingsTable table;
  const auto recipe = entry.make();
  recipe->bind(table);
  return table.to_json();
}

inline std::vector<PrivateRecipe> private_recipes() {
  std::vector<PrivateRecipe> cases;
  for (const recipes::RecipeEntry& entry : recipes::recipes()) {
    if (!entry.differentially_private) continue;
    cases.push_back({std::string(entry.name), "sound"});
    if (settings_of(entry).contains("mode")) cases.push_back({std::string(entry.name), "paper"});
  }
  return cases;
}

// What the recipe knows of a list of settings that make it small.
inline std::vector<std::string> small_settings(const std::string& name) {
  const nlohmann::json known = settings_of(*recipes::find_recipe(name).value());
  std::vector<std::string> settings;
  for (const std::string setting : {"cohort=12", "group=12", "word_size=8", "heads=2", "head_size=4",
                                    "filters=8", "pooling_size=4", "vector_size=8", "embedding=4", "hidden=4",
                                    "layers=1", "serving_epsilon=3", "prototypes=4", "train_words=true"})
    if (known.contains(setting.substr(0, setting.find('=')))) settings.push_back(setting);
  return settings;
}

}  // namespace sotto::eval::testing
