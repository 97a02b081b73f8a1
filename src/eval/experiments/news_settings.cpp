#include "eval/experiments/news_settings.h"

#include <algorithm>

namespace sotto::eval {

Settings operator+(Settings first, const Settings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Settings with_model(std::string_view name) { return {fmt::format("model={}", name)}; }

namespace {

bool narrow(const GridContext& context) { return context.option("width") == "narrow"; }

// Vectors of 64 numbers, which learn in a fraction of the time; steps suit them.
Settings narrow_sizes() {
  return {"word_size=64",    "heads=4",          "head_size=16",   "filters=64",
          "pooling_size=32", "category_size=16", "entity_size=32", "user_size=16",
          "dropout=0.3",     "start=identity",   "word_scale=0.3"};
}

// A round costs what its users clicked: fewer rounds where they clicked much.
std::string quick_rounds(const GridContext& context) {
  constexpr double most = 40, least = 2, usual_clicks = 20;
  return fmt::format("rounds={:.0f}",
                     std::clamp(most * usual_clicks / std::max(context.clicks_per_user, 1.0), least, most));
}

}  // namespace

std::uint64_t user_vector_size(const GridContext& context) {
  if (context.quick) return 32;
  return narrow(context) ? 64 : 400;
}

Settings news_settings(const GridContext& context, std::int64_t full_rounds) {
  // Word vectors that nobody trained mean nothing.
  const Settings words = context.option("glove").empty() ? Settings{"train_words=true"} : Settings{};
  if (!context.quick) {
    const Settings rounds = {fmt::format("rounds={}", full_rounds), "evaluate_every=50",
                             "checkpoint_every=50"};
    return rounds + words + (narrow(context) ? narrow_sizes() : Settings{});
  }
  return Settings{quick_rounds(context),  "evaluate_every=10", "checkpoint_every=20",
                  "word_size=32",         "heads=4",           "head_size=8",
                  "filters=32",           "pooling_size=16",   "category_size=8",
                  "entity_size=16",       "user_size=8",       "start=identity",
                  "word_scale=0.3",       "max_words=15",      "max_history=20",
                  "max_abstract_words=15"} +
         words;
}

Settings central_settings(const GridContext& context) {
  if (context.quick) return {"batch=200", "learning_rate=0.01", "validation_impressions=200"};
  Settings settings = {"rounds=5000", "batch=128", "evaluate_every=250", "patience=4"};
  if (narrow(context)) settings.emplace_back("learning_rate=0.003");
  return settings;
}

Settings federated_settings(const GridContext& context) {
  if (context.quick) return {"cohort=50", federated_rate(context), "validation_impressions=200"};
  return {cohort_of(context, 0.02), federated_rate(context)};
}

std::string federated_rate(const GridContext& context) {
  if (context.quick) return "learning_rate=0.01";
  return narrow(context) ? "learning_rate=0.006" : "learning_rate=0.001";
}

Status check_width(const GridContext& context) {
  const std::string width = context.option("width");
  if (width.empty() || width == "paper" || width == "narrow") return {};
  return bad_input("width={} is neither paper (the papers' sizes) nor narrow (64 numbers)", width);
}

Settings fcf_settings(const GridContext& context) {
  if (context.quick) return {"cohort=50", "factors=16"};
  return {"rounds=500", cohort_of(context, 0.02)};
}

Settings sound_settings(const GridContext& context, const Budget& budget) {
  const Settings rounds = budget.settings() + Settings{"mode=sound", "validation_impressions=0"};
  // The noise of a device is one draw for every number of its model.
  if (context.quick) return rounds + Settings{"learning_rate=0.01", "sums=law"};
  return rounds + Settings{"learning_rate=0.003"};
}

std::vector<GridRow> sotto_rows(const GridContext& context, const Budget& budget) {
  // As many readers as a quick newsroom has.
  constexpr std::int64_t most_when_quick = 1500;
  Settings readers;
  if (context.quick && context.users > most_when_quick)
    readers.push_back(user_share(context, most_when_quick));
  std::vector<GridRow> rows = {{"Sotto, " + budget.name(), "sotto", budget.settings() + readers},
                               {"Sotto, no noise", "sotto", Settings{"noise=none"} + readers}};
  for (GridRow& row : rows) {
    row.takes_shared = false;
    row.own = {"rounds"};  // its own plan, whatever the others take
  }
  return rows;
}

Settings bert_settings(const GridContext& context) {
  return context.quick ? Settings{"rounds=6", "evaluate_every=6", "bert_size=tiny"} : Settings{};
}

Settings bert_devices(const GridContext& context) {
  return context.quick ? Settings{"cohort=20"} : Settings{};
}

std::string cohort_of(const GridContext& context, double share) {
  // A quick look takes as long on a large data set as on a small one.
  constexpr std::int64_t least = 40, most_when_quick = 150;
  const auto wanted = static_cast<std::int64_t>(share * static_cast<double>(context.users));
  return fmt::format("cohort={}",
                     std::clamp(wanted, least, context.quick ? most_when_quick : std::max(least, wanted)));
}

std::vector<std::int64_t> user_numbers(const GridContext& context) {
  const auto users = static_cast<std::int64_t>(context.users);
  std::vector<std::int64_t> numbers;
  for (const std::int64_t wanted : context.quick
                                       ? std::vector<std::int64_t>{100, 300, 1000}
                                       : std::vector<std::int64_t>{1000, 5000, 10000, 20000, 50000, 100000})
    if (wanted < users) numbers.push_back(wanted);
  numbers.push_back(users);
  return numbers;
}

std::string user_share(const GridContext& context, std::int64_t users) {
  return fmt::format("user_share={:.6f}", static_cast<double>(users) / static_cast<double>(context.users));
}

double axis_epsilon(double epsilon) { return std::isfinite(epsilon) ? epsilon : 100; }

std::string epsilon_name(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:g}", epsilon) : "∞";
}

std::string epsilon_setting(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:g}", epsilon) : "0";
}

}  // namespace sotto::eval
