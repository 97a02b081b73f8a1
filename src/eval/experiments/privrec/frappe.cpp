#include "eval/experiments/privrec/experiments.h"
#include "eval/experiments/privrec/shared_settings.h"

namespace sotto {

namespace {

std::vector<PaperNumber> privrec_numbers() {
  return with_ndcg(paper_hits(.541, .624, .661, .688), .483, .560, .607, .626);
}

std::vector<GridRow> frappe_systems(const std::string& group, const std::string& rows, bool paper) {
  const auto numbers = [&](std::vector<PaperNumber> known) {
    return paper ? known : std::vector<PaperNumber>{};
  };
  const std::vector<std::string> protocol = {"rows=" + rows};
  return {
      {"FOFL-SELF", "fofl-self", protocol, group,
       numbers(with_ndcg(paper_hits(.536, .618, .655, .682), .479, .554, .600, .621))},
      {"NN-SELF", "nn-self", protocol, group,
       numbers(with_ndcg(paper_hits(.531, .613, .651, .677), .472, .550, .595, .616))},
      {"FCF", "fcf", protocol, group,
       numbers(with_ndcg(paper_hits(.527, .506, .646, .671), .469, .544, .591, .612))},
      {"PrivRec", "privrec", protocol, group, numbers(privrec_numbers())},
      {"PrivRec-CEN", "privrec-cen", protocol, group,
       numbers(with_ndcg(paper_hits(.543, .628, .665, .690), .484, .563, .608, .628))},
  };
}

}  // namespace

Result<Grid> privrec_frappe(const GridContext& context) {
  Grid grid;
  grid.title = "PrivRec, Table 2: systems compared on Frappe";
  grid.about =
      "Two protocols: every row of the log counts, so that the app of a held-out row is often one that the "
      "device knows; and each app of a user counts once. On log rows the rule 'own apps, then popularity' "
      "is already as good as the paper's row. Frappe has no stars: every row is positive. The row marked as "
      "leaking reads cnt, how often the user used that very app, as the paper does: the answer itself. "
      "FCF's Hits@10 is printed in the paper below its Hits@5, which cannot be.";
  grid.paper_data = "Frappe";
  grid.shared = interaction_settings(context);
  grid.columns = interaction_columns();
  grid.plots = {{"hits10", "Systems compared: log rows, then distinct pairs", "hits10", "", "Hits@10", 1}};
  grid.rows = frappe_systems("log rows", "log", true);
  if (context.data == grid.paper_data)  // no other data has cnt
    grid.rows.push_back(
        {"PrivRec, leaking", "privrec", {"rows=log", "inputs=leaking"}, "log rows", privrec_numbers()});
  for (GridRow& row : frappe_systems("distinct pairs", "distinct", false))
    grid.rows.push_back(std::move(row));
  return grid;
}

}  // namespace sotto
