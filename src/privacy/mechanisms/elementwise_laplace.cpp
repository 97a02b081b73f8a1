#include "privacy/mechanisms/elementwise_laplace.h"

#include <cmath>
#include <vector>

#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

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
                                .total_variation = GridNoise::total_variation * dimension},
          .why = fmt::format("the claim is the loss of one coordinate; an upload has {} of them",
                             settings_.dimension)};
}

}  // namespace sotto
