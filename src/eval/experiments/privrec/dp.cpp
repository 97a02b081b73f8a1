#include <algorithm>

#include "eval/experiments/privrec/experiments.h"
#include "eval/experiments/privrec/shared_settings.h"

namespace sotto {

Result<Grid> privrec_dp(const GridContext& context) {
  Grid grid;
  grid.title = "DP-PrivRec, Figures 3 and 4: what privacy costs";
  grid.about =
      "PrivRec without noise, DP-PrivRec as printed (the server adds the noise, so that nothing holds "
      "against it), and in sound mode for several budgets, of the published model and against the server, "
      "at δ = 1e-6; and item vectors from two private sums (dp-svd). The paper's figures have no printed "
      "values; it finds losses within 10 %.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  // Every device draws noise for every number of the model: the quick model is narrower still.
  if (context.quick) grid.shared.insert(grid.shared.end(), {"embedding=8", "hidden=8"});
  grid.columns = interaction_columns();
  grid.plots = {{"hits10", "Hits@10 by ε in sound mode", "hits10", "ε of the whole training, one user",
                 "Hits@10", 1, true}};
  const bool frappe = context.data == "Frappe";
  const std::string cohort =
      fmt::format("cohort={}", std::min<std::uint64_t>(std::max<std::uint64_t>(context.users / 4, 2),
                                                       context.pick<std::uint64_t>(1000, 300)));
  grid.rows = {
      {"PrivRec, no noise", "privrec", {}},
      {"DP-PrivRec, as printed",
       "dp-privrec",
       {"mode=paper", "cohort=30", "learning_rate=1", fmt::format("printed_bound={}", frappe ? 35 : 40),
        fmt::format("rounds={}", context.pick(1000, 30))}}};
  for (const char* against : {"published", "server"}) {
    for (const double epsilon : context.pick<std::vector<double>>({1, 2, 4, 8, 16}, {2, 8}))
      grid.rows.push_back(
          {fmt::format("sound, {}, ε = {:g}", against, epsilon),
           "dp-privrec",
           {"mode=sound", "optimiser=adam", context.pick("learning_rate=0.003", "learning_rate=0.03"),
            context.pick("clip=1", "clip=0.1"), cohort, fmt::format("rounds={}", context.pick(200, 20)),
            fmt::format("epsilon={:g}", epsilon), fmt::format("against={}", against)},
           "",
           {},
           fmt::format("budget of the {}",
                       std::string(against) == "server" ? "server's view" : "published model"),
           epsilon});
  }
  for (const double epsilon : context.pick<std::vector<double>>({1, 2, 4, 8, 16}, {2, 8})) {
    grid.rows.push_back(
        {fmt::format("dp-svd, ε = {:g}", epsilon),
         "dp-svd",
         {fmt::format("epsilon={:g}", epsilon), fmt::format("items={}", context.pick(0, 100))},
         "",
         {},
         "two private sums, both views",
         epsilon});
    grid.rows.back().own = {"rounds"};  // two releases, whatever a training takes
  }
  return grid;
}

}  // namespace sotto
