#include "eval/experiments/grid/grid_results.h"

#include <nlohmann/json.hpp>
#include <set>

#include "data/newsroom/report.h"
#include "eval/impression_evaluator.h"

namespace sotto {

using nlohmann::json;

namespace {

void add_numbers(std::map<std::string, std::vector<double>>& values, const std::string& path,
                 const json& value) {
  if (value.is_number()) {
    values[path].push_back(value.get<double>());
  } else if (value.is_structured()) {
    for (const auto& [key, part] : value.items())
      add_numbers(values, path.empty() ? key : path + "." + key, part);
  }
}

std::map<std::string, double> values_of(const ImpressionMetrics& metrics) {
  return {{"auc", metrics.auc}, {"mrr", metrics.mrr}, {"ndcg5", metrics.ndcg5}, {"ndcg10", metrics.ndcg10}};
}

std::vector<TrivialRow> of_impressions(const Dataset& dataset, const fs::path& data) {
  const auto test = impressions_of_split(dataset, Split::test);
  std::vector<TrivialRow> rows = {
      {"", "random order", values_of(evaluate_random(dataset, test).mean)},
      {"", "most popular first", values_of(evaluate_popularity(dataset, test).mean)}};
  if (const auto oracle = read_oracle(data))
    rows.push_back({"", "best possible (true interests)", values_of(oracle->best)});
  return rows;
}

// "beside.NAME.MEASURE" of the first row of every group; protocols differ between groups only.
std::vector<TrivialRow> of_interactions(const std::vector<GridResult>& results) {
  constexpr std::string_view beside = "beside.";
  std::vector<TrivialRow> rows;
  std::set<std::string> seen;
  for (const GridResult& result : results) {
    if (!seen.insert(result.row.group).second) continue;
    std::map<std::string, TrivialRow> by_name;
    for (const auto& [path, values] : result.values) {
      if (!path.starts_with(beside)) continue;
      const auto dot = path.rfind('.');
      const std::string name = path.substr(beside.size(), dot - beside.size());
      TrivialRow& row = by_name[name];
      row.group = result.row.group;
      row.label = name;
      row.values[path.substr(dot + 1)] = mean_over_seeds(values).mean;
    }
    for (auto& [name, row] : by_name) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void add_measures(GridResult& result, const json& run) { add_numbers(result.values, "", run); }

std::vector<TrivialRow> trivial_rows(const Dataset& dataset, const fs::path& data,
                                     const std::vector<GridResult>& results) {
  return dataset.has_impressions() ? of_impressions(dataset, data) : of_interactions(results);
}

EpsilonTexts epsilon_texts(const GridResult& result) {
  const auto text = [&](const char* measure, const char* otherwise) -> std::string {
    const auto mean = result.mean(measure).mean;
    return std::isfinite(mean) ? fmt::format("{:.4g}", mean) : otherwise;
  };
  EpsilonTexts texts{text("epsilon_claimed", ""), text("epsilon", "none"), text("epsilon_published", "none")};
  if (!result.row.query) return texts;
  const QueryEpsilon& query = *result.row.query;
  const auto one = [](double epsilon) {
    return std::isfinite(epsilon) ? fmt::format("{:.4g}", epsilon) : std::string("∞");
  };
  texts.claimed += fmt::format("{}query {}", texts.claimed.empty() ? "" : "; ", one(query.claimed));
  texts.server += fmt::format("; query {}", query.holds ? one(*query.holds) : "none");
  return texts;
}

}  // namespace sotto
