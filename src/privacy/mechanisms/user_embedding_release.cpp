#include "privacy/mechanisms/user_embedding_release.h"

#include <cmath>
#include <vector>

#include "privacy/accounting/gaussian_exact.h"
#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

namespace {

Result<VectorRelease> make_mechanism(const UserEmbeddingRelease::Settings& settings) {
  const bool paper = settings.mode == GuaranteeMode::paper;
  const double l2 = 2 * settings.clip;
  if (settings.noise == NoiseKind::laplace) {
    const double root = std::sqrt(static_cast<double>(settings.dimension));
    const double epsilon = paper ? root * settings.epsilon : settings.epsilon;
    SOTTO_TRY(auto mechanism, LaplaceMechanism::create({epsilon, root * l2, settings.dimension}));
    return VectorRelease(std::move(mechanism));
  }
  double multiplier = 0;
  if (paper) {
    SOTTO_TRY(multiplier,
              classical_noise_multiplier(settings.epsilon, settings.delta / (1 - settings.padding_in_formula),
                                         GuaranteeMode::paper));
  } else {
    SOTTO_TRY(multiplier, analytic_noise_multiplier(settings.epsilon, settings.delta));
  }
  SOTTO_TRY(auto mechanism, GaussianMechanism::create({multiplier, l2, settings.dimension}));
  return VectorRelease(std::move(mechanism));
}

}  // namespace

Result<UserEmbeddingRelease> UserEmbeddingRelease::create(const Settings& settings) {
  SOTTO_CHECK(require_at_least(settings.dimension, 1, "embedding dimension"));
  SOTTO_CHECK(require_positive(settings.clip, "embedding clipping bound"));
  SOTTO_CHECK(require_epsilon(settings.epsilon));
  SOTTO_CHECK(require_padding(settings.padding_in_formula));
  if (settings.noise == NoiseKind::laplace && settings.delta != 0) {
    return bad_input("delta is {} with Laplace noise, which has delta 0: use Gaussian noise or set it to 0",
                     settings.delta);
  }
  if (settings.padding_in_formula > 0 &&
      (settings.mode == GuaranteeMode::sound || settings.noise == NoiseKind::laplace)) {
    return bad_input("this release pads nothing: padding may only appear in the paper's Gaussian formula");
  }
  SOTTO_TRY(auto mechanism, make_mechanism(settings));
  return UserEmbeddingRelease(settings, std::move(mechanism));
}

Result<GridVector> UserEmbeddingRelease::release(std::span<const double> embedding,
                                                 DeviceRandom random) const {
  SOTTO_CHECK(require_length(embedding.size(), settings_.dimension, "the user embedding"));
  std::vector<double> clipped(embedding.begin(), embedding.end());
  SOTTO_CHECK(clip_l2(clipped, settings_.clip));
  return sotto::privacy::release(mechanism_, clipped, random);
}

MechanismStatement UserEmbeddingRelease::statement() const {
  MechanismStatement statement{settings_.epsilon, settings_.delta, event(mechanism_), {}};
  if (settings_.mode == GuaranteeMode::paper) {
    statement.why = settings_.noise == NoiseKind::laplace
                        ? "Laplace noise needs the L1 sensitivity: an L2 clip costs a factor √d"
                        : "the classical formula needs ε below 1, and its (1−p) is claimed without padding";
  }
  return statement;
}

}  // namespace sotto::privacy
