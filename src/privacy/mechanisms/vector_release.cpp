#include "privacy/mechanisms/vector_release.h"

#include <cmath>
#include <vector>

#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

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
          .total_variation = GridNoise::total_variation * static_cast<double>(settings_.dimension),
          .log_ratio = GridNoise::log_ratio * static_cast<double>(settings_.dimension)};
}

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
          .total_variation = GridNoise::total_variation * static_cast<double>(settings_.dimension),
          .log_ratio = GridNoise::log_ratio * static_cast<double>(settings_.dimension)};
}

Result<ElementwiseLaplace> ElementwiseLaplace::create(const Settings& settings) {
  SOTTO_CHECK(require_positive(settings.clip, "clipping bound"));
  SOTTO_CHECK(require_positive(settings.scale, "Laplace scale"));
  SOTTO_CHECK(require_at_least(settings.dimension, 1, "dimension"));
  const double step = grid_step_for(settings.scale);
  const double clip_steps = std::floor(settings.clip / step);
  if (clip_steps < 1 || clip_steps > 0x1.0p50) {
    return bad_input("clipping bound {} and Laplace scale {} are too far apart for one grid", settings.clip,
                     settings.scale);
  }
  SOTTO_TRY(auto noise, DiscreteLaplace::create(settings.scale / step));
  return ElementwiseLaplace(settings, step, clip_steps, std::move(noise));
}

Result<GridVector> ElementwiseLaplace::release(std::span<const double> gradient, DeviceRandom random) const {
  SOTTO_CHECK(require_length(gradient.size(), settings_.dimension, "the gradient"));
  std::vector<double> clipped(gradient.begin(), gradient.end());
  SOTTO_CHECK(clip_coordinates(clipped, clip_steps_ * step_));
  SOTTO_TRY(GridVector released, snap(clipped, step_));
  add_noise(released, noise_, random.source());
  return released;
}

MechanismStatement ElementwiseLaplace::statement() const {
  const auto dimension = static_cast<double>(settings_.dimension);
  const double per_coordinate = 2 * clip_steps_ / noise_.scale();
  return {.claimed_epsilon = 2 * settings_.clip / settings_.scale,
          .holds = PrivacyEvent{.mechanism = PureDp{dimension * per_coordinate},
                                .adjacency = Adjacency::replace_one,
                                .unit = Unit::user,
                                .total_variation = GridNoise::total_variation * dimension,
                                .log_ratio = GridNoise::log_ratio * dimension},
          .why = fmt::format("the claim is the loss of one coordinate; an upload has {} of them",
                             settings_.dimension)};
}

}  // namespace sotto::privacy
