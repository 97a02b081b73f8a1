#pragma once
// Ctrl-C and SIGTERM as a flag that long loops look at between steps. A second signal ends the process at
// once.

namespace sotto {

void install_interrupt_handler();
bool interrupted();
// From now on the first signal ends the process: for work that keeps nothing and would look at the flag too
// rarely.
void end_at_interrupt();
void set_interrupted(bool value);  // for tests and embedding

}  // namespace sotto
