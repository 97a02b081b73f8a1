#pragma once
// What trains or reads a trained model needs libtorch: 290 shared libraries, half a second and 170 MB before
// the first line runs. That part is a program of its own, libexec/sotto-trainer, beside the command or beside
// its folder. It takes this process's place with the same arguments, so that process id, signals, standard
// streams and exit code are those of one command.

#include <string_view>

#include "base/files.h"

namespace sotto::cli {

struct TrainerCommand {
  const char *name, *help;
};
// Null: not a command of the trainer.
const TrainerCommand* find_trainer_command(std::string_view name);

// Where the trainer of this installation is.
Result<fs::path> trainer_program();

// Sets what libtorch's libraries read from the environment while they are loaded, where nobody set it.
void prepare_trainer_environment();

// Returns only when it failed.
Error become_trainer(char** argv);

}  // namespace sotto::cli
