#include "eval/experiments/efficient/efficient_rows.h"
#include "eval/experiments/efficient/experiments.h"
#include "eval/experiments/efficient/group_cost.h"

namespace sotto {

Result<Grid> efficient_group_size(const GridContext& context) {
  Grid grid;
  grid.title = "Efficient-FedRec, Figure 4: size of the group";
  grid.about =
      "Rounds until the validation AUC is within 0.2 points of its best, and bytes of all clients until "
      "then. Beside the runs: how large the union of a group's items is, how much of it one user alone "
      "holds, which is what a plain sum gives away, and what a secure sum of the group's numbers costs. The "
      "paper has a union of 1,115 items at 40 users and 1,320 at 50, 114 items per user, and 0.71 s of "
      "secure aggregation per user at 50.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500) +
                Settings{fmt::format("evaluate_every={}", context.pick(25, 5)),
                         fmt::format("validation_impressions={}", context.pick(1000, 300))};
  grid.columns = {{"auc", "AUC"},
                  {"converged_round", "rounds to converge", 1, 0, Better::lower},
                  {"bytes", "MB per client and round", 1e-6, 3, Better::lower},
                  {"bytes_to_converge", "MB in all to converge", 1e-6, 1, Better::lower}};
  grid.plots = {{"rounds", "Rounds to converge", "converged_round", "users in a group", "rounds", 1},
                {"bytes", "Bytes of all clients until convergence", "bytes_to_converge", "users in a group",
                 "MB", 1e-6}};
  const auto sizes = context.pick<std::vector<std::int64_t>>({10, 20, 30, 40, 50, 60}, {10, 20, 50});
  for (const std::int64_t size : sizes)
    grid.rows.push_back({fmt::format("{} users", size),
                         "efficient-fedrec",
                         efficient_settings(context, false) + Settings{fmt::format("group={}", size)},
                         "",
                         {},
                         "Efficient-FedRec",
                         static_cast<double>(size)});
  constexpr std::size_t mind_numbers = 1320 * 400 + 560400;
  grid.extra = [sizes, numbers = context.pick<std::size_t>(mind_numbers, 1 << 16)](const Dataset& dataset) {
    return group_costs(dataset, sizes, numbers);
  };
  return grid;
}

}  // namespace sotto
