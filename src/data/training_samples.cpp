#include "data/training_samples.h"

#include <algorithm>

#include "base/distributions.h"

namespace sotto {

std::vector<TrainingSample> training_samples(const Dataset& dataset, UserId user, Split split) {
  std::vector<TrainingSample> samples;
  const auto [first, last] = dataset.impressions_of(user);
  for (std::size_t index = first; index < last; ++index) {
    const Impression impression = dataset.impression(index);
    if (impression.split != split) continue;
    const auto& clicked = impression.clicked;
    if (std::find(clicked.begin(), clicked.end(), 0) == clicked.end()) continue;
    for (std::size_t position = 0; position < clicked.size(); ++position) {
      if (clicked[position] == 0) continue;
      samples.push_back({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(position)});
    }
  }
  return samples;
}

bool sample_negatives(const Impression& impression, std::size_t count, RandomSource& random,
                      std::vector<ItemId>& out) {
  out.clear();
  for (std::size_t position = 0; position < impression.shown.size(); ++position) {
    if (impression.clicked[position] == 0) out.push_back(impression.shown[position]);
  }
  if (out.empty()) return false;

  // Whole copies of the non-clicked items while they fit, then a random part of one more copy.
  const std::size_t available = out.size(), copies = count / available;
  for (std::size_t value = 0; value < copies * available; ++value) out.push_back(out[value]);
  for (std::size_t drawn = copies * available; drawn < count; ++drawn) {
    std::swap(out[drawn], out[drawn + uniform_below(random, out.size() - drawn)]);
  }
  out.resize(count);
  if (copies > 0) shuffle(std::span(out), random);
  return true;
}

}  // namespace sotto
