// Every recipe that devices train, one line each.

#include "base/settings.h"
#include "local/models/catalogue_user.h"
#include "local/models/mixture_model.h"
#include "local/models/news_models.h"
#include "local/models/split_user.h"
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

Made make_efficient(LocalSettings given) {
  ExampleSettings examples{.negatives = 4};
  std::int64_t heads = 20, head_size = 20, pooling_size = 200;
  double dropout = 0.2;
  SettingsTable table;
  examples.bind(table);
  table.add("heads", heads, {1, 1024}, "Heads of self-attention")
      .add("head_size", head_size, {1, 4096}, "Numbers of a head; a vector has one for each")
      .add("pooling_size", pooling_size, {1, 65536}, "Hidden units of additive pooling")
      .add("dropout", dropout, {0.0, 0.95}, "Share of numbers that are dropped in training");
  SOTTO_CHECK(apply(table, given));
  return std::make_unique<RankingTrainer>(
      make_split_user({heads * head_size, heads, head_size, pooling_size, dropout}), examples);
}

Made make_fednewsrec(LocalSettings given) {
  ExampleSettings examples{.negatives = 4};
  NewsSizes sizes;
  SettingsTable table;
  examples.bind(table);
  sizes.bind(table, true);
  SOTTO_CHECK(apply(table, given));
  SOTTO_CHECK(sizes.check());
  return std::make_unique<RankingTrainer>(make_fednewsrec_model(sizes), examples);
}

Made make_private_rec(LocalSettings given) {
  ExampleSettings examples{.negatives = 4};
  NewsSizes sizes;
  std::int64_t basis_vectors = 3;
  double weight_clip = 1;
  SettingsTable table;
  examples.bind(table);
  sizes.bind(table, false);
  table.add("basis_vectors", basis_vectors, {1, 4096}, "B, public vectors that readers are mixtures of")
      .add("weight_clip", weight_clip, {1e-6, 1.0}, "theta, L2 norm of the mixture's weights");
  SOTTO_CHECK(apply(table, given));
  SOTTO_CHECK(sizes.check());
  return std::make_unique<RankingTrainer>(
      make_mixture_model(make_nrms_model(sizes, "backbone."), basis_vectors, weight_clip), examples);
}

struct Entry {
  std::string_view recipe;
  Made (*make)(LocalSettings settings);
};
constexpr Entry trainers[] = {
    {"sotto", &make_flagship},
    {"efficient-fedrec", &make_efficient},
    {"fednewsrec", &make_fednewsrec},
    {"privaterec", &make_private_rec},
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
