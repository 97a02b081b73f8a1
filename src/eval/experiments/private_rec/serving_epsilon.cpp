#include "eval/experiments/private_rec/experiments.h"
#include "eval/experiments/private_rec/private_rows.h"

namespace sotto {

Result<Grid> privaterec_serving_epsilon(const GridContext& context) {
  constexpr double none = INFINITY;
  Grid grid;
  grid.title = "PrivateRec, Figure 4: AUC by the ε of a query";
  grid.about =
      "PrivateRec with B = 5, trained at several ε_t and asked at several ε_s, as printed; ε_s = ∞ stands "
      "at 100 on the axis. The paper's figure has no printed values. 'serving-epsilon' shows PrivateRec's "
      "mechanism beside others at equal, true ε, and with re-ranking on the device.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.plots = {
      {"auc", "AUC by the ε of a query", "auc", "claimed ε_s of one query (∞ at 100)", "AUC, %", 100, true}};
  for (const double training : context.pick<std::vector<double>>({1, 10, 20, none}, {1, 10, none})) {
    for (const double padding : context.pick<std::vector<double>>({0.2, 0.5}, {0.5})) {
      for (const double serving :
           context.pick<std::vector<double>>({.001, .01, .1, 1, 5, 10, none}, {.001, .1, 1, 10, none})) {
        SOTTO_TRY(auto row, private_rec_row(context, {5, padding, training, serving},
                                            fmt::format("ε_s = {}", epsilon_name(serving))));
        row.group = row.series = fmt::format("ε_t = {}, p = {:g}", epsilon_name(training), padding);
        row.x = axis_epsilon(serving);
        grid.rows.push_back(std::move(row));
      }
    }
  }
  return grid;
}

}  // namespace sotto
