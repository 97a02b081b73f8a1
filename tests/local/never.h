#pragma once
// Nobody cancels.

#include "local/local_trainer.h"

namespace sotto::local::testing {

inline const Cancelled never = [] { return false; };

}  // namespace sotto::local::testing
