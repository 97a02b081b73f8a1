#include "eval/experiments/serving/public_knowledge.h"

#include <algorithm>
#include <cmath>

#include "publish/rows.h"

namespace sotto::private_serving {

namespace {

Rows part_of(const Rows& rows, std::size_t first, std::size_t last) {
  Rows part(last - first, rows.width);
  std::copy_n(rows.values.begin() + static_cast<std::ptrdiff_t>(first * rows.width), part.values.size(),
              part.values.begin());
  return part;
}

}  // namespace

Result<PublicKnowledge> PublicKnowledge::of(const ServingScene& scene) {
  SOTTO_TRY(auto space, RankingSpace::of_items(scene.items));
  const Rows readers = space.readers(scene.readers);
  const std::size_t count = readers.size(), held_out = count / 4;
  if (held_out < 1) return bad_input("{} simulated readers are too few: ask for at least 4", count);
  Rows building = part_of(readers, held_out, count);
  std::vector<float> average = mean_row(building);
  return PublicKnowledge{
      std::move(space),   std::move(building),           part_of(scene.readers, held_out, count),
      std::move(average), part_of(readers, 0, held_out), part_of(scene.readers, 0, held_out)};
}

double expected_auc(double correlation) {
  // Clicks tilt the density of scores by exp(strength · score): a clicked item's score is N(strength, 1).
  constexpr double strength = 1.5;
  return 0.5 * std::erfc(-strength * correlation / 2);  // Φ(strength·ρ/√2)
}

}  // namespace sotto::private_serving
