#include "privacy/mechanisms/gaussian_mechanism.h"

#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

Result<GaussianMechanism> GaussianMechanism::create(const Settings& settings) {
  SOTTO_CHECK(require_positive(settings.noise_multiplier, "noise multiplier"));
  SOTTO_CHECK(require_positive(settings.l2_sensitivity, "L2 sensitivity"));
  SOTTO_CHECK(require_at_least(settings.dimension, 1, "dimension"));
  const double step = grid_step_for(settings.noise_multiplier * settings.l2_sensitivity);
  SOTTO_CHECK(require_positive(step, "grid step"));
  const double charge = snapping_l2_charge(step, settings.dimension);
  if (charge > settings.l2_sensitivity) {
    return bad_input(
        "rounding {} coordinates would add more to the sensitivity ({}) than it is ({}): with this much "
        "noise the "
        "release is useless, lower the noise multiplier or the dimension",
        settings.dimension, charge, settings.l2_sensitivity);
  }
  SOTTO_TRY(auto noise,
            RoundedGaussian::create(settings.noise_multiplier * (settings.l2_sensitivity + charge) / step));
  return GaussianMechanism(settings, step, std::move(noise));
}

Result<GridVector> GaussianMechanism::release(std::span<const double> values, DeviceRandom random) const {
  SOTTO_CHECK(require_length(values.size(), settings_.dimension, "the vector to release"));
  SOTTO_TRY(GridVector released, snap(values, step_));
  add_noise(released, noise_, random.source());
  return released;
}

PrivacyEvent GaussianMechanism::event() const {
  return {.mechanism = GaussianNoise{settings_.noise_multiplier},
          .adjacency = settings_.adjacency,
          .unit = settings_.unit,
          .total_variation = GridNoise::total_variation * static_cast<double>(settings_.dimension)};
}

}  // namespace sotto
