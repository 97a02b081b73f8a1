#include "fl/released_labels.h"

#include "privacy/mechanisms/label_release.h"

namespace sotto::fl {

namespace {

// release: (impression, clicked position, randomness) → sample.
template <class Release>
ChooseCandidates released_candidates(Release release, const privacy::NoiseOrigin& noise) {
  return [release, noise](const data::Impression& impression, std::uint32_t clicked_position,
                          std::size_t wanted, RandomSource& seeded, std::vector<data::ItemId>& candidates) {
    SecureRandom secret;
    const auto sample =
        release(impression, clicked_position,
                noise.is_secret() ? privacy::DeviceRandom(secret) : privacy::DeviceRandom::simulated(seeded));
    if (!sample || sample->negatives.empty()) return false;
    candidates = {impression.shown[sample->positive]};
    for (std::size_t i = 0; i < wanted; ++i)  // repeated where an impression has fewer
      candidates.push_back(impression.shown[sample->negatives[i % sample->negatives.size()]]);
    return true;
  };
}

}  // namespace

Result<ChooseCandidates> permuted_labels(double epsilon, std::int64_t negatives,
                                         const privacy::NoiseOrigin& noise) {
  SOTTO_TRY(const auto labels,
            privacy::PaperLabelPermutation::create(epsilon, static_cast<std::uint32_t>(negatives)));
  return released_candidates(
      [labels](const data::Impression& impression, std::uint32_t clicked, privacy::DeviceRandom random) {
        return labels.release(impression.clicked, clicked, random);
      },
      noise);
}

Result<ChooseCandidates> randomised_labels(double epsilon, std::int64_t negatives,
                                           const privacy::NoiseOrigin& noise) {
  SOTTO_TRY(const auto labels,
            privacy::SoundLabelRelease::create(epsilon, static_cast<std::uint32_t>(negatives)));
  return released_candidates(
      [labels](const data::Impression& impression, std::uint32_t clicked, privacy::DeviceRandom random) {
        return labels.release(static_cast<std::uint32_t>(impression.shown.size()), clicked, random);
      },
      noise);
}

}  // namespace sotto::fl
