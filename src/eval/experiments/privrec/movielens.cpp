#include "eval/experiments/privrec/experiments.h"
#include "eval/experiments/privrec/shared_settings.h"

namespace sotto {

Result<Grid> privrec_movielens(const GridContext& context) {
  Grid grid;
  grid.title = "PrivRec, Table 1: systems compared on MovieLens";
  grid.about =
      "80 % of the users train; of every other user a random half of the rows is on the device and the "
      "other half is ranked among all items it never touched, ties averaged. Genres and demographics, all "
      "that the paper's model reads, cannot tell most movies apart; the row 'as printed' shows what they "
      "give, the others read item vectors and what the device remembers.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  grid.columns = interaction_columns();
  grid.plots = {{"hits10", "Systems compared", "hits10", "", "Hits@10", 1}};
  grid.rows = {
      {"FOFL-SELF",
       "fofl-self",
       {},
       "",
       with_ndcg(paper_hits(.118, .152, .195, .241), .101, .130, .169, .207)},
      {"NN-SELF", "nn-self", {}, "", with_ndcg(paper_hits(.109, .148, .190, .235), .098, .124, .162, .201)},
      {"FCF", "fcf", {}, "", with_ndcg(paper_hits(.092, .140, .186, .228), .088, .118, .155, .195)},
      {"PrivRec", "privrec", {}, "", with_ndcg(paper_hits(.123, .160, .205, .249), .106, .137, .174, .210)},
      {"PrivRec-CEN",
       "privrec-cen",
       {},
       "",
       with_ndcg(paper_hits(.127, .163, .207, .252), .109, .138, .178, .212)},
  };
  if (context.data != "Frappe")  // which has no stars, the printed labels
    grid.rows.push_back({"PrivRec, as printed", "privrec", printed_privrec(context), "",
                         with_ndcg(paper_hits(.123, .160, .205, .249), .106, .137, .174, .210)});
  return grid;
}

}  // namespace sotto
