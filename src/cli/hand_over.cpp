#include "cli/hand_over.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace sotto::cli {

namespace {

constexpr std::array commands_of_the_trainer = {
    TrainerCommand{"demo",
                   "Generate data, train central, federated and private side by side, print one table, write "
                   "report.html"},
    TrainerCommand{"recipes", "List recipes; what one does, its settings, its guarantee"},
    TrainerCommand{"train", "Train a recipe on a data set"},
    TrainerCommand{"eval", "Test metrics of a trained run, or of the trivial rankings it must beat"},
    TrainerCommand{"compare", "Trained runs side by side, with differences by pairs and curves"},
    TrainerCommand{"sweep", "Train every combination of settings with several seeds, one table"},
    TrainerCommand{"bench", "Measured ratios, baseline in the same run"},
    TrainerCommand{"experiment", "Regenerate a table or a figure"},
    TrainerCommand{"export", "A trained run as safetensors, npz or ONNX, with a model card"}};

}  // namespace

const TrainerCommand* find_trainer_command(std::string_view name) {
  const auto* const found = std::find_if(commands_of_the_trainer.begin(), commands_of_the_trainer.end(),
                                         [&](const TrainerCommand& command) { return command.name == name; });
  return found == commands_of_the_trainer.end() ? nullptr : found;
}

Result<fs::path> trainer_program() {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  if (problem) return failed("cannot tell where this program is: {}", problem.message());
  const fs::path beside = self.parent_path() / "libexec" / "sotto-trainer";                   // as built
  const fs::path installed = self.parent_path().parent_path() / "libexec" / "sotto-trainer";  // PREFIX/bin
  for (const fs::path& place : {beside, installed})
    if (access(place.c_str(), X_OK) == 0) return place;
  return failed(
      "this needs sotto-trainer, and there is none at {} or {}: build it with libtorch ('make build') or "
      "install the whole package",
      beside.string(), installed.string());
}

void prepare_trainer_environment() {
  // OpenMP's threads wait for each other by spinning, for milliseconds. On cores that do other work as well
  // the one they wait for cannot run then, and training takes several times as long; a short spin costs
  // nothing where cores are idle. libgomp reads this once, while it is loaded.
  if (getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "2000", 0);
}

Error become_trainer(char** argv) {
  const auto program = trainer_program();
  if (!program) return program.error();
  prepare_trainer_environment();
  execv(program->c_str(), argv);
  return {ErrorKind::failed, fmt::format("cannot start {}: {}", program->string(),
                                         std::error_code(errno, std::generic_category()).message())};
}

}  // namespace sotto::cli
