#include "fl/interaction_source.h"

namespace sotto {

Result<RoundUpdate> InteractionSource::round(std::uint32_t round) {
  const auto cohort = sampler_.sample(round);
  const MeanUpdate mean = training_.mean_update(round, cohort);
  RoundUpdate update;
  update.direction = mean.direction;
  update.loss = mean.loss;
  update.clients = cohort.size();
  update.samples = mean.samples;
  // Packed 32-bit floats, the whole model both ways: which rows a device has touched would tell its items.
  update.bytes_down = update.bytes_up = sizeof(float) * static_cast<std::uint64_t>(mean.direction.numel());
  return update;
}

}  // namespace sotto
