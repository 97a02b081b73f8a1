#include "eval/demo.h"

#include <chrono>
#include <cmath>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "data/newsroom/newsroom.h"
#include "eval/baselines.h"
#include "eval/demo_report.h"
#include "eval/training_run.h"

namespace sotto {

namespace {

constexpr const char* marker = "demo.json";

// The paper's model, narrower, with trained words: what 2 cores learn in half a minute.
const std::vector<std::string> narrow_model = {
    "word_size=64",   "heads=4",       "head_size=16", "pooling_size=32", "validation_impressions=1000",
    "word_scale=0.3", "start=identity"};

struct System {
  const char *title, *recipe, *folder;
  std::int64_t rounds;
  std::vector<std::string> settings;
};

std::vector<System> systems() {
  return {{"central (collects all clicks)",
           "central-fednewsrec",
           "central",
           60,
           {"batch=900", "learning_rate=0.01", "halve_every=30", "evaluate_every=12"}},
          {"federated (clicks stay on the devices)",
           "fedrec",
           "federated",
           66,
           {"cohort=300", "learning_rate=0.01", "halve_every=33", "evaluate_every=11"}}};
}

Status clear_earlier_demo(const fs::path& out) {
  if (!fs::exists(out)) return {};
  if (!fs::is_directory(out)) return bad_input("{} is a file: choose another --out", out.string());
  if (!fs::is_empty(out) && !fs::exists(out / marker))
    return bad_input("{} is not empty and not an earlier demo: choose another --out", out.string());
  std::error_code error;
  fs::remove_all(out, error);
  if (error) return failed("cannot clear {}: {}", out.string(), error.message());
  return {};
}

Result<DemoTraining> train_system(const System& system, const DemoSettings& settings,
                                  const Dataset& dataset) {
  TrainJob job;
  job.recipe = system.recipe;
  job.data = settings.out / "newsroom";
  job.out = settings.out / system.folder;
  job.seed = settings.seed;
  job.rounds = system.rounds;
  job.assignments = narrow_model;
  job.assignments.insert(job.assignments.end(), system.settings.begin(), system.settings.end());
  Progress progress(system.folder, static_cast<std::uint64_t>(system.rounds), "rounds");
  SOTTO_TRY(auto outcome, train_run(job, dataset, [&](const RoundRecord& record) {
              progress.set(record.round);
              if (record.validation)
                progress.note(fmt::format("validation AUC {:.1f}", 100 * record.validation->auc));
            }));
  if (outcome.summary.interrupted) return failed("interrupted; run the demo again to start over");
  return DemoTraining{system.title, system.recipe, std::move(outcome)};
}

}  // namespace

Result<DemoResult> run_demo(const DemoSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  SOTTO_CHECK(clear_earlier_demo(settings.out));
  std::error_code error;
  fs::create_directories(settings.out, error);
  if (error) return failed("cannot create {}: {}", settings.out.string(), error.message());
  SOTTO_CHECK(write_file_atomically(settings.out / marker, "{\"made by\": \"sotto demo\"}\n"));

  NewsroomSettings newsroom;
  newsroom.users = 10000;
  newsroom.news = 2500;
  newsroom.seed = static_cast<std::int64_t>(settings.seed);
  info("a newsroom of {} readers and {} news items", newsroom.users, newsroom.news);
  SOTTO_TRY(const auto world, generate_newsroom(newsroom, settings.out / "newsroom"));
  SOTTO_TRY(const auto dataset, Dataset::open(settings.out / "newsroom"));

  std::vector<DemoTraining> trained;
  for (const System& system : systems()) {
    SOTTO_TRY(auto one, train_system(system, settings, dataset));
    trained.push_back(std::move(one));
  }

  const auto share = [&](double auc) { return world.oracle.share_of_attainable(auc); };
  DemoResult result;
  result.rows.push_back({"random order", world.oracle.random, share(world.oracle.random.auc), NAN, NAN});
  result.rows.push_back({"most popular first", world.oracle.popularity, 0, NAN, NAN});
  for (const DemoTraining& one : trained)
    result.rows.push_back(
        {one.title, one.outcome.test.mean, share(one.outcome.test.mean.auc),
         one.outcome.bytes_up ? static_cast<double>(one.outcome.bytes_up + one.outcome.bytes_down) : NAN,
         one.outcome.summary.seconds});
  result.rows.push_back({"best possible (true interests)", world.oracle.best, 1, NAN, NAN});
  result.report = settings.out / "report.html";
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  SOTTO_CHECK(write_file_atomically(result.report, demo_report(result, trained, world, dataset)));
  return result;
}

std::string to_text(const DemoResult& result) {
  std::string text = fmt::format("{:<40} {:>6} {:>6} {:>7} {:>8} {:>9} {:>16} {:>8}\n", "", "AUC", "MRR",
                                 "nDCG@5", "nDCG@10", "of best*", "bytes per client", "seconds");
  const auto number = [](double value, const char* unit) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, unit[0] - '0') : std::string("-");
  };
  for (const auto& row : result.rows)
    text += fmt::format("{:<40} {:>6.2f} {:>6.2f} {:>7.2f} {:>8.2f} {:>8.0f}% {:>16} {:>8}\n", row.system,
                        100 * row.metrics.auc, 100 * row.metrics.mrr, 100 * row.metrics.ndcg5,
                        100 * row.metrics.ndcg10, 100 * row.share, number(row.bytes_per_client, "0"),
                        number(row.seconds, "1"));
  return text + "* share of the way from 'most popular first' to the best possible AUC\n";
}

}  // namespace sotto
