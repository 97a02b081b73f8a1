#include "eval/experiments/serving/serving_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace sotto::private_serving {

using nlohmann::json;

namespace {

constexpr std::array families = {
    Family::average_user,
    Family::exact,
    Family::vdp,
    Family::coefficients_paper,
    Family::coefficients_laplace,
    Family::coefficients_gaussian,
    Family::prototypes_response,
    Family::prototypes_similarity,
    Family::prototypes_pack,
    Family::direction_laplace,
    Family::direction_gaussian,
};

// JSON knows no infinity: null stands for it.
json finite_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double infinite_if_null(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}
double nan_if_null(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

// Throws json::exception on anything unexpected.
ServingRow read_row(const json& line) {
  ServingRow row;
  const auto family_name = line.at("mechanism").get<std::string>();
  const auto family =
      std::find_if(families.begin(), families.end(), [&](Family f) { return name(f) == family_name; });
  if (family == families.end()) throw json::other_error::create(501, "unknown mechanism", nullptr);
  row.choice = {*family, line.at("size").get<std::size_t>(), infinite_if_null(line.at("epsilon_asked"))};
  row.privacy.claimed = infinite_if_null(line.at("epsilon_claimed"));
  if (!line.at("epsilon").is_null()) row.privacy.epsilon = line.at("epsilon").get<double>();
  row.privacy.delta = line.at("delta").get<double>();
  for (const std::string& measure : measure_names())
    row.measures[measure] = {nan_if_null(line.at(measure)), nan_if_null(line.at(measure + "_error"))};
  return row;
}

}  // namespace

const std::vector<std::string>& measure_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const char* measure : {"auc", "ndcg10", "hits10", "pool_hits10", "pool_found10", "pool_score10",
                                "reranked_hits10", "reranked_found10", "reranked_score10"}) {
      all.emplace_back(measure);
      all.push_back(std::string(measure) + "_share");
    }
    return all;
  }();
  return names;
}

std::string epsilon_text(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:g}", epsilon) : "∞";
}

json to_json(const ServingRow& row) {
  json line = {{"event", "row"},
               {"mechanism", name(row.choice.family)},
               {"size", row.choice.size},
               {"epsilon_asked", finite_or_null(row.choice.epsilon)},
               {"epsilon_claimed", finite_or_null(row.privacy.claimed)},
               {"epsilon", row.privacy.epsilon ? json(*row.privacy.epsilon) : json(nullptr)},
               {"delta", row.privacy.delta},
               {"unit", "whole history, one answer"}};
  for (const auto& [measure, estimate] : row.measures) {
    line[measure] = finite_or_null(estimate.value);
    line[measure + "_error"] = finite_or_null(estimate.error);
  }
  return line;
}

std::string key_of(const MechanismChoice& choice) {
  return fmt::format("{} {} {}", name(choice.family), choice.size, choice.epsilon);
}

Result<ServingRow> row_of(const json& line) {
  try {
    return read_row(line);
  } catch (const json::exception&) {
    return bad_input("a finished row is not of this experiment: use another --out");
  }
}

std::string to_csv(const std::vector<ServingRow>& rows, bool quick) {
  std::string csv = "mechanism,size,epsilon_asked,epsilon_claimed,epsilon_true,delta,unit,quick";
  for (const std::string& measure : measure_names()) csv += fmt::format(",{0},{0}_error", measure);
  csv += '\n';
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::isnan(value) ? "" : std::string("inf");
  };
  for (const ServingRow& row : rows) {
    csv += fmt::format("{},{},{},{},{},{:g},whole history,{}", name(row.choice.family), row.choice.size,
                       number(row.choice.epsilon), number(row.privacy.claimed),
                       row.privacy.epsilon ? number(*row.privacy.epsilon) : "none", row.privacy.delta,
                       quick ? "quick" : "full");
    for (const std::string& measure : measure_names()) {
      const Estimate estimate = row.measures.at(measure);
      csv += fmt::format(",{},{}", number(estimate.value), number(estimate.error));
    }
    csv += '\n';
  }
  return csv;
}

std::string to_text(const std::vector<ServingRow>& rows, bool quick) {
  std::string text =
      fmt::format("{}{:<36}{:>6}{:>8}{:>11}{:>8}{:>15}{:>15}{:>15}\n", quick ? "QUICK RUN\n" : "",
                  "mechanism", "size", "ε", "true ε", "AUC", "gain kept", "pool", "re-ranked");
  const auto share = [](const Estimate& estimate) {
    return std::isfinite(estimate.value)
               ? fmt::format("{:.0f} ± {:.0f} %", 100 * estimate.value, 100 * estimate.error)
               : std::string("–");
  };
  for (const ServingRow& row : rows) {
    text += fmt::format(
        "{:<36}{:>6}{:>8}{:>11}{:>8.2f}{:>15}{:>15}{:>15}\n", describe(row.choice.family),
        row.choice.size == 0 ? "" : std::to_string(row.choice.size), epsilon_text(row.choice.epsilon),
        row.privacy.epsilon ? fmt::format("{:.4g}", *row.privacy.epsilon) : "none",
        100 * row.measures.at("auc").value, share(row.measures.at("auc_share")),
        share(row.measures.at("pool_score10_share")), share(row.measures.at("reranked_score10_share")));
  }
  return text;
}

}  // namespace sotto::private_serving
