#include "coordinator/http/serving_figures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace sotto::coordinator {

namespace {

using nlohmann::json;

struct Line {
  std::string_view name;
  std::map<std::string_view, std::string_view> labels;
  double value = 0;
};

std::optional<double> number_of(std::string_view text) {
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// name{label="value",...} number. Labels with escapes are none that are read here.
std::optional<Line> read_line(std::string_view text) {
  Line line;
  const std::size_t end = text.find_first_of("{ ");
  if (end == std::string_view::npos) return std::nullopt;
  line.name = text.substr(0, end);
  if (text[end] == '{') {
    text.remove_prefix(end + 1);
    while (!text.starts_with('}')) {
      const std::size_t equals = text.find("=\"");
      if (equals == std::string_view::npos) return std::nullopt;
      const std::string_view label = text.substr(0, equals);
      text.remove_prefix(equals + 2);
      const std::size_t quote = text.find_first_of("\"\\");
      if (quote == std::string_view::npos || text[quote] == '\\') return std::nullopt;
      line.labels[label] = text.substr(0, quote);
      text.remove_prefix(quote + 1);
      if (text.starts_with(',')) text.remove_prefix(1);
    }
    text.remove_prefix(1);
  } else {
    text.remove_prefix(end);
  }
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto value = number_of(text.substr(0, text.find(' ')));
  if (!value || !(*value >= 0)) return std::nullopt;
  line.value = *value;
  return line;
}

bool asks_for_recommendations(const Line& line) {
  const auto route = line.labels.find("route");
  return route != line.labels.end() &&
         (route->second == "/v1/recommend" || route->second == "/v1/popular" || route->second == "/v1/blind");
}

void take(ServingSample& sample, const Line& line) {
  if (line.name == "sotto_pool_items") sample.items = line.value;
  if (line.name == "sotto_items_stored_total") sample.stored = line.value;
  if (line.name == "sotto_items_removed_total") sample.removed = line.value;
  if (line.name == "sotto_catalogue_refused_changes") sample.changes_lost = line.value;
  if (line.name == "sotto_http_refused_connections_total") sample.refusals["connections"] += line.value;
  if (line.name == "sotto_http_requests_total") {
    const auto status = line.labels.find("status");
    if (status != line.labels.end() && status->second >= "400")
      sample.refusals[std::string(status->second)] += line.value;
  }
  if (!asks_for_recommendations(line)) return;
  if (line.name == "sotto_http_request_seconds_count") sample.queries += line.value;
  if (line.name != "sotto_http_request_seconds_bucket") return;
  const auto bound = line.labels.find("le");
  if (bound == line.labels.end()) return;
  if (const auto seconds = number_of(bound->second)) sample.faster[*seconds] += line.value;
}

// Within the bucket that it falls into answers count as spread evenly; beyond the last bound nothing is
// known.
json quantile(const std::map<double, double>& faster, double share) {
  if (faster.empty() || !(faster.rbegin()->second > 0)) return nullptr;
  const double wanted = share * faster.rbegin()->second;
  double below = 0, at_most = 0;
  for (const auto& [bound, count] : faster) {
    if (count >= wanted && count > at_most) {
      if (!std::isfinite(bound)) return 1000 * below;
      return 1000 * (below + (bound - below) * (wanted - at_most) / (count - at_most));
    }
    below = bound, at_most = count;
  }
  return nullptr;
}

}  // namespace

Result<ServingSample> read_serving_metrics(std::string_view text, std::chrono::steady_clock::time_point now) {
  ServingSample sample;
  sample.time = now;
  bool has_items = false;
  while (!text.empty()) {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(row.size() + 1, text.size()));
    if (row.empty() || row.starts_with('#')) continue;
    const auto line = read_line(row);
    if (!line) continue;
    has_items = has_items || line->name == "sotto_pool_items";
    take(sample, *line);
  }
  if (!has_items) return failed("its /metrics are not those of 'sotto serve'");
  return sample;
}

json figures_between(const ServingSample& before, const ServingSample& now) {
  const bool goes_on =
      now.queries >= before.queries && now.stored >= before.stored && now.removed >= before.removed;
  const ServingSample& since = goes_on ? before : now;
  const double seconds = std::chrono::duration<double>(now.time - since.time).count();
  std::map<double, double> faster = now.faster;
  if (goes_on)
    for (auto& [bound, count] : faster) {
      const auto earlier = before.faster.find(bound);
      if (earlier != before.faster.end()) count = std::max(0.0, count - earlier->second);
    }
  const auto per_second = [&](double more) { return seconds > 0 ? json(more / seconds) : json(nullptr); };
  json refusals = json::object();
  for (const auto& [why, times] : now.refusals)
    if (times > 0) refusals[why] = times;
  return {{"items", now.items},
          {"stored", now.stored},
          {"removed", now.removed},
          {"changes_lost", now.changes_lost},
          {"queries", now.queries},
          {"seconds", seconds},
          {"queries_per_second", per_second(now.queries - since.queries)},
          {"stored_per_second", per_second(now.stored - since.stored)},
          {"p50_ms", quantile(faster, 0.5)},
          {"p99_ms", quantile(faster, 0.99)},
          {"refusals", std::move(refusals)}};
}

}  // namespace sotto::coordinator
