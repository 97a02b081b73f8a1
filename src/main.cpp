#include "cli/command.h"
#include "cli/hand_over.h"

int main(int argc, char** argv) {
  if (sotto::cli::find_trainer_command(sotto::cli::command_word(argc, argv)) != nullptr)
    return sotto::cli::report_failure(sotto::cli::become_trainer(argv));
  return sotto::cli::run(argc, argv, sotto::cli::add_commands);
}
