#include "eval/experiments/efficient/efficient_rows.h"
#include "eval/experiments/efficient/experiments.h"

namespace sotto {

Result<Grid> efficient_cost(const GridContext& context) {
  Grid grid;
  grid.title = "Efficient-FedRec, Figure 3: what a client sends, receives and computes";
  grid.about =
      "Exact encoded sizes per client and round; a float is four bytes. The paper counts numbers in both "
      "directions: 2.18 million with its news model of any size, 10.01 million for FedRec with the smallest "
      "BERT. Ours also holds the sketch that finds the union, item numbers and the click count. Seconds are "
      "of this machine, all clients of a round computed together; the paper's 0.02 s and 0.69 s are of one "
      "client alone.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 10) +
                Settings{fmt::format("rounds={}", context.pick(10, 4)), "evaluate_every=100"};
  grid.columns = {{"bytes_down", "MB down", 1e-6, 3, Better::lower},
                  {"bytes_up", "MB up", 1e-6, 3, Better::lower},
                  {"bytes", "million floats, both ways", 0.25e-6, 3, Better::lower},
                  {"client_seconds", "seconds per client", 1, 4, Better::lower}};
  grid.plots = {{"bytes", "Per client and round", "bytes", "", "MB, both ways", 1e-6, false, true},
                {"seconds", "Per client and round", "client_seconds", "", "seconds", 1, false, true}};
  const Settings few = {fmt::format("cohort={}", context.pick(50, 20)), "validation_impressions=0"},
                 group = {fmt::format("group={}", context.pick(50, 20))};
  const auto floats = [](double millions, double seconds) {
    return std::vector<PaperNumber>{{"bytes", 4e6 * millions}, {"client_seconds", seconds}};
  };
  grid.rows = {
      {"FedRec", "fedrec", few},
      {"FedRec(BERT tiny)", "fedrec-bert", few + Settings{"bert_size=tiny"}, "", floats(10.01, 0.69)},
      {"Efficient-FedRec(BERT tiny)", "efficient-fedrec",
       efficient_settings(context, false) + group + Settings{"model=plm-nr", "bert_size=tiny"}, "",
       floats(2.18, 0.02)},
      {"Efficient-FedRec(NRMS)", "efficient-fedrec", efficient_settings(context, false) + group},
      {"Efficient-FedRec(NRMS), compressed", "efficient-fedrec", efficient_settings(context, true) + group},
      // A group this small needs so little noise for what is published that nothing would hold against the
      // server: the budget is for its view.
      {"Efficient-FedRec(NRMS), sound, ε = 8", "efficient-fedrec",
       sound_settings(context, 8) + group + Settings{"against=server"}},
  };
  return grid;
}

}  // namespace sotto
