#include "trainer/commands.h"

// jemalloc keeps freed pages for the next step: returning them to the kernel costs a third of a training step
// in page faults. Read by jemalloc when it is linked, ignored otherwise.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "dirty_decay_ms:-1,muzzy_decay_ms:-1";
}

int main(int argc, char** argv) { return sotto::cli::run(argc, argv, sotto::trainer::add_commands); }
