#include "eval/experiments/privrec/experiments.h"
#include "eval/experiments/privrec/shared_settings.h"

namespace sotto {

Result<Grid> privrec_no_proximal(const GridContext& context) {
  Grid grid;
  grid.title = "PrivRec without its proximal term";
  grid.about =
      "The paper credits the proximal term, which holds a device's copy to the global model, for a part of "
      "its gain, and prints no ablation. μ = 0 is without it. Several local epochs: with one step the term "
      "has no effect, its gradient at the start being zero.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  grid.columns = interaction_columns();
  grid.plots = {{"hits10", "Hits@10 by strength of the proximal term", "hits10", "", "Hits@10", 1}};
  const auto row = [&](const std::string& label, double mu, const char* norm) {
    grid.rows.push_back(
        {label,
         "privrec",
         {fmt::format("local_epochs={}", context.pick(10, 3)), "local_steps=0", "local_learning_rate=0.1",
          "optimiser=sgd", "learning_rate=1", fmt::format("rounds={}", context.pick(500, 20)),
          fmt::format("proximal={:g}", mu), fmt::format("proximal_norm={}", norm)}});
  };
  row("μ = 0", 0, "squared");
  for (const double mu : {0.01, 0.1, 1.0}) {
    row(fmt::format("μ = {:g}, squared", mu), mu, "squared");
    row(fmt::format("μ = {:g}, as printed", mu), mu, "paper");
  }
  return grid;
}

}  // namespace sotto
