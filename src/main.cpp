#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "cli/command.h"

// jemalloc keeps freed pages for the next step: returning them to the kernel costs a third of a training step
// in page faults. Read by jemalloc when it is linked, ignored otherwise.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "dirty_decay_ms:-1,muzzy_decay_ms:-1";
}

namespace {

bool trains(int argc, char** argv) {
  constexpr std::array commands = {"demo", "train", "eval", "experiment", "bench"};
  return std::any_of(argv + 1, argv + argc, [&](const std::string_view word) {
    return std::find(commands.begin(), commands.end(), word) != commands.end();
  });
}

// OpenMP's threads wait for each other by spinning, for milliseconds. On cores that do other work as well the
// one they wait for cannot run then, and training takes several times as long; a short spin costs nothing
// where cores are idle. libgomp reads the setting while it is loaded, so the command starts itself again.
void spin_shortly(char** argv) {
  if (getenv("GOMP_SPINCOUNT") != nullptr || getenv("OMP_WAIT_POLICY") != nullptr) return;
  if (setenv("GOMP_SPINCOUNT", "2000", 0) == 0) execv("/proc/self/exe", argv);  // otherwise: slower, no worse
}

}  // namespace

int main(int argc, char** argv) {
  if (trains(argc, argv)) spin_shortly(argv);
  return sotto::cli::run(argc, argv);
}
