// What privacy costs as the population grows: the same readers are tested, more and more of them train.
//
// Cohort, rounds and steps follow from the number N of readers who may train by the rule below, which looks
// at no private data and is the same with and without noise. It was fixed before any of these rows was
// trained.

#include <algorithm>
#include <cmath>

#include "eval/experiments/news_settings.h"
#include "eval/experiments/paper_experiments.h"

namespace sotto::eval {

namespace {

constexpr double most_in_a_round = 20'000, least_in_a_round = 40;

// A fifth of them per round, at most 20,000: the noise of a mean falls with the cohort, and beyond that
// rounds cost more than they bring. 40 rounds: every round is paid for.
Settings rule(const GridContext& context, std::int64_t readers) {
  const double cohort = std::clamp(std::floor(static_cast<double>(readers) / 5),
                                   std::min<double>(least_in_a_round, static_cast<double>(readers)),
                                   context.pick(most_in_a_round, 150.0));
  const int rounds = context.pick(40, 6);
  return {fmt::format("cohort={:.0f}", cohort), fmt::format("rounds={}", rounds), "validation_impressions=0"};
}

// FedAdam adapts its steps to what noise leaves of a mean; one clip for all sizes.
Settings steps() { return {"optimiser=fedadam", "learning_rate=0.01"}; }

Settings private_settings(const Budget& budget, std::int64_t readers) {
  return budget.settings() +
         Settings{fmt::format("delta={:g}", 0.1 / static_cast<double>(readers)), "sums=law"};
}

std::vector<std::int64_t> populations(const GridContext& context) {
  const auto users = static_cast<std::int64_t>(context.users);
  std::vector<std::int64_t> numbers;
  for (const std::int64_t wanted :
       context.pick<std::vector<std::int64_t>>({10'000, 100'000, 1'000'000, 10'000'000}, {300}))
    if (wanted < users) numbers.push_back(wanted);
  numbers.push_back(context.quick ? std::min<std::int64_t>(users, 1500) : users);
  return numbers;
}

struct System {
  const char *name, *recipe, *without_noise;
  Settings own, open;  // with noise and without
};

std::vector<System> systems() {
  return {{"FedNewsRec", "fednewsrec", "fedrec", {"mode=sound"}, {}},
          {"Sotto", "sotto", "sotto", {}, {"noise=none"}}};
}

}  // namespace

Result<Grid> population(const GridContext& context) {
  SOTTO_CHECK(check_width(context));
  Grid grid;
  grid.title = "What privacy costs as the population grows";
  grid.about =
      "The same test impressions for all rows; of the readers more and more train. A fifth of those who "
      "train "
      "take part in a round, at most 20,000, for 40 rounds, δ is a tenth of one over their number: the rule "
      "is public, the same with and without noise, and looks at nobody's data. For the full picture take a "
      "newsroom of 10^6 readers.";
  grid.paper_data = "none";
  grid.options = {"width"};
  grid.shared = news_settings(context, 40);
  grid.columns = news_columns();
  grid.columns.push_back({"seconds", "s of training", 1, 1, Better::lower});
  grid.stated = {"user_share", "cohort", "rounds", "delta", "noise"};
  grid.plots = {{"auc", "AUC by number of readers who train", "auc", "readers", "AUC, %", 100, true}};
  std::vector<Budget> budgets;
  for (const char* against : {"server", "published"})
    for (const Budget& budget : Budget::each_of(context, {2, 8}, against))
      if (std::none_of(budgets.begin(), budgets.end(),
                       [&](const Budget& known) { return known.name() == budget.name(); }))
        budgets.push_back(budget);
  for (const System& system : systems()) {
    const bool flagship = std::string_view(system.recipe) == "sotto";
    for (const std::int64_t readers : populations(context)) {
      const Settings who =
          rule(context, readers) + Settings{user_share(context, readers)} + (flagship ? Settings{} : steps());
      const auto add = [&](const char* recipe, Settings settings, const std::string& what) {
        GridRow row{fmt::format("{} readers, {}", readers, what), recipe, std::move(settings), system.name};
        row.series = fmt::format("{}, {}", system.name, what);
        row.x = static_cast<double>(readers);
        row.takes_shared = !flagship;  // its own model and steps
        row.own = {"rounds"};
        grid.rows.push_back(std::move(row));
      };
      add(system.without_noise, who + system.open, "no noise");
      for (const Budget& budget : budgets)
        add(system.recipe, who + system.own + private_settings(budget, readers), budget.name());
    }
  }
  return grid;
}

}  // namespace sotto::eval
