#include "eval/demo.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/make_folder.h"
#include "base/progress.h"
#include "data/describe.h"
#include "data/newsroom/newsroom.h"
#include "eval/impression_evaluator.h"
#include "eval/reporting.h"
#include "eval/training_run.h"
#include "recipes/recipe.h"

namespace sotto::eval {

namespace {

// The HTML report of 'sotto demo'.

struct DemoTraining {
  std::string title, recipe;
  recipes::TrainOutcome outcome;
};

ReportTable result_table(const DemoResult& result) {
  ReportTable table;
  for (const char* heading :
       {"system", "AUC %", "MRR %", "nDCG@5 %", "nDCG@10 %", "of best", "ε", "bytes per client", "seconds"})
    table.columns.push_back({heading, Better::neither});
  for (const auto& row : result.rows)
    table.rows.push_back(
        {TableCell::words(row.system), TableCell::number(100 * row.metrics.auc, 2),
         TableCell::number(100 * row.metrics.mrr, 2), TableCell::number(100 * row.metrics.ndcg5, 2),
         TableCell::number(100 * row.metrics.ndcg10, 2),
         TableCell::words(fmt::format("{:.0f} %", 100 * row.share)), TableCell::words(row.epsilon),
         TableCell::number(row.bytes_per_client, 0), TableCell::number(row.seconds, 1)});
  return table;
}

Plot curves(const std::vector<DemoTraining>& trained, const char* title, const char* y_label,
            const std::function<double(const fl::RoundRecord&)>& value) {
  Plot plot;
  plot.title = title;
  plot.x_label = "seconds of training";
  plot.y_label = y_label;
  for (const auto& one : trained) {
    PlotSeries series;
    series.label = one.title;
    for (const auto& record : one.outcome.summary.rounds) {
      const double y = value(record);
      if (!std::isfinite(y)) continue;
      series.x.push_back(record.seconds);
      series.y.push_back(y);
    }
    if (series.x.empty()) continue;
    if (series.x.size() <= 30) series.style = SeriesStyle::line_and_points;
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::string demo_report(const DemoResult& result, const std::vector<DemoTraining>& trained,
                        const data::NewsroomReport& world, const data::Dataset& dataset) {
  HtmlReport report("Sotto demo",
                    "News recommendation on a generated newsroom: central, federated and private");
  report.paragraph(
      "All systems train on the same readers. The central one collects every click. In the federated one "
      "each "
      "reader's clicks stay on the reader's device: a round asks some devices for a gradient, averages these "
      "and takes one step; it trains the same model as the central one. The private one, Sotto's own, makes "
      "item vectors from the words of the catalogue, the test day's news included, which are public when "
      "they "
      "are shown, and trains a small user model on the devices; the server sees noisy sums alone, and each "
      "device ranks by itself.");
  report.heading("Results").table(result_table(result));
  report.paragraph(
      "All on the test day. 'of best' is the share of the way from 'most popular first' to the best possible "
      "AUC, which "
      "knows every reader's true interests. ε is that of the whole training, per reader, against the server, "
      "at delta 1e-6, with secret noise: this demo draws it from its seed, so that everybody gets the same "
      "table, and no ε holds for its files. Bytes are those of "
      "one round, both directions together.");
  report.privacy_note(
      "The federated system keeps raw clicks on the devices but adds no noise: gradients themselves can "
      "reveal "
      "clicks, so no epsilon holds for it, nor for the central one. Of the private one:");
  for (const auto& one : trained)
    if (one.outcome.privacy) report.preformatted(to_text(*one.outcome.privacy));

  Plot auc = curves(trained, "Validation AUC", "AUC, percent", [](const fl::RoundRecord& record) {
    return record.validation ? 100 * record.validation->auc : NAN;
  });
  auc.references = {{100 * world.oracle.best.auc, "best possible"},
                    {100 * world.oracle.popularity.auc, "most popular first"}};
  report.heading("Learning")
      .plot(auc,
            "AUC on held-out training-day impressions; the reference lines are those of the test day. The "
            "private "
            "system looks at none: choosing a round by what readers did would be one more release.");
  report.plot(
      curves(trained, "Training loss", "cross-entropy per click",
             [](const fl::RoundRecord& record) { return record.loss; }),
      "Mean loss of each round or step, one click against four non-clicks; the private system sets a click "
      "against more of them, so its loss stands higher.");

  report.heading("The newsroom").preformatted(to_text(describe(dataset)));
  report.details("Settings of the runs", [&](ReportSection& section) {
    for (const auto& one : trained) {
      section.paragraph(one.title);
      section.facts({{"recipe", one.recipe},
                     {"parameters", std::to_string(one.outcome.parameters)},
                     {"rounds", std::to_string(one.outcome.summary.rounds.size())},
                     {"best round", std::to_string(one.outcome.summary.best_round)},
                     {"training users", std::to_string(one.outcome.training_users)},
                     {"training clicks", std::to_string(one.outcome.training_samples)}});
    }
  });
  return report.html();
}

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
  return {{"central (collects all clicks)", "central", "central", 60, "",
           narrow_model({"batch=900", "learning_rate=0.01", "halve_every=30", "evaluate_every=12"})},
          {"federated (clicks stay on devices)", "fedrec", "federated", 66, "",
           narrow_model({"cohort=300", "learning_rate=0.01", "halve_every=33", "evaluate_every=11"})},
          {"private (sotto: federated, noise)", "sotto", "private", 30, "8", {"against=server"}}};
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
                                  const data::Dataset& dataset) {
  TrainJob job;
  job.recipe = system.recipe;
  job.data = settings.out / "newsroom";
  job.out = settings.out / system.folder;
  job.seed = settings.seed;
  job.reproducible = true;  // the same table wherever it runs
  job.rounds = std::max<std::int64_t>(2, std::llround(settings.length * static_cast<double>(system.rounds)));
  job.epsilon = system.epsilon;
  job.assignments = system.settings;
  Progress progress(system.folder, static_cast<std::uint64_t>(*job.rounds), "rounds");
  SOTTO_TRY(auto outcome, train_run(job, dataset,
                                    {.round =
                                         [&](const fl::RoundRecord& record) {
                                           progress.set(record.round);
                                           if (record.validation)
                                             progress.note(fmt::format("validation AUC {:.1f} %",
                                                                       100 * record.validation->auc));
                                         },
                                     .trained = [&] { progress.finish(); }}));
  if (outcome.summary.interrupted) return failed("interrupted; run the demo again to start over");
  return DemoTraining{system.title, system.recipe, std::move(outcome)};
}

}  // namespace

Result<DemoResult> run_demo(const DemoSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  SOTTO_CHECK(clear_earlier_demo(settings.out));
  SOTTO_CHECK(make_folder(settings.out));
  SOTTO_CHECK(write_file_atomically(settings.out / marker, "{\"made by\": \"sotto demo\"}\n"));

  data::NewsroomSettings newsroom;
  newsroom.users = settings.readers;
  newsroom.news = settings.news;
  newsroom.seed = static_cast<std::int64_t>(settings.seed);
  info("a newsroom of {} readers and {} news items", newsroom.users, newsroom.news);
  SOTTO_TRY(const auto world, data::generate_newsroom(newsroom, settings.out / "newsroom"));
  SOTTO_TRY(const auto dataset, data::Dataset::open(settings.out / "newsroom"));

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
    const recipes::TrainOutcome& outcome = one.outcome;
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
  std::string text = fmt::format("{:<34} {:>6} {:>6} {:>8} {:>9} {:>8} {:>5} {:>8} {:>7}\n", "", "AUC %",
                                 "MRR %", "nDCG@5 %", "nDCG@10 %", "of best*", "ε**", "bytes***", "seconds");
  const auto number = [](double value, int digits) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : std::string("-");
  };
  for (const auto& row : result.rows)
    text += fmt::format("{:<34} {:>6.2f} {:>6.2f} {:>8.2f} {:>9.2f} {:>7.0f}% {:>5} {:>8} {:>7}\n",
                        row.system, 100 * row.metrics.auc, 100 * row.metrics.mrr, 100 * row.metrics.ndcg5,
                        100 * row.metrics.ndcg10, 100 * row.share, row.epsilon,
                        number(row.bytes_per_client, 0), number(row.seconds, 1));
  return text +
         "* share of the way from 'most popular first' to the best possible AUC\n"
         "** of the whole training, per reader, against the server, at delta 1e-6; none: nothing is "
         "guaranteed\n*** per client and round, both directions\nsimulation: no ε holds for these files; "
         "with secret noise it would be as in the "
         "table\n";
}

}  // namespace sotto::eval
