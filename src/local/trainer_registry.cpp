// Every recipe that devices train, one line each.

#include "base/settings.h"
#include "local/interaction_trainer.h"
#include "local/item_sums.h"
#include "local/models/catalogue_user.h"
#include "local/models/mixture_model.h"
#include "local/models/news_models.h"
#include "local/models/split_user.h"
#include "local/ranking_trainer.h"

namespace sotto::local {

namespace {

using Made = Result<std::unique_ptr<LocalTrainer>>;

// Histories that one sum reads, and those whose clicks attend to each other.
constexpr std::int64_t longest_pooled = 10'000, longest_attended = 1000;

Status apply(SettingsTable& table, LocalSettings settings) {
  for (const auto& [name, value] : settings) SOTTO_CHECK(table.set(name, value));
  return {};
}

Made make_flagship(LocalSettings given) {
  ExampleSettings examples;
  std::int64_t vector_size = 64;
  SettingsTable table;
  examples.bind(table, longest_pooled);
  table.add("vector_size", vector_size, {1, 4096}, "Numbers of an item's vector");
  SOTTO_CHECK(apply(table, given));
  return std::make_unique<RankingTrainer>(make_catalogue_user(vector_size), examples);
}

Made make_efficient(LocalSettings given) {
  ExampleSettings examples{.negatives = 4};
  std::int64_t heads = 20, head_size = 20, pooling_size = 200;
  double dropout = 0.2;
  SettingsTable table;
  examples.bind(table, longest_attended);
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
  examples.bind(table, longest_attended);
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
  examples.bind(table, longest_attended);
  sizes.bind(table, false);
  table.add("basis_vectors", basis_vectors, {1, 4096}, "B, public vectors that readers are mixtures of")
      .add("weight_clip", weight_clip, {1e-6, 1.0}, "theta, L2 norm of the mixture's weights");
  SOTTO_CHECK(apply(table, given));
  SOTTO_CHECK(sizes.check());
  return std::make_unique<RankingTrainer>(
      make_mixture_model(make_nrms_model(sizes, "backbone."), basis_vectors, weight_clip), examples);
}

// How rows of interactions count, as the server's recipes say it.
void bind(EventUse& events, std::string& rows, SettingsTable& table) {
  table
      .add("positive_above", events.positive_above, {-1e6, 1e6},
           "Ratings above this are positive; rows without a rating always are")
      .add_choice("rows", rows, {"log", "distinct"},
                  "log: every row counts, items may repeat; distinct: each item of a user counts once");
}

// Where the two start: PrivRec's rounds, and one step as private training takes it.
Made make_interactions(LocalSettings given, InteractionTrainerSettings start) {
  NetworkSizes& sizes = start.sizes;
  std::int64_t user_fields = 0, context_fields = 0;
  std::string values, rows = "log";
  SettingsTable table;
  bind(start.events, rows, table);
  table
      .add_choice(
          "inputs", sizes.inputs, {"rich", "ids", "paper"},
          "What the model reads: what the device remembers, item vectors and features; without features; "
          "features alone")
      .add("catalogue", sizes.items, {0, 100'000'000}, "Items that there are")
      .add("field_values", values, "Values of every feature, of readers, situations and items: 2,7,18")
      .add("user_fields", user_fields, {0, 1000}, "How many of them are of readers")
      .add("context_fields", context_fields, {0, 1000}, "How many of them are of situations")
      .add("embedding", sizes.embedding, {1, 4096}, "Size of every embedding")
      .add("hidden", sizes.hidden, {1, 65536}, "Units of every hidden layer")
      .add("layers", sizes.layers, {1, 64}, "Hidden layers")
      .add_choice("labels", start.steps.labels, {"sampled", "ratings"},
                  "Negatives: items the user never touched (sampled), or rows rated low (the paper's)")
      .add("negatives", start.steps.negatives, {1, 1000}, "Sampled negatives per positive")
      .add("local_batch", start.steps.batch, {1, 1'000'000}, "Positives per local step")
      .add("local_epochs", start.steps.epochs, {1, 10'000}, "Local epochs of a device in a round (E2)")
      .add("local_steps", start.steps.most, {0, 1'000'000},
           "Local steps of a round at most; 0: all of the epochs")
      .add("local_learning_rate", start.learning_rate, {1e-9, 1e6}, "Step size on a device (alpha1)")
      .add("proximal", start.proximal, {0.0, 1e6}, "mu, how strongly a copy is held to the global model")
      .add_choice("proximal_norm", start.proximal_norm, {"squared", "paper"},
                  "The distance that is held: squared, or as PrivRec prints it")
      .add("max_rows", start.max_rows, {1, 100'000}, "Most recent rows that a device learns from at once")
      .add("tuning_epochs", start.tuning_epochs, {0, 10'000},
           "Epochs of fine-tuning on the device before it ranks")
      .add("tuning_rate", start.tuning_rate, {1e-9, 1e6}, "Step size of fine-tuning");
  SOTTO_CHECK(apply(table, given));
  SOTTO_TRY(sizes.values, parse_values(values));
  sizes.user_fields = static_cast<std::size_t>(user_fields);
  sizes.context_fields = static_cast<std::size_t>(context_fields);
  if (sizes.user_fields + sizes.context_fields > sizes.values.size())
    return bad_input("user_fields and context_fields are {} and {}, and field_values names {} features",
                     user_fields, context_fields, sizes.values.size());
  if (sizes.items == 0) return bad_input("catalogue is missing: give the number of its items");
  start.events.distinct = rows == "distinct";
  if ((sizes.inputs == "ids") != sizes.values.empty() && sizes.inputs != "rich")
    return bad_input("inputs={} goes {} features: change inputs or field_values", sizes.inputs,
                     sizes.values.empty() ? "with" : "without");
  start.steps.remembers = sizes.remembers();
  return std::make_unique<InteractionTrainer>(std::move(start));
}

Made make_privrec(LocalSettings given) {
  InteractionTrainerSettings start;
  start.steps.epochs = 20, start.steps.most = 0;
  start.learning_rate = 0.1, start.proximal = 0.01, start.proximal_norm = "paper";
  start.tuning_epochs = 5;
  return make_interactions(given, std::move(start));
}

Made make_dp_privrec(LocalSettings given) { return make_interactions(given, {}); }

Made make_dp_svd(LocalSettings given) {
  ItemSumsSettings settings;
  std::string rows = "log";
  SettingsTable table;
  bind(settings.events, rows, table);
  table.add("catalogue", settings.catalogue, {0, 100'000'000}, "Items that there are")
      .add("items", settings.items, {0, 10'000}, "Items that get a vector, the most counted ones")
      .add("vectors", settings.vectors, {1, 4096}, "Numbers per item of the model")
      .add("low", settings.weights.low, {0.0, 1.0}, "How much a row counts that is not positive")
      .add("centre", settings.centre, {0.0, 1.0}, "Share of what everybody likes that is taken out of tastes")
      .add("popularity_weight", settings.weights.popularity, {0.0, 1e9},
           "How much an item's count adds to its score")
      .add("rare", settings.weights.rare, {0.0, 1.0},
           "Items of a history count by this power of how much rarer they are than the most counted one")
      .add("again", settings.weights.again, {0.0, 1e6},
           "How far what a reader has used before is lifted, by the logarithm of how often")
      .add("max_rows", settings.max_rows, {1, 10'000'000}, "Most recent rows that a device reads");
  SOTTO_CHECK(apply(table, given));
  if (settings.catalogue == 0) return bad_input("catalogue is missing: give the number of its items");
  if (settings.items == 0) return bad_input("items is missing: say how many items get a vector");
  settings.events.distinct = rows == "distinct";
  return std::make_unique<ItemSumsTrainer>(settings);
}

struct Entry {
  std::string_view recipe;
  Made (*make)(LocalSettings settings);
};
constexpr Entry trainers[] = {
    {"sotto", &make_flagship},        {"efficient-fedrec", &make_efficient},
    {"fednewsrec", &make_fednewsrec}, {"privaterec", &make_private_rec},
    {"privrec", &make_privrec},       {"dp-privrec", &make_dp_privrec},
    {"dp-svd", &make_dp_svd},
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
