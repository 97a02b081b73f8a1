#pragma once
// What of the command needs libtorch, as a program of its own (cli/hand_over.h): one file per subcommand.

#include "cli/command.h"
#include "cli/hand_over.h"

namespace sotto::trainer {

using cli::Invocation;
using cli::Output;

// A subcommand with the line of help that the front shows too.
inline CLI::App* add_command(CLI::App& app, const char* name) {
  return app.add_subcommand(name, cli::find_trainer_command(name)->help);
}

void add_demo_command(CLI::App& app, Invocation& invocation);
void add_recipes_command(CLI::App& app, Invocation& invocation);
void add_train_command(CLI::App& app, Invocation& invocation);
void add_eval_command(CLI::App& app, Invocation& invocation);
void add_bench_command(CLI::App& app, Invocation& invocation);
void add_compare_command(CLI::App& app, Invocation& invocation);
void add_sweep_command(CLI::App& app, Invocation& invocation);
void add_experiment_command(CLI::App& app, Invocation& invocation);
void add_export_command(CLI::App& app, Invocation& invocation);
#ifdef SOTTO_HAVE_NET
void add_publish_command(CLI::App& app, Invocation& invocation);
void add_fold_command(CLI::App& app, Invocation& invocation);
#endif

inline void add_commands(CLI::App& app, Invocation& invocation) {
  add_demo_command(app, invocation);
  add_recipes_command(app, invocation);
  add_train_command(app, invocation);
  add_eval_command(app, invocation);
  add_compare_command(app, invocation);
  add_sweep_command(app, invocation);
  add_bench_command(app, invocation);
  add_experiment_command(app, invocation);
  add_export_command(app, invocation);
#ifdef SOTTO_HAVE_NET
  add_publish_command(app, invocation);
  add_fold_command(app, invocation);
#endif
}

}  // namespace sotto::trainer
