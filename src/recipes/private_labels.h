#pragma once
// PrivateRec's labels: which item of an impression counts as clicked is told privately.

#include "fl/news_training.h"

namespace sotto {

// The paper's label permutation among the click and the sampled non-clicks. No epsilon holds for it: the real
// click is always among the items sent (privacy/mechanisms/label_release.h).
Result<ChooseCandidates> permuted_labels(double epsilon, std::int64_t negatives);

}  // namespace sotto
