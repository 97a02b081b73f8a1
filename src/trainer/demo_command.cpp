#include <cmath>

#include "eval/demo.h"
#include "eval/training_run.h"
#include "model/tensor.h"
#include "trainer/commands.h"

namespace sotto::trainer {

void add_demo_command(CLI::App& app, Invocation& invocation) {
  struct Arguments {
    std::string out = "sotto-demo";
    std::uint64_t seed = 1;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(app, "demo");
  command->add_option("--out", arguments->out, "Folder for the data, the runs and the report")
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "Seed of the newsroom and of training")
      ->capture_default_str();
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      model::prepare_torch();
      eval::DemoSettings settings;
      settings.out = arguments->out, settings.seed = arguments->seed;
      SOTTO_TRY(const auto result, eval::run_demo(settings));
      for (const auto& row : result.rows) {
        auto event = eval::to_json(row.metrics);
        event.update(
            {{"event", "system"}, {"system", row.system}, {"share", row.share}, {"epsilon", row.epsilon}});
        if (std::isfinite(row.bytes_per_client)) event["bytes"] = row.bytes_per_client;
        if (std::isfinite(row.seconds)) event["seconds"] = row.seconds;
        invocation.output.event(event);
      }
      invocation.output.event(
          {{"event", "done"}, {"report", result.report.string()}, {"seconds", result.seconds}});
      invocation.output.text(
          "\n" + eval::to_text(result) +
          fmt::format("\n{:.0f} s in all. Open {} in a browser.", result.seconds, result.report.string()));
      return {};
    };
  });
}

}  // namespace sotto::trainer
