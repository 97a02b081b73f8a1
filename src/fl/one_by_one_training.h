#pragma once
// The readable loop that train_copies() must equal: one user after another, each on a copy of the whole
// model. Tests compare with it, and `sotto bench copies` measures against it.

#include "fl/copy_training.h"

namespace sotto {

// θ_τ − θ0 of one user as one vector laid out as the parameters, [P].
torch::Tensor train_alone(const TabularModel& model, const TabularInputs& inputs, const TabularTask& task,
                          const CopySettings& settings);

}  // namespace sotto
