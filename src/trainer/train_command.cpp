#include "base/progress.h"
#include "eval/impression_evaluator.h"
#include "eval/training_run.h"
#include "model/tensor.h"
#include "trainer/commands.h"

namespace sotto::trainer {

namespace {

struct TrainArguments {
  eval::TrainJob job;
  std::string data, out, config;
  std::int64_t rounds = 0;
};

std::string metrics_line(const metrics::ImpressionMetrics& m) {
  return fmt::format("AUC {:.2f}  MRR {:.2f}  nDCG@5 {:.2f}  nDCG@10 {:.2f}", 100 * m.auc, 100 * m.mrr,
                     100 * m.ndcg5, 100 * m.ndcg10);
}

std::string metrics_line(const metrics::HeldOutMetrics& m) {
  std::string line;
  for (std::size_t c = 0; c < std::size(metrics::HeldOutMetrics::cutoffs); ++c)
    line += fmt::format("Hits@{} {:.3f}  ", metrics::HeldOutMetrics::cutoffs[c], m.hits[c]);
  for (std::size_t c = 0; c < std::size(metrics::HeldOutMetrics::cutoffs); ++c)
    line +=
        fmt::format("nDCG@{} {:.3f}{}", metrics::HeldOutMetrics::cutoffs[c], m.ndcg[c], c < 3 ? "  " : "");
  return line;
}

std::string metrics_text(const metrics::HeldOutReport& report) {
  std::string text = fmt::format("{} test users, {} held-out rows\n{:<28}{}", report.users, report.rows,
                                 "model", metrics_line(report.mean));
  for (const auto& row : report.beside)
    text += fmt::format("\n{:<28}{}", row.name, metrics_line(row.metrics));
  constexpr std::string_view parts[] = {"least active third", "middle third", "most active third"};
  for (std::size_t part = 0; part < report.by_activity.size(); ++part)
    text += fmt::format("\n{:<28}{}", parts[part], metrics_line(report.by_activity[part]));
  return text;
}

std::string metrics_text(const metrics::MeanImpressionMetrics& metrics) {
  return fmt::format("{} test impressions\n{}", metrics.counted, metrics_line(metrics.mean));
}

Status train(TrainArguments& arguments, const Output& output) {
  eval::TrainJob& job = arguments.job;
  job.data = arguments.data;
  job.out = arguments.out;
  job.config = arguments.config;
  if (arguments.rounds > 0) job.rounds = arguments.rounds;
  SOTTO_TRY(const auto rounds, eval::planned_rounds(job));
  SOTTO_TRY(const auto dataset, data::Dataset::open(arguments.data));
  model::prepare_torch();
  Progress progress(job.recipe, static_cast<std::uint64_t>(rounds), "rounds");
  const fl::Observe observe = [&](const fl::RoundRecord& record) {
    progress.set(record.round);
    if (record.validation)
      progress.note(
          fmt::format("loss {:.3f}, validation AUC {:.2f}", record.loss, 100 * record.validation->auc));
    auto event = nlohmann::json::parse(fl::to_json_line(record));
    event["event"] = "round";
    output.event(event);
  };
  SOTTO_TRY(const auto outcome, eval::train_run(job, dataset, observe));
  progress.finish();
  if (outcome.summary.interrupted) {
    const auto done = outcome.summary.rounds.size();
    output.event({{"event", "interrupted"}, {"rounds", done}});
    fmt::print(stderr,
               "\nstopped after round {}; everything up to here is saved. Continue with:\n  sotto train {} "
               "--data {} --out {} --resume\n",
               done, job.recipe, arguments.data, arguments.out);
    return {};
  }
  output.event(eval::to_json(outcome));
  const std::string served =
      outcome.served ? "\nranked by the server from private answers: " + metrics_line(outcome.served->mean)
                     : "";
  output.text(fmt::format(
      "{} on {}, {}{}\nbest of {} rounds: {}; {:.1f} s; per client and round {} bytes "
      "down, {} bytes up\n{}run: {}",
      job.recipe, dataset.name(),
      outcome.held_out ? metrics_text(*outcome.held_out) : metrics_text(outcome.test), served,
      outcome.summary.rounds.size(), outcome.summary.best_round, outcome.summary.seconds, outcome.bytes_down,
      outcome.bytes_up,
      outcome.privacy
          ? privacy::to_text(*outcome.privacy)
          : fmt::format("no differential privacy ('sotto recipes {}' says what holds)\n", job.recipe),
      arguments.out));
  return {};
}

Status show_baselines(const data::Dataset& dataset, const Output& output) {
  std::vector<std::uint32_t> test;
  for (std::uint32_t i = 0; i < dataset.impression_count(); ++i)
    if (dataset.impression(i).split == data::Split::test) test.push_back(i);
  if (test.empty()) return bad_input("{} has no test impressions to rank", dataset.name());
  const std::pair<const char*, metrics::MeanImpressionMetrics> rows[] = {
      {"popularity", eval::evaluate_popularity(dataset, test)},
      {"random", eval::evaluate_random(dataset, test)}};
  for (const auto& [name, metrics] : rows) {
    auto event = eval::to_json(metrics.mean);
    event.update({{"event", "baseline"},
                  {"name", name},
                  {"impressions", metrics.counted},
                  {"left_out", metrics.left_out}});
    output.event(event);
    output.text(fmt::format("{:<10}  {}", name, metrics_line(metrics.mean)));
  }
  return {};
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
                      "Privacy budget of recipes with differential privacy");
  command->add_option("--device", arguments->job.device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_option("--seed", arguments->job.seed,
                      "Seed of data order, initial weights and cohorts that anybody may know");
  command->add_flag("--reproducible", arguments->job.reproducible,
                    "Draw the noise from the seed too: a simulation, for which no epsilon holds");
  command->add_option("--config", arguments->config,
                      "TOML file of settings ('sotto recipes NAME --sample-config' writes one)");
  command->add_option("--set", arguments->job.assignments, "key=value; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--resume", arguments->job.resume, "Continue the run in --out");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation] { return train(*arguments, invocation.output); };
  });
}

void add_eval_command(CLI::App& app, Invocation& invocation) {
  struct EvalArguments {
    std::string run, data;
    bool baselines = false;
  };
  auto arguments = std::make_shared<EvalArguments>();
  CLI::App* command = add_command(app, "eval");
  command->add_option("run", arguments->run, "Run folder");
  command->add_flag("--baselines", arguments->baselines, "Popularity and random order instead of a run");
  command->add_option("--data", arguments->data, "Data set folder")->required();
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      if (arguments->run.empty() != arguments->baselines)
        return bad_input("eval takes a run folder, or --baselines instead of one");
      SOTTO_TRY(const auto dataset, data::Dataset::open(arguments->data));
      if (arguments->baselines) return show_baselines(dataset, invocation.output);
      model::prepare_torch();
      SOTTO_TRY(const auto metrics, eval::evaluate_run(arguments->run, dataset));
      nlohmann::json event;
      std::string text;
      if (const auto* held_out = std::get_if<metrics::HeldOutReport>(&metrics)) {
        event = eval::to_json(*held_out);
        text = metrics_text(*held_out);
      } else {
        const auto& impressions = std::get<metrics::MeanImpressionMetrics>(metrics);
        event = eval::to_json(impressions.mean);
        event.update({{"impressions", impressions.counted}, {"left_out", impressions.left_out}});
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
