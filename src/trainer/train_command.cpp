#include <cmath>
#include <map>

#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/folded.h"
#include "eval/both_families.h"
#include "eval/impression_evaluator.h"
#include "eval/metrics_files.h"
#include "eval/served_ranking.h"
#include "eval/training_run.h"
#include "model/tensor.h"
#include "recipes/stored_run.h"
#include "trainer/commands.h"
#include "trainer/training_processes.h"

namespace sotto::trainer {

namespace {

struct TrainArguments {
  eval::TrainJob job;
  std::string data, out, config;
  std::vector<std::string> logs;
  std::int64_t rounds = 0, test_impressions = 0, processes = 0;
  std::optional<std::uint64_t> seed;
  std::string device;
};

// "61.23 ± 0.42": percent, with its standard error where there is one.
std::string percent(double value, double error) {
  return std::isfinite(error) ? fmt::format("{:.2f} ± {:.2f}", 100 * value, 100 * error)
                              : fmt::format("{:.2f}", 100 * value);
}

std::string metrics_line(const metrics::MeanImpressionMetrics& m) {
  return fmt::format("AUC {}   MRR {}   nDCG@5 {}   nDCG@10 {}", percent(m.mean.auc, m.error.auc),
                     percent(m.mean.mrr, m.error.mrr), percent(m.mean.ndcg5, m.error.ndcg5),
                     percent(m.mean.ndcg10, m.error.ndcg10));
}

constexpr std::size_t datasheet_head = 19;  // columns of the names in privacy.txt

constexpr std::string_view in_percent = "in percent ± standard error";

std::string cutoff_cells(const std::string& label, const metrics::HeldOutMetrics& m) {
  std::string line = fmt::format("\n{:<28}", label);
  for (const double value : m.hits) line += fmt::format("{:>8.2f}", 100 * value);
  for (const double value : m.ndcg) line += fmt::format("{:>8.2f}", 100 * value);
  return line;
}

std::string metrics_text(const metrics::HeldOutReport& report) {
  std::string text =
      fmt::format("{} test users, {} held-out rows, in percent\n{:<28}", report.users, report.rows, "");
  for (const int k : metrics::HeldOutMetrics::cutoffs)
    text += fmt::format("{:>8}", fmt::format("Hits@{}", k));
  for (const int k : metrics::HeldOutMetrics::cutoffs)
    text += fmt::format("{:>8}", fmt::format("nDCG@{}", k));
  text += cutoff_cells("model", report.mean);
  if (report.users > 1) text += cutoff_cells("± standard error", metrics::standard_errors(report));
  for (const auto& row : report.beside) text += cutoff_cells(row.name, row.metrics);
  constexpr const char* parts[] = {"least active third", "middle third", "most active third"};
  for (std::size_t part = 0; part < report.by_activity.size(); ++part)
    text += cutoff_cells(parts[part], report.by_activity[part]);
  if (report.lists)
    text += fmt::format("\nbest {} of all items not in the training rows: Recall {}, NDCG {}",
                        metrics::TopListMetrics::cutoff,
                        percent(report.lists->recall, report.lists_error->recall),
                        percent(report.lists->ndcg, report.lists_error->ndcg));
  return text;
}

std::string metrics_text(const metrics::MeanImpressionMetrics& metrics) {
  return fmt::format("{} test impressions, {}\n{}", metrics.counted, in_percent, metrics_line(metrics));
}

// Which round the run keeps, and why.
std::string kept_round(const fl::RunSummary& summary) {
  const auto rounds = summary.rounds.size();
  const bool chosen =
      std::any_of(summary.rounds.begin(), summary.rounds.end(),
                  [](const fl::RoundRecord& record) { return record.validation.has_value(); });
  if (!chosen) return fmt::format("{} rounds, the last one kept", rounds);
  return fmt::format("{} rounds, round {} kept: the best on validation", rounds, summary.best_round);
}

// Twice the same key is a slip, and which of the two was meant is not for us to say.
Status refuse_repeated(const std::vector<std::string>& assignments) {
  std::map<std::string, std::string> seen;
  for (const std::string& assignment : assignments) {
    const auto [before, fresh] = seen.emplace(assignment.substr(0, assignment.find('=')), assignment);
    if (!fresh && before->second != assignment)
      return bad_input("--set {} and --set {} contradict each other: give one of them", before->second,
                       assignment);
  }
  return {};
}

Status status_of(const Result<recipes::TrainOutcome>& outcome) {
  if (outcome) return {};
  return tl::unexpected(outcome.error());
}

Status train(TrainArguments& arguments, const Output& output) {
  eval::TrainJob& job = arguments.job;
  job.data = arguments.data;
  job.out = arguments.out;
  job.config = arguments.config;
  job.test_impressions = static_cast<std::uint64_t>(arguments.test_impressions);
  if (arguments.rounds > 0) job.rounds = arguments.rounds;
  if (job.resume && (arguments.seed || !arguments.device.empty()))
    return bad_input("a resumed run keeps its seed and its device: leave out --seed and --device");
  if (arguments.seed) job.seed = *arguments.seed;
  if (!arguments.device.empty()) job.device = arguments.device;
  SOTTO_CHECK(refuse_repeated(job.assignments));
  SOTTO_TRY(const auto rounds, eval::planned_rounds(job));
  SOTTO_TRY(const auto dataset, data::Dataset::open(arguments.data));
  SOTTO_TRY(const auto processes, TrainingProcesses::join(arguments.processes));
  auto own_folder = processes.own_folder(job.out);
  SOTTO_CHECK(processes.begin(own_folder ? Status() : Status(tl::unexpected(own_folder.error()))));
  job.out = *own_folder;
  model::prepare_torch();
  if (!processes.leads()) return status_of(eval::train_run(job, dataset, {}));
  Progress progress(job.recipe, static_cast<std::uint64_t>(rounds), "rounds");
  const fl::Observe observe = [&](const fl::RoundRecord& record) {
    progress.set(record.round);
    if (record.validation)
      progress.note(
          fmt::format("loss {:.3f}, validation AUC {:.2f} %", record.loss, 100 * record.validation->auc));
    auto event = nlohmann::json::parse(fl::to_json_line(record));
    event["event"] = "round";
    output.event(event);
  };
  SOTTO_TRY(const auto outcome,
            eval::train_run(job, dataset, {.round = observe, .trained = [&] { progress.finish(); }}));
  for (const std::string& format : arguments.logs) SOTTO_CHECK(eval::write_metrics_files(job.out, format));
  if (outcome.summary.interrupted) {
    const auto done = outcome.summary.rounds.size();
    output.event({{"event", "interrupted"}, {"rounds", done}});
    fmt::print(stderr,
               "\nstopped after round {}; everything up to here is saved. Go on with:\n  sotto train {} "
               "--data {} --out {} --resume\n",
               done, job.recipe, arguments.data, arguments.out);
    return {};
  }
  output.event(eval::to_json(outcome));
  const std::string served =
      outcome.served ? "\nranked by the server from private answers:\n" + metrics_line(*outcome.served) : "";
  output.text(fmt::format(
      "{} on {}, {}{}\n{}\n{}run: {}", job.recipe, dataset.name(),
      outcome.held_out ? metrics_text(*outcome.held_out) : metrics_text(outcome.test), served,
      cli::folded(fmt::format("{}; {:.1f} s; per client and round {} bytes down, {} bytes up",
                              kept_round(outcome.summary), outcome.summary.seconds, outcome.bytes_down,
                              outcome.bytes_up),
                  cli::text_columns),
      outcome.privacy
          ? cli::folded(privacy::in_words(*outcome.privacy), cli::text_columns) + "\n" +
                cli::folded_rows(privacy::to_text(*outcome.privacy), datasheet_head)
          : fmt::format("no differential privacy ('sotto recipes {}' says what holds)\n", job.recipe),
      arguments.out));
  return {};
}

Status show_baselines(const data::Dataset& dataset, const Output& output) {
  std::vector<std::uint32_t> test;
  for (std::uint32_t i = 0; i < dataset.impression_count(); ++i)
    if (dataset.impression(i).split == data::Split::test) test.push_back(i);
  if (test.empty())
    return bad_input(
        "{} has no test impressions to rank: make them with 'sotto data view DATA --view impressions --out "
        "DIR'; "
        "'sotto eval RUN' shows the trivial rankings of interactions beside the run",
        dataset.name());
  output.text(fmt::format("{}: {} test impressions, {}", dataset.name(), test.size(), in_percent));
  const std::pair<const char*, metrics::MeanImpressionMetrics> rows[] = {
      {"popularity", eval::evaluate_popularity(dataset, test)},
      {"random", eval::evaluate_random(dataset, test)}};
  if (interrupted()) return failed("stopped while {} was ranked", dataset.name());
  for (const auto& [name, metrics] : rows) {
    auto event = eval::to_json(metrics);
    event.update({{"event", "baseline"}, {"name", name}});
    output.event(event);
    output.text(fmt::format("{:<10}  {}", name, metrics_line(metrics)));
  }
  return {};
}

// The model and what devices are served, on the same test users.
Status show_as_served(const eval::EvaluateJob& job, const data::Dataset& dataset, const Output& output) {
  SOTTO_TRY(auto ranking, eval::evaluate_as_served(job, dataset));
  auto event = eval::to_json(ranking.own);
  event.update({{"event", "done"},
                {"served", eval::to_json(ranking.served)},
                {"served_difference", eval::to_json(ranking.difference)},
                {"served_difference_error", eval::to_json(ranking.error)}});
  output.event(event);
  ranking.own.beside.insert(ranking.own.beside.begin(), {"as devices are served it", ranking.served});
  output.text(fmt::format("{}: {}\nserved − model, user by user{}{}", dataset.name(),
                          metrics_text(ranking.own), cutoff_cells("difference", ranking.difference),
                          cutoff_cells("± standard error", ranking.error)));
  return {};
}

// The model by both families of numbers; each says what it is about.
Status show_both(const eval::EvaluateJob& job, const data::Dataset& dataset, const Output& output) {
  SOTTO_TRY(const auto both, eval::evaluate_both(job, dataset));
  auto event = eval::to_json(both);
  event["event"] = "done";
  output.event(event);
  std::string all_items = fmt::format("{:<28}", "");
  for (const char* measure : {"Hits", "nDCG"})
    for (const int k : metrics::HeldOutMetrics::cutoffs)
      all_items += fmt::format("{:>8}", fmt::format("{}@{}", measure, k));
  all_items += cutoff_cells("model", both.all_items.mean) +
               cutoff_cells("± standard error", metrics::standard_errors(both.all_items));
  output.text(fmt::format(
      "{}, {}\n{} impressions: {}\n{}\n{} {} among all items{}\n{}", dataset.name(), in_percent,
      both.impressions.counted,
      both.of_impressions ? "what was clicked against what was shown"
                          : "a held-out row each, among others drawn for it",
      metrics_line(both.impressions), both.all_items.users,
      both.of_impressions ? "impressions, their clicks" : "test users, their held-out rows",
      both.of_impressions ? " that the reader had not clicked before" : " that they never touched",
      all_items));
  return {};
}

void add_test_impressions(CLI::App& command, std::int64_t& count) {
  command
      .add_option(
          "--test-impressions", count,
          "Test on so many impressions (test users of interaction data), drawn by a fixed seed; 0: all")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{4'000'000'000}));
}

}  // namespace

void add_train_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<TrainArguments>();
  CLI::App* command = add_command(app, "train");
  command->add_option("recipe", arguments->job.recipe, "Which one ('sotto recipes' lists them)")->required();
  command->add_option("--data", arguments->data, "Data set folder")->required();
  command->add_option("--out", arguments->out, "Run folder to create (or to continue with --resume)")
      ->required();
  command->add_option("--rounds", arguments->rounds, "Number of rounds")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100000000}));
  command->add_option("--mode", arguments->job.mode, "paper: as printed; sound: with the flaws repaired");
  command->add_option("--epsilon", arguments->job.epsilon,
                      "Privacy budget of recipes with differential privacy: bounds what the server learns");
  command
      ->add_option("--against", arguments->job.against,
                   "Whose view --epsilon bounds: server (default), or published: the server is then left out")
      ->check(CLI::IsMember({"server", "published"}));
  add_test_impressions(*command, arguments->test_impressions);
  command->add_option("--device", arguments->device, "cpu (default) or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command
      ->add_option(
          "--processes", arguments->processes,
          "Not finished: so many processes on this machine share the work of every round (docs/processes.md)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  command->add_option("--seed", arguments->seed,
                      "Seed of data order, initial weights and cohorts that anybody may know");
  command->add_flag("--reproducible", arguments->job.reproducible,
                    "Draw the noise from the seed too: a simulation, for which no epsilon holds");
  command->add_option("--config", arguments->config,
                      "TOML file of settings ('sotto recipes NAME --sample-config' writes one)");
  command->add_option("--set", arguments->job.assignments, "key=value; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--log", arguments->logs,
          "Write the rounds for tensorboard or mlflow too, into RUN, when training ends; may be repeated")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(
          std::vector<std::string>(eval::metrics_formats.begin(), eval::metrics_formats.end())));
  command->add_flag("--resume", arguments->job.resume, "Continue the run in --out");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation] { return train(*arguments, invocation.output); };
  });
}

