#include "eval/experiments/private_rec/experiments.h"
#include "eval/experiments/private_rec/private_rows.h"

namespace sotto {

namespace {

// By ε_s: the best ε_t with noise against training without.
std::string claim_tested(const std::vector<GridResult>& results) {
  std::string text =
      "The claim: a model trained with moderate noise answers private queries better than one trained "
      "without. ";
  std::vector<std::string> groups;
  for (const GridResult& result : results)
    if (groups.empty() || groups.back() != result.row.group) groups.push_back(result.row.group);
  for (const std::string& group : groups) {
    const GridResult *best = nullptr, *without = nullptr;
    for (const GridResult& result : results) {
      if (result.row.group != group) continue;
      if (result.row.x == axis_epsilon(INFINITY))
        without = &result;
      else if (best == nullptr || result.mean("auc").mean > best->mean("auc").mean)
        best = &result;
    }
    if (best == nullptr || without == nullptr) continue;
    const MeanAndError noisy = best->mean("auc"), clean = without->mean("auc");
    const double gain = 100 * (noisy.mean - clean.mean), error = 100 * std::hypot(noisy.error, clean.error);
    text += fmt::format("At {}: {} gives {:+.2f} AUC points{} against training without noise. ", group,
                        best->row.label, gain,
                        std::isfinite(error) ? fmt::format(" ± {:.2f}", error) : " (one seed)");
  }
  return text + "The best of several ε_t is taken, which favours the claim a little.";
}

}  // namespace

Result<Grid> privaterec_noise_helps(const GridContext& context) {
  constexpr double none = INFINITY;
  Grid grid;
  grid.title = "PrivateRec: does noise in training help private serving?";
  grid.about =
      "Models trained at several ε_t (as printed, B = 5, p = 0.5) and asked at several ε_s. ε_t = ∞ stands "
      "at 100 on the axis.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.plots = {
      {"auc", "AUC by the noise in training", "auc", "ε_t of training (∞ at 100)", "AUC, %", 100, true}};
  grid.verdict = claim_tested;
  for (const double serving : {0.1, 1.0, 10.0, none}) {
    for (const double training : {1.0, 5.0, 10.0, 20.0, none}) {
      SOTTO_TRY(auto row, private_rec_row(context, {5, 0.5, training, serving},
                                          fmt::format("ε_t = {}", epsilon_name(training))));
      row.group = row.series = fmt::format("ε_s = {}", epsilon_name(serving));
      row.x = axis_epsilon(training);
      grid.rows.push_back(std::move(row));
    }
  }
  return grid;
}

}  // namespace sotto
