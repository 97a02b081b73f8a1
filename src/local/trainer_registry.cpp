// Every recipe that devices train, one line each.

#include "base/settings.h"
#include "local/models/catalogue_user.h"
#include "local/ranking_trainer.h"

namespace sotto::local {

namespace {

using Made = Result<std::unique_ptr<LocalTrainer>>;

Status apply(SettingsTable& table, LocalSettings settings) {
  for (const auto& [name, value] : settings) SOTTO_CHECK(table.set(name, value));
  return {};
}

Made make_flagship(LocalSettings given) {
  ExampleSettings examples;
  std::int64_t vector_size = 64;
  SettingsTable table;
  examples.bind(table);
  table.add("vector_size", vector_size, {1, 4096}, "Numbers of an item's vector");
  SOTTO_CHECK(apply(table, given));
  return std::make_unique<RankingTrainer>(make_catalogue_user(vector_size), examples);
}

struct Entry {
  std::string_view recipe;
  Made (*make)(LocalSettings settings);
};
constexpr Entry trainers[] = {
    {"sotto", &make_flagship},
};

}  // namespace

std::vector<std::string> recipes_with_trainers() {
  std::vector<std::string> recipes;
  for (const Entry& entry : trainers) recipes.emplace_back(entry.recipe);
  return recipes;
}

Result<std::unique_ptr<LocalTrainer>> find_trainer(std::string_view recipe, LocalSettings settings) {
  for (const Entry& entry : trainers) {
    if (entry.recipe != recipe) continue;
    auto made = entry.make(settings);
    if (!made) return tl::unexpected(std::move(made).error().in("local settings of " + std::string(recipe)));
    return made;
  }
  const auto near = nearest(recipe, recipes_with_trainers());
  return bad_input("devices do not train the recipe '{}'{}", recipe,
                   near ? fmt::format("; did you mean '{}'?", *near) : "");
}

}  // namespace sotto::local
