#include <fstream>

#include "cli/folded.h"
#include "eval/experiments/experiment.h"
#include "eval/experiments/sweep.h"
#include "trainer/commands.h"

namespace sotto::trainer {

namespace {

struct ExperimentArguments {
  eval::ExperimentRequest request;
  std::string name, data, out, run;
  bool list = false;
};

Status list_experiments(const Output& output) {
  std::string_view paper;
  for (const auto& entry : eval::experiments()) {
    output.event({{"event", "experiment"},
                  {"name", entry.name},
                  {"paper", entry.paper},
                  {"needs", eval::describe(entry.needs)},
                  {"shows", entry.shows}});
    if (entry.paper != paper) output.text(fmt::format("{}{}", paper.empty() ? "" : "\n", entry.paper));
    paper = entry.paper;
    output.text(fmt::format("  {:<29}{:<14}", entry.name, eval::describe(entry.needs)), entry.shows);
  }
  return {};
}

// --seeds and --first-seed.
void add_seeds(CLI::App& command, eval::ExperimentRequest& request, const char* seeds_help) {
  constexpr std::int64_t most_seeds = 10'000, last_first_seed = 1'000'000'000;
  command.add_option("--seeds", request.seeds, seeds_help)
      ->check(CLI::Range(std::int64_t{1}, most_seeds))
      ->capture_default_str();
  command
      .add_option("--first-seed", request.first_seed,
                  "The first of them: N trains N, N + 1, ...; finished rows of earlier seeds join the table")
      ->check(CLI::Range(std::int64_t{1}, last_first_seed))
      ->capture_default_str();
}

// --jobs, and the command that each of the processes is: this one, said again.
void add_jobs(CLI::App& command, eval::ExperimentRequest& request) {
  constexpr int most_jobs = 256;
  command
      .add_option("--jobs", request.jobs,
                  "Runs trained at once, each by a process of its own; cores are divided among them")
      ->check(CLI::Range(1, most_jobs))
      ->capture_default_str();
  command.add_flag("--worker", request.worker)->group("");
}

Status prepare_workers(eval::ExperimentRequest& request) {
  if (request.jobs == 1 || request.worker) return {};
  std::ifstream said("/proc/self/cmdline", std::ios::binary);
  for (std::string word; std::getline(said, word, '\0');) request.worker_command.push_back(word);
  if (request.worker_command.empty()) return failed("--jobs needs /proc/self/cmdline, which cannot be read");
  request.worker_command.front() = "/proc/self/exe";
  request.worker_command.emplace_back("--worker");
  return {};
}

// What a grid or another experiment came to.
Status show(const eval::ExperimentResult& result, std::string_view name,
            const eval::ExperimentRequest& request, const Output& output) {
  nlohmann::json files = nlohmann::json::array();
  for (const auto& file : result.files) files.push_back(file.string());
  output.event({{"event", result.interrupted   ? "interrupted"
                          : result.out_of_time ? "out_of_time"
                                               : "done"},
                {"experiment", name},
                {"quick", request.quick},
                {"files", files}});
  output.text(cli::folded(result.text, cli::text_columns));
  if (result.interrupted)
    output.text("stopped; finished rows are kept and the same command goes on");
  else if (result.out_of_time)
    output.text("",
                fmt::format("the two minutes of a quick run were over before all rows were reached; finished "
                            "ones are in {}, and the same command goes on with the rest",
                            (request.out / "report.html").string()));
  else
    output.text(fmt::format("report: {}", (request.out / "report.html").string()));
  if (!result.failures.empty())
    return failed("{} of the runs failed, the others are in the report; the first: {}",
                  result.failures.size(), result.failures.front());
  return {};
}

Status run_named_experiment(ExperimentArguments& arguments, const Output& output) {
  if (arguments.list) return list_experiments(output);
  if (arguments.name.empty()) return bad_input("which experiment? 'sotto experiment --list' names them all");
  SOTTO_TRY(const auto* entry, eval::find_experiment(arguments.name));
  if (arguments.out.empty())
    return bad_input("'sotto experiment {}' needs --out DIR for its results", entry->name);
  eval::ExperimentRequest& request = arguments.request;
  request.data = arguments.data;
  request.out = arguments.out;
  request.run = arguments.run;
  request.event = [&](const nlohmann::json& event) { output.event(event); };
  if (request.jobs > 1 && entry->grid == nullptr)
    return bad_input("'{}' is no grid of runs: leave out --jobs", entry->name);
  if (request.first_seed != 1 && entry->grid == nullptr)
    return bad_input("'{}' is no grid of runs: leave out --first-seed", entry->name);
  SOTTO_CHECK(prepare_workers(request));
  SOTTO_TRY(const auto result, eval::run_experiment(*entry, request));
  if (request.worker) return {};
  return show(result, entry->name, request, output);
}

}  // namespace

void add_experiment_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ExperimentArguments>();
  CLI::App* command = add_command(app, "experiment");
  command->add_option("name", arguments->name, "Which one");
  command->add_flag("--list", arguments->list, "Name them all");
  command->add_option("--data", arguments->data,
                      "Data set folder; a quick experiment on news makes a small newsroom without it");
  command->add_option("--out", arguments->out, "Folder for the results; finished rows there are kept");
  command->add_option("--run", arguments->run,
                      "serving-epsilon: a trained run to look at; else one is trained below --out");
  command->add_option("--device", arguments->request.device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_flag("--quick", arguments->request.quick,
                    "Two minutes by the clock and what cannot be divided, for a look; marked as quick");
  add_seeds(*command, arguments->request, "Repetitions to average over");
  command->add_option("--set", arguments->request.assignments, "key=value; may be repeated")
      ->allow_extra_args(false);
  add_jobs(*command, arguments->request);
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation] {
      return run_named_experiment(*arguments, invocation.output);
    };
  });
}

void add_sweep_command(CLI::App& app, Invocation& invocation) {
  struct SweepArguments {
    eval::SweepRequest request;
    std::string data, out;
  };
  auto arguments = std::make_shared<SweepArguments>();
  arguments->request.run.seeds = 3;
  CLI::App* command = add_command(app, "sweep");
  command->add_option("recipe", arguments->request.recipes, "Which ones ('sotto recipes' lists them)")
      ->required();
  command
      ->add_option("--grid", arguments->request.axes,
                   "key=a,b,c; may be repeated: every combination is trained")
      ->allow_extra_args(false);
  command->add_option("--data", arguments->data, "Data set folder")->required();
  command->add_option("--out", arguments->out, "Folder for the results; finished runs there are kept")
      ->required();
  add_seeds(*command, arguments->request.run, "Runs of every combination");
  command->add_option("--device", arguments->request.run.device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_option("--set", arguments->request.run.assignments, "key=value of every run; may be repeated")
      ->allow_extra_args(false);
  add_jobs(*command, arguments->request.run);
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      eval::ExperimentRequest& run = arguments->request.run;
      SOTTO_CHECK(prepare_workers(run));
      run.data = arguments->data;
      run.out = arguments->out;
      run.event = [&](const nlohmann::json& event) { invocation.output.event(event); };
      SOTTO_TRY(const auto result, eval::run_sweep(arguments->request));
      if (run.worker) return {};
      return show(result, "sweep", run, invocation.output);
    };
  });
}

}  // namespace sotto::trainer
