#include <cmath>

#include "base/make_folder.h"
#include "cli/folded.h"
#include "eval/compare_runs.h"
#include "model/tensor.h"
#include "recipes/stored_run.h"
#include "trainer/commands.h"

namespace sotto::trainer {

namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  std::string data, out;
  bool stored = false, both = false;
};

nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nullptr; }

Status compare(const CompareArguments& arguments, const Output& output) {
  if (!arguments.out.empty()) SOTTO_CHECK(recipes::check_results_folder(arguments.out));
  eval::CompareRequest request;
  request.runs.assign(arguments.runs.begin(), arguments.runs.end());
  request.data = arguments.data;
  request.pairs = !arguments.stored;
  request.both = arguments.both;
  if (arguments.both && arguments.stored)
    return bad_input("--both tests every run again, and --stored tests none: leave out one of them");
  model::prepare_torch();
  SOTTO_TRY(const auto comparison, eval::compare_runs(request));
  for (const auto& row : comparison.rows) {
    nlohmann::json event = {{"event", "row"},
                            {"name", row.name},
                            {"recipe", row.recipe},
                            {"seeds", row.seeds},
                            {"difference", number(row.difference.mean)},
                            {"difference_error", number(row.difference.error)},
                            {"paired_by", row.paired_by},
                            {"unpaired", row.unpaired},
                            {"epsilon", row.epsilon_server},
                            {"epsilon_published", row.epsilon_published},
                            {"simulation", row.simulation}};
    for (const auto& column : comparison.columns) event[column.measure] = row.values.at(column.measure);
    output.event(event);
  }
  output.text(cli::folded(eval::to_text(comparison), cli::text_columns));
  if (arguments.out.empty()) return {};
  const fs::path out = arguments.out;
  SOTTO_CHECK(make_folder(out));
  SOTTO_CHECK(write_file_atomically(out / "compare.csv", eval::to_csv(comparison)));
  SOTTO_CHECK(write_file_atomically(out / "compare.html", eval::to_html(comparison)));
  output.text(fmt::format("report: {}", (out / "compare.html").string()));
  return {};
}

}  // namespace

void add_compare_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = add_command(app, "compare");
  command->add_option("run", arguments->runs, "Run folders; equal settings with other seeds make one row")
      ->required();
  command->add_option("--data", arguments->data,
                      "Data set folder, where it is not where the runs were trained");
  command->add_option("--out", arguments->out, "Folder for compare.html and compare.csv");
  command->add_flag("--both", arguments->both,
                    "By impressions and among all items, whichever of them the recipes train on");
  command->add_flag("--stored", arguments->stored,
                    "Only the numbers that the runs stored: test nothing again, no differences by pairs");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation] { return compare(*arguments, invocation.output); };
  });
}

}  // namespace sotto::trainer
