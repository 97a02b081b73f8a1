#include "eval/demo.h"

#include <algorithm>
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

struct System {
  const char *title, *recipe, *folder;
  std::int64_t rounds;
  std::string epsilon;  // empty: no differential privacy
  std::vector<std::string> settings;
};

// The paper's model, narrower, with trained words: what 2 cores learn in ten seconds.
std::vector<std::string> narrow_model(std::vector<std::string> more) {
  std::vector<std::string> settings = {"word_size=64",
                                       "heads=4",
                                       "head_size=16",
                                       "pooling_size=32",
                                       "word_scale=0.3",
                                       "start=identity",
                                       "validation_impressions=1000"};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

std::vector<System> systems() {
  return {{"central (collects all clicks)", "central-fednewsrec", "central", 60, "",
           narrow_model({"batch=900", "learning_rate=0.01", "halve_every=30", "evaluate_every=12"})},
          {"federated (clicks stay on the devices)", "fedrec", "federated", 66, "",
           narrow_model({"cohort=300", "learning_rate=0.01", "halve_every=33", "evaluate_every=11"})},
          {"private (sotto: federated, with noise)", "sotto", "private", 30, "8", {"against=server"}}};
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
  job.rounds = std::max<std::int64_t>(2, std::llround(settings.length * static_cast<double>(system.rounds)));
  job.epsilon = system.epsilon;
  job.assignments = system.settings;
  Progress progress(system.folder, static_cast<std::uint64_t>(*job.rounds), "rounds");
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
  newsroom.users = settings.readers;
  newsroom.news = settings.news;
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
  for (const DemoTraining& one : trained) {
    const TrainOutcome& outcome = one.outcome;
    result.rows.push_back(
        {one.title, outcome.test.mean, share(outcome.test.mean.auc),
         outcome.bytes_up ? static_cast<double>(outcome.bytes_up + outcome.bytes_down) : NAN,
         outcome.summary.seconds,
         outcome.privacy ? fmt::format("{:.2f}", outcome.privacy->epsilon_server.value_or(INFINITY))
                         : "none"});
  }
  result.rows.push_back({"best possible (true interests)", world.oracle.best, 1, NAN, NAN});
  result.report = settings.out / "report.html";
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  SOTTO_CHECK(write_file_atomically(result.report, demo_report(result, trained, world, dataset)));
  return result;
}

std::string to_text(const DemoResult& result) {
  std::string text =
      fmt::format("{:<40} {:>6} {:>6} {:>7} {:>8} {:>9} {:>5} {:>16} {:>8}\n", "", "AUC", "MRR", "nDCG@5",
                  "nDCG@10", "of best*", "ε**", "bytes per client", "seconds");
  const auto number = [](double value, int digits) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : std::string("-");
  };
  for (const auto& row : result.rows)
    text += fmt::format("{:<40} {:>6.2f} {:>6.2f} {:>7.2f} {:>8.2f} {:>8.0f}% {:>5} {:>16} {:>8}\n",
                        row.system, 100 * row.metrics.auc, 100 * row.metrics.mrr, 100 * row.metrics.ndcg5,
                        100 * row.metrics.ndcg10, 100 * row.share, row.epsilon,
                        number(row.bytes_per_client, 0), number(row.seconds, 1));
  return text +
         "* share of the way from 'most popular first' to the best possible AUC\n"
         "** of the whole training, per reader, against the server, at delta 1e-6; none: nothing is "
         "guaranteed\n";
}

}  // namespace sotto
