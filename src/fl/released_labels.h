#pragma once
// What a sample ranks when its label is told through PrivateRec's mechanisms
// (privacy/mechanisms/label_release.h): the item that counts as clicked, and the others, repeated where an
// impression has fewer than are wanted. Drawn anew in every round, by the secure generator unless the noise
// is reproducible.

#include "base/result.h"
#include "fl/news_training.h"
#include "privacy/noise/noise_origin.h"

namespace sotto::fl {

// The paper's label permutation (DPL) among the click and the sampled non-clicks. No epsilon holds for it:
// the real click is always among the items sent.
Result<ChooseCandidates> permuted_labels(double epsilon, std::int64_t negatives,
                                         const privacy::NoiseOrigin& noise);

// Its repair: the positive is drawn over all items shown, the others without looking at the labels.
// Epsilon-DP for the click, each time that it is sent.
Result<ChooseCandidates> randomised_labels(double epsilon, std::int64_t negatives,
                                           const privacy::NoiseOrigin& noise);

}  // namespace sotto::fl
