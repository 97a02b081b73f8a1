#pragma once

namespace sotto {

// From now on the calling thread gets the processor after those that somebody waits for. For work in the
// background; does nothing where the system has no such thing.
void yield_to_other_threads();

}  // namespace sotto
