#include <nlohmann/json.hpp>

#include "base/log.h"
#include "data/dataset.h"
#include "data/newsroom/newsroom.h"
#include "eval/experiments/experiment.h"
#include "eval/experiments/grid/run_grid.h"

namespace sotto {

namespace {

constexpr std::int64_t quick_readers = 1500, quick_news = 800;

// A newsroom of its own, made once.
Result<fs::path> quick_newsroom(const fs::path& out) {
  const fs::path data = out / "newsroom";
  if (fs::exists(data / "dataset.sotto")) return data;
  NewsroomSettings newsroom;
  newsroom.users = quick_readers;
  newsroom.news = quick_news;
  info("no --data: a newsroom of {} readers and {} news items", newsroom.users, newsroom.news);
  std::error_code error;
  fs::create_directories(out, error);
  if (error) return failed("cannot create {}: {}", out.string(), error.message());
  SOTTO_TRY(const auto report, generate_newsroom(newsroom, data));
  (void)report;
  return data;
}

Result<fs::path> data_for(const ExperimentEntry& entry, const ExperimentRequest& request) {
  if (!request.data.empty()) return request.data;
  if (entry.needs == DataNeed::news) {
    if (request.quick) return quick_newsroom(request.out);
    return bad_input(
        "'{}' needs --data DIR: news with text and impressions. Make a set with 'sotto data generate "
        "newsroom --out DIR' or 'sotto data import mind|adressa SOURCE --out DIR', or look at a small one "
        "with --quick",
        entry.name);
  }
  return bad_input(
      "'{}' needs --data DIR: ratings or a usage log. Download MovieLens-1M or Frappe and import it with "
      "'sotto data import movielens ml-1m --out DIR' or 'sotto data import frappe FOLDER --out DIR'",
      entry.name);
}

Status check_kind(const ExperimentEntry& entry, const Dataset& dataset) {
  if (entry.needs == DataNeed::news && !dataset.has_impressions())
    return bad_input(
        "{} has no impressions: '{}' ranks what readers were shown. Give it a set made by 'sotto data "
        "generate newsroom' or 'sotto data import mind|adressa'",
        dataset.name(), entry.name);
  if (entry.needs == DataNeed::interactions && !dataset.has_interactions())
    return bad_input(
        "{} has no interactions: '{}' needs ratings or a usage log. Give it a set made by 'sotto data "
        "import movielens|frappe'",
        dataset.name(), entry.name);
  return {};
}

}  // namespace

std::string_view describe(DataNeed need) {
  switch (need) {
    case DataNeed::news:
      return "news";
    case DataNeed::interactions:
      return "interactions";
    default:
      return "no data";
  }
}

Result<ExperimentResult> run_experiment(const ExperimentEntry& entry, const ExperimentRequest& request) {
  if (!request.run.empty() && !entry.takes_run)
    return bad_input("'{}' trains its own runs: leave out --run", entry.name);
  if (entry.needs == DataNeed::none) return entry.run(request);
  ExperimentRequest ready = request;
  SOTTO_TRY(ready.data, data_for(entry, request));
  SOTTO_TRY(const auto dataset, Dataset::open(ready.data));
  SOTTO_CHECK(check_kind(entry, dataset));
  if (entry.grid == nullptr) return entry.run(ready);
  SOTTO_TRY(const Grid grid, entry.grid(context_of(dataset, ready)));
  return run_grid(grid, entry.name, ready, dataset);
}

}  // namespace sotto
