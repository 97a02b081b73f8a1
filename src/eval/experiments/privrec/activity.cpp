#include "eval/experiments/privrec/experiments.h"
#include "eval/experiments/privrec/shared_settings.h"

namespace sotto {

Result<Grid> privrec_activity(const GridContext& context) {
  Grid grid;
  grid.title = "PrivRec: results by activity of the user";
  grid.about =
      "The paper says that first-order meta-learning helps inactive users most. Test users in three parts "
      "of equal size by the number of rows on their device.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  grid.columns = {{"by_activity.0.hits10", "Hits@10, least active third", 1, 3},
                  {"by_activity.1.hits10", "Hits@10, middle third", 1, 3},
                  {"by_activity.2.hits10", "Hits@10, most active third", 1, 3},
                  {"hits10", "Hits@10, all", 1, 3},
                  {"by_activity.0.ndcg10", "nDCG@10, least active third", 1, 3},
                  {"by_activity.2.ndcg10", "nDCG@10, most active third", 1, 3}};
  grid.plots = {{"least-active", "The least active third", "by_activity.0.hits10", "", "Hits@10", 1},
                {"most-active", "The most active third", "by_activity.2.hits10", "", "Hits@10", 1}};
  grid.rows = {{"PrivRec", "privrec", {}},
               {"FOFL-SELF", "fofl-self", {}},
               {"NN-SELF", "nn-self", {}},
               {"FCF", "fcf", {}},
               {"PrivRec-CEN", "privrec-cen", {}}};
  return grid;
}

}  // namespace sotto
