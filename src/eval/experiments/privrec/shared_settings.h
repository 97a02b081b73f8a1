#pragma once
// Settings and columns that the experiments on interactions share.

#include <string>
#include <vector>

#include "eval/experiments/grid/grid.h"

namespace sotto {

// Quick: narrow models, few rounds, few test users.
inline std::vector<std::string> interaction_settings(const GridContext& context) {
  if (!context.quick) return {"checkpoint_every=100"};
  return {"rounds=30",  "cohort=20",   "embedding=16",     "hidden=16",           "layers=2",
          "factors=16", "negatives=4", "train_share=0.95", "checkpoint_every=30", "learning_rate=0.01"};
}

// Rounds as PrivRec prints them: features alone, rows rated low as negatives, plain averaging, the unsquared
// proximal term, M = 30.
inline std::vector<std::string> printed_privrec(const GridContext& context) {
  return {"inputs=paper",    "labels=ratings",
          "optimiser=sgd",   "learning_rate=1",
          "cohort=30",       "local_epochs=5",
          "local_steps=0",   "local_learning_rate=0.05",
          "proximal=0.01",   "proximal_norm=paper",
          "tuning_epochs=5", fmt::format("rounds={}", context.pick(1000, 20))};
}

inline std::vector<PaperNumber> paper_hits(double at5, double at10, double at20, double at30) {
  return {{"hits5", at5}, {"hits10", at10}, {"hits20", at20}, {"hits30", at30}};
}

inline std::vector<PaperNumber> with_ndcg(std::vector<PaperNumber> hits, double at5, double at10, double at20,
                                          double at30) {
  hits.insert(hits.end(), {{"ndcg5", at5}, {"ndcg10", at10}, {"ndcg20", at20}, {"ndcg30", at30}});
  return hits;
}

}  // namespace sotto
