#include "eval/experiments/privrec/experiments.h"
#include "eval/experiments/privrec/shared_settings.h"

namespace sotto {

Result<Grid> privrec_sweeps(const GridContext& context) {
  Grid grid;
  grid.title = "PrivRec, Figure 2: rounds, local epochs and users per round";
  grid.about =
      "Hits@20 while one of E1 (rounds), E2 (local epochs) and M (users per round) varies and the others "
      "stay. The paper's figure has no printed values: results rise up to E1 = 40 and E2 = 100 and hardly "
      "depend on M. Local rounds as printed, the model with item vectors.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  grid.columns = interaction_columns();
  grid.plots = {{"hits20", "E1, E2 and M", "hits20", "E1, E2 or M", "Hits@20", 1}};
  struct Sweep {
    const char *name, *setting;
    std::vector<int> full, quick;
  };
  const std::vector<Sweep> sweeps = {
      {"E1", "rounds", {5, 20, 40, 60, 80, 100}, {5, 15, 40}},
      {"E2", "local_epochs", {5, 20, 40, 60, 80, 100, 120}, {1, 3, 9}},
      {"M", "cohort", {2, 5, 10, 15, 20, 25, 30, 35, 40}, {2, 10, 40}},
  };
  const std::vector<std::string> others = {fmt::format("rounds={}", context.pick(60, 15)),
                                           fmt::format("local_epochs={}", context.pick(20, 2)),
                                           fmt::format("cohort={}", context.pick(30, 10)),
                                           "local_steps=0",
                                           "local_learning_rate=0.1",
                                           "optimiser=sgd",
                                           "learning_rate=1"};
  for (const Sweep& sweep : sweeps) {
    for (const int value : context.pick(sweep.full, sweep.quick)) {
      auto settings = others;
      settings.push_back(fmt::format("{}={}", sweep.setting, value));
      grid.rows.push_back({fmt::format("{} = {}", sweep.name, value),
                           "privrec",
                           std::move(settings),
                           sweep.name,
                           {},
                           sweep.name,
                           static_cast<double>(value)});
    }
  }
  return grid;
}

}  // namespace sotto
