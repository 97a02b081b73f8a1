#include "privacy/mechanisms/laplace_mechanism.h"

#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

Result<LaplaceMechanism> LaplaceMechanism::create(const Settings& settings) {
  SOTTO_CHECK(require_epsilon(settings.epsilon));
  SOTTO_CHECK(require_positive(settings.l1_sensitivity, "L1 sensitivity"));
  SOTTO_CHECK(require_at_least(settings.dimension, 1, "dimension"));
  const double step = grid_step_for(settings.l1_sensitivity / settings.epsilon);
  SOTTO_CHECK(require_positive(step, "grid step"));
  const double charge = snapping_l1_charge(step, settings.dimension);
  if (charge > settings.l1_sensitivity) {
    return bad_input(
        "rounding {} coordinates would add more to the sensitivity ({}) than it is ({}): with this much "
        "noise the "
        "release is useless, raise epsilon or lower the dimension",
        settings.dimension, charge, settings.l1_sensitivity);
  }
  SOTTO_TRY(auto noise,
            DiscreteLaplace::create((settings.l1_sensitivity + charge) / settings.epsilon / step));
  return LaplaceMechanism(settings, step, std::move(noise));
}

Result<GridVector> LaplaceMechanism::release(std::span<const double> values, DeviceRandom random) const {
  SOTTO_CHECK(require_length(values.size(), settings_.dimension, "the vector to release"));
  SOTTO_TRY(GridVector released, snap(values, step_));
  add_noise(released, noise_, random.source());
  return released;
}

PrivacyEvent LaplaceMechanism::event() const {
  return {.mechanism = PureDp{settings_.epsilon},
          .adjacency = settings_.adjacency,
          .unit = settings_.unit,
          .total_variation = GridNoise::total_variation * static_cast<double>(settings_.dimension)};
}

}  // namespace sotto
