#include "data/newsroom/report.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace sotto {
namespace {

constexpr std::uint64_t largest_oracle_file = 1 << 20;

// The one list of names, for writing and reading.
constexpr std::array<std::pair<const char*, ImpressionMetrics NewsroomOracle::*>, 6> scorers{{
    {"best", &NewsroomOracle::best},
    {"history", &NewsroomOracle::history},
    {"category", &NewsroomOracle::category},
    {"true_appeal", &NewsroomOracle::true_appeal},
    {"popularity", &NewsroomOracle::popularity},
    {"random", &NewsroomOracle::random},
}};
constexpr std::array<std::pair<const char*, double ImpressionMetrics::*>, 4> metrics{{
    {"auc", &ImpressionMetrics::auc},
    {"mrr", &ImpressionMetrics::mrr},
    {"ndcg5", &ImpressionMetrics::ndcg5},
    {"ndcg10", &ImpressionMetrics::ndcg10},
}};

}  // namespace

double NewsroomOracle::share_of_attainable(double auc) const {
  const double attainable = best.auc - popularity.auc;
  return attainable > 0 ? (auc - popularity.auc) / attainable : 0;
}

nlohmann::json to_json(const NewsroomReport& report) {
  nlohmann::json json;
  for (const auto& [scorer, metrics_of] : scorers)
    for (const auto& [metric, value_of] : metrics) json[scorer][metric] = report.oracle.*metrics_of.*value_of;
  json["shares"] = {{"history_of_attainable", report.oracle.share_of_attainable(report.oracle.history.auc)},
                    {"category_of_attainable", report.oracle.share_of_attainable(report.oracle.category.auc)},
                    {"unseen_test_candidates", report.shape.unseen_share},
                    {"test_impressions_without_history", report.shape.empty_history_share}};
  json["shape"] = {{"train_impressions", report.shape.train_impressions},
                   {"test_impressions", report.shape.test_impressions},
                   {"train_impressions_per_user", report.shape.train_impressions_per_user},
                   {"history_mean", report.shape.history_mean},
                   {"history_median", report.shape.history_median},
                   {"shown_mean", report.shape.shown_mean},
                   {"clicks_mean", report.shape.clicks_mean}};
  json["counts"] = {{"users", report.counts.users},
                    {"items", report.counts.items},
                    {"impressions", report.counts.impressions},
                    {"clicks", report.counts.clicks}};
  return json;
}

Result<NewsroomOracle> read_oracle(const fs::path& directory) {
  const fs::path path = directory / oracle_file;
  SOTTO_TRY(const std::string text, read_file(path, largest_oracle_file));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  NewsroomOracle oracle;
  for (const auto& [scorer, metrics_of] : scorers)
    for (const auto& [metric, value_of] : metrics) {
      const nlohmann::json::json_pointer where(fmt::format("/{}/{}", scorer, metric));
      if (!json.is_object() || !json.contains(where) || !json.at(where).is_number())
        return bad_input("{} has no number {}/{}: generate the newsroom again", path.string(), scorer,
                         metric);
      const double value = json.at(where).get<double>();
      if (!(value >= 0 && value <= 1))
        return bad_input("{}: {}/{} is not between 0 and 1: generate the newsroom again", path.string(),
                         scorer, metric);
      oracle.*metrics_of.*value_of = value;
    }
  return oracle;
}

}  // namespace sotto
