#include "recipes/private_labels.h"

#include "privacy/mechanisms/label_release.h"

namespace sotto {

Result<ChooseCandidates> permuted_labels(double epsilon, std::int64_t negatives) {
  SOTTO_TRY(const auto labels, PaperLabelPermutation::create(epsilon, static_cast<std::uint32_t>(negatives)));
  return [labels](const Impression& impression, std::uint32_t clicked_position, std::size_t wanted,
                  RandomSource& random, std::vector<ItemId>& candidates) {
    const auto sample = labels.release(impression.clicked, clicked_position, DeviceRandom::simulated(random));
    if (!sample || sample->negatives.empty()) return false;
    candidates = {impression.shown[sample->positive]};
    for (std::size_t i = 0; i < wanted; ++i)  // repeated where an impression has fewer
      candidates.push_back(impression.shown[sample->negatives[i % sample->negatives.size()]]);
    return true;
  };
}

}  // namespace sotto
