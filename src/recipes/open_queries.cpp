#include "recipes/open_queries.h"

#include "data/open_histories.h"

namespace sotto {

namespace {

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    parts.push_back(text.substr(first, comma - first));
    first = comma + 1;
  }
  return parts;
}

}  // namespace

void OpenQueries::bind(SettingsTable& table) {
  table.add("public_categories", public_categories,
            "Categories that readers call not sensitive, separated by commas: queries are then exact, cost "
            "nothing and read clicks of these alone");
}

Status OpenQueries::check(const Dataset& dataset, double serving_epsilon) const {
  if (!used()) return {};
  if (serving_epsilon == 0) return check_categories(dataset.catalogue(), split_at_commas(public_categories));
  return bad_input(
      "queries from public_categories read nothing that needs noise: set serving_epsilon=0, or leave "
      "public_categories out to ask with all clicks");
}

Result<MeanImpressionMetrics> OpenQueries::measure(NewsRun& run, const RunRequest& request,
                                                   std::int64_t max_history) const {
  const fs::path folder = request.run / "open-histories";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failed("cannot create {}: {}", folder.string(), error.message());
  MeanImpressionMetrics metrics;
  {
    SOTTO_TRY(const Dataset open,
              open_histories(request.dataset, split_at_commas(public_categories), folder));
    std::vector<std::uint32_t> all(open.impression_count());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    metrics = request.evaluate(run.model(), open, all, static_cast<std::size_t>(max_history));
  }
  fs::remove_all(folder, error);  // a copy for this measurement only
  return metrics;
}

Result<TrainOutcome> OpenQueries::finish(NewsRun& run, TrainOutcome outcome, const RunRequest& request,
                                         std::int64_t max_history) const {
  if (!used() || outcome.summary.interrupted) return outcome;
  SOTTO_TRY(outcome.test, measure(run, request, max_history));
  outcome.privacy->epsilon_query = 0;
  outcome.privacy->server_sees.emplace_back("what was read in " + public_categories +
                                            ", as exactly as queries tell it");
  outcome.privacy->not_protected.emplace_back("clicks in " + public_categories + ": called not sensitive");
  return outcome;
}

Result<TestMetrics> OpenQueries::evaluate(NewsRun& run, const RunRequest& request,
                                          std::int64_t max_history) const {
  SOTTO_CHECK(run.load_best());
  if (!used() || request.take_news) return run.measure_test();
  return measure(run, request, max_history);
}

}  // namespace sotto