void add_eval_command(CLI::App& app, Invocation& invocation) {
  struct EvalArguments {
    std::string run, data;
    bool baselines = false, other_data = false, as_served = false, both = false;
    std::int64_t test_impressions = 0;
  };
  auto arguments = std::make_shared<EvalArguments>();
  CLI::App* command = add_command(app, "eval");
  command->add_option("run", arguments->run, "Run folder");
  command->add_flag("--baselines", arguments->baselines, "Popularity and random order instead of a run");
  command->add_option("--data", arguments->data,
                      "Data set folder, where it is not where the run was trained");
  command->add_flag("--other-data", arguments->other_data,
                    "Test on data that the run was not trained on, which is refused otherwise");
  command->add_flag("--as-served", arguments->as_served,
                    "Beside the model, how devices rank by the vectors that 'sotto serve' gives them");
  command->add_flag("--both", arguments->both,
                    "By impressions and among all items, whichever of them the recipe trains on");
  add_test_impressions(*command, arguments->test_impressions);
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      if (arguments->run.empty() != arguments->baselines)
        return bad_input("eval takes a run folder, or --baselines instead of one");
      if (arguments->baselines && (arguments->other_data || arguments->as_served || arguments->both ||
                                   arguments->test_impressions > 0))
        return bad_input(
            "--baselines has no run: leave out --other-data, --as-served, --both and --test-impressions");
      if (arguments->as_served && arguments->both)
        return bad_input("--as-served and --both are two tests: ask for one of them");
      if (arguments->data.empty() && (arguments->baselines || arguments->other_data))
        return bad_input("{} says nothing without --data DIR: name the data set",
                         arguments->baselines ? "--baselines" : "--other-data");
      fs::path folder = arguments->data;
      if (folder.empty()) {
        SOTTO_TRY(const auto stored, recipes::load_run(arguments->run));
        folder = stored.data;
      }
      auto opened = data::Dataset::open(folder);
      if (!opened)
        return tl::unexpected(
            arguments->data.empty()
                ? std::move(opened).error().in("the data of the run (name another place with --data DIR)")
                : std::move(opened).error());
      const data::Dataset& dataset = *opened;
      if (arguments->baselines) return show_baselines(dataset, invocation.output);
      model::prepare_torch();
      const eval::EvaluateJob job{.run = arguments->run,
                                  .test_impressions = static_cast<std::uint64_t>(arguments->test_impressions),
                                  .other_data = arguments->other_data,
                                  .data = folder};
      if (arguments->both) return show_both(job, dataset, invocation.output);
      if (arguments->as_served) return show_as_served(job, dataset, invocation.output);
      SOTTO_TRY(const auto metrics, eval::evaluate_run(job, dataset));
      nlohmann::json event;
      std::string text;
      if (const auto* held_out = std::get_if<metrics::HeldOutReport>(&metrics)) {
        event = eval::to_json(*held_out);
        text = metrics_text(*held_out);
      } else {
        const auto& impressions = std::get<metrics::MeanImpressionMetrics>(metrics);
        event = eval::to_json(impressions);
        text = metrics_text(impressions);
      }
      event["event"] = "done";
      invocation.output.event(event);
      invocation.output.text(fmt::format("{}: {}", dataset.name(), text));
      return {};
    };
  });
}

}  // namespace sotto::trainer
