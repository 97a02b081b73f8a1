#pragma once

namespace sotto {

// Torch starts with one thread: use the pool's number. Warns when matrix products run at the speed of the
// reference BLAS (about 20 times too slow), which happens when no optimised BLAS package is installed.
void prepare_torch();

}  // namespace sotto
