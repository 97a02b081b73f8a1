#include "eval/experiments/grid/grid.h"

#include <limits>

namespace sotto {

MeanAndError mean_over_seeds(std::span<const double> values) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {unknown, unknown};
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  if (values.size() == 1) return {mean, unknown};
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1) / count)};
}

std::string GridContext::option(std::string_view name) const {
  std::string value;
  for (const std::string& assignment : assignments) {
    const auto equals = assignment.find('=');
    if (equals != std::string::npos && std::string_view(assignment).substr(0, equals) == name)
      value = assignment.substr(equals + 1);
  }
  return value;
}

MeanAndError GridResult::mean(const std::string& measure) const {
  const auto found = values.find(measure);
  return mean_over_seeds(found == values.end() ? std::span<const double>() : std::span(found->second));
}

std::vector<GridColumn> news_columns() {
  return {{"auc", "AUC"}, {"mrr", "MRR"}, {"ndcg5", "nDCG@5"}, {"ndcg10", "nDCG@10"}};
}

std::vector<GridColumn> interaction_columns() {
  return {{"hits5", "Hits@5", 1, 3},   {"hits10", "Hits@10", 1, 3}, {"hits20", "Hits@20", 1, 3},
          {"hits30", "Hits@30", 1, 3}, {"ndcg5", "nDCG@5", 1, 3},   {"ndcg10", "nDCG@10", 1, 3},
          {"ndcg20", "nDCG@20", 1, 3}, {"ndcg30", "nDCG@30", 1, 3}};
}

std::vector<PaperNumber> paper_news(double auc, double mrr, double ndcg5, double ndcg10) {
  return {{"auc", auc / 100}, {"mrr", mrr / 100}, {"ndcg5", ndcg5 / 100}, {"ndcg10", ndcg10 / 100}};
}

}  // namespace sotto
