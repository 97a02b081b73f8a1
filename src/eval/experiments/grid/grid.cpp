#include "eval/experiments/grid/grid.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "data/newsroom/oracle.h"
#include "eval/impression_evaluator.h"
#include "recipes/run_data.h"

namespace sotto::eval {

std::string GridContext::option(std::string_view name) const {
  std::string value;
  for (const std::string& assignment : assignments) {
    const auto equals = assignment.find('=');
    if (equals != std::string::npos && std::string_view(assignment).substr(0, equals) == name)
      value = assignment.substr(equals + 1);
  }
  return value;
}

std::string Budget::view_asked_for(const GridContext& context) {
  if (const std::string given = context.option("against"); !given.empty()) return given;
  return context.option("epsilon").empty() ? "" : "server";
}

Budget Budget::of(const GridContext& context, double epsilon, const std::string& against) {
  Budget budget{epsilon, against};
  // What is no number is refused when the row's settings are made.
  if (const std::string given = context.option("epsilon"); !given.empty()) {
    const double value = std::strtod(given.c_str(), nullptr);
    if (std::isfinite(value)) budget.epsilon = value;
  }
  if (const std::string asked = view_asked_for(context); !asked.empty()) budget.against = asked;
  return budget;
}

std::vector<Budget> Budget::each_of(const GridContext& context, const std::vector<double>& epsilons,
                                    const std::string& against) {
  std::vector<Budget> budgets;
  for (const double epsilon : epsilons) {
    const Budget budget = of(context, epsilon, against);
    if (budgets.empty() || budgets.back().epsilon != budget.epsilon) budgets.push_back(budget);
  }
  return budgets;
}

std::string Budget::name() const { return fmt::format("ε = {:g}, {}", epsilon, against); }

std::vector<std::string> Budget::settings() const {
  return {fmt::format("epsilon={}", epsilon), "against=" + against};
}

MeanAndError GridResult::mean(const std::string& measure) const {
  const auto found = values.find(measure);
  return metrics::mean_and_error(found == values.end() ? std::span<const double>()
                                                       : std::span(found->second));
}

std::string GridResult::divergence() const {
  if (diverged.empty()) return "";
  const auto [first, last] = std::minmax_element(diverged.begin(), diverged.end());
  const std::string rounds =
      *first == *last ? fmt::format("round {}", *first) : fmt::format("rounds {} to {}", *first, *last);
  if (runs.empty()) return "diverged, " + rounds;
  return fmt::format("{} of {} seeds diverged, {}", diverged.size(), diverged.size() + runs.size(), rounds);
}

std::string GridResult::cut_short() const {
  const auto rounds = values.find("stopped_after");
  if (rounds == values.end()) return "";
  const auto [least, most] = std::minmax_element(rounds->second.begin(), rounds->second.end());
  return fmt::format("stopped by the clock after {:g}{} of {:g} rounds{}", *least,
                     *least == *most ? "" : fmt::format(" to {:g}", *most), mean("rounds_planned").mean,
                     rounds->second.size() == runs.size()
                         ? ""
                         : fmt::format(" ({} of {} seeds)", rounds->second.size(), runs.size()));
}

bool is_paper_data(const Grid& grid, std::string_view data, std::uint64_t users) {
  constexpr std::uint64_t most_users_of_small = 200'000;  // 94,057; the large one has a million
  if (data == grid.paper_data) return true;
  return grid.paper_data == "MIND-small" && data == "MIND" && users <= most_users_of_small;
}

std::vector<GridColumn> news_columns() {
  return {{"auc", "AUC %"}, {"mrr", "MRR %"}, {"ndcg5", "nDCG@5 %"}, {"ndcg10", "nDCG@10 %"}};
}

std::vector<GridColumn> interaction_columns() {
  return {{"hits5", "Hits@5 %"}, {"hits10", "Hits@10 %"}, {"hits20", "Hits@20 %"}, {"hits30", "Hits@30 %"},
          {"ndcg5", "nDCG@5 %"}, {"ndcg10", "nDCG@10 %"}, {"ndcg20", "nDCG@20 %"}, {"ndcg30", "nDCG@30 %"}};
}

std::vector<PaperNumber> paper_news(double auc, double mrr, double ndcg5, double ndcg10) {
  return {{"auc", auc / 100}, {"mrr", mrr / 100}, {"ndcg5", ndcg5 / 100}, {"ndcg10", ndcg10 / 100}};
}

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

std::map<std::string, double> values_of(const metrics::ImpressionMetrics& metrics) {
  return {{"auc", metrics.auc}, {"mrr", metrics.mrr}, {"ndcg5", metrics.ndcg5}, {"ndcg10", metrics.ndcg10}};
}

// What rankings by popularity are called among the trivial rows of impressions and of interactions.
constexpr const char *popular_of_impressions = "most popular first", *popular_of_interactions = "popularity";

std::vector<TrivialRow> of_impressions(const data::Dataset& dataset, const fs::path& data,
                                       std::uint64_t test_impressions) {
  auto test = impressions_of_split(dataset, data::Split::test);
  recipes::keep_drawn_tests(test, {.dataset = dataset, .run = {}, .test_impressions = test_impressions});
  std::vector<TrivialRow> rows = {
      {"", "random order", values_of(evaluate_random(dataset, test).mean)},
      {"", popular_of_impressions, values_of(evaluate_popularity(dataset, test).mean)}};
  if (const auto oracle = data::read_oracle(data))
    rows.push_back({"", "best possible (true interests)", values_of(oracle->best)});
  return rows;
}

constexpr std::string_view beside = "beside.";

// "beside.NAME.MEASURE" of the first row of every group; protocols differ between groups only.
std::vector<TrivialRow> of_interactions(const std::vector<GridResult>& results) {
  std::vector<TrivialRow> rows;
  std::set<std::string> seen;
  for (const GridResult& result : results) {
    if (result.runs.empty() || !seen.insert(result.row.group).second) continue;
    std::map<std::string, TrivialRow> by_name;
    for (const auto& [path, values] : result.values) {
      if (!path.starts_with(beside)) continue;
      const auto dot = path.rfind('.');
      const std::string name = path.substr(beside.size(), dot - beside.size());
      TrivialRow& row = by_name[name];
      row.group = result.row.group;
      row.label = name;
      row.values[path.substr(dot + 1)] = metrics::mean_and_error(values).mean;
    }
    for (auto& [name, row] : by_name) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void add_measures(GridResult& result, const json& run) { add_numbers(result.values, "", run); }

std::vector<TrivialRow> trivial_rows(const data::Dataset& dataset, const fs::path& data,
                                     const std::vector<GridResult>& results, std::uint64_t test_impressions) {
  return dataset.has_impressions() ? of_impressions(dataset, data, test_impressions)
                                   : of_interactions(results);
}

namespace {

// For the row's own test users where they follow from its seeds, else for everybody's impressions.
double popularity(const GridResult& result, const std::string& measure,
                  const std::vector<TrivialRow>& trivial) {
  const double own = result.mean(fmt::format("{}{}.{}", beside, popular_of_interactions, measure)).mean;
  if (std::isfinite(own)) return own;
  for (const TrivialRow& row : trivial) {
    const auto value = row.values.find(measure);
    if (row.label == popular_of_impressions && value != row.values.end()) return value->second;
  }
  return NAN;
}

}  // namespace

std::optional<bool> is_below_popularity(const GridResult& result, const std::vector<TrivialRow>& trivial) {
  for (const char* measure : {"auc", "hits10"}) {
    const double own = result.mean(measure).mean, popular = popularity(result, measure, trivial);
    if (std::isfinite(own) && std::isfinite(popular)) return own < popular;
  }
  return std::nullopt;
}

EpsilonTexts epsilon_texts(const GridResult& result) {
  const auto text = [&](const char* measure, const char* otherwise) -> std::string {
    const auto mean = result.mean(measure).mean;
    return std::isfinite(mean) ? fmt::format("{:.4g}", mean) : otherwise;
  };
  if (result.has_diverged()) return {};
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

}  // namespace sotto::eval
