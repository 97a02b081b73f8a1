#pragma once
// Broken versions of audited mechanisms: what the audit must notice.

#include <functional>

#include "base/distributions.h"
#include "privacy/audit/audited_mechanism.h"

namespace sotto::privacy::tampering {

// Noise multiplied by `factor`: 0 when it is missing, 0.5 when it is halved.
inline AuditedMechanism noise_scaled(AuditedMechanism mechanism, double factor) {
  mechanism.release = [release = mechanism.release, noiseless = mechanism.noiseless, factor](
                          Neighbour neighbour, DeviceRandom random) -> Result<std::vector<double>> {
    SOTTO_TRY(std::vector<double> released, release(neighbour, random));
    const auto& centre = noiseless[static_cast<std::size_t>(neighbour)];
    for (std::size_t i = 0; i < released.size(); ++i) {
      released[i] = centre[i] + factor * (released[i] - centre[i]);
    }
    return released;
  };
  return mechanism;
}

using Law = std::function<double(RandomSource&)>;

// Every coordinate gets a draw of `law` instead of the mechanism's own noise.
inline AuditedMechanism noise_replaced(AuditedMechanism mechanism, const Law& law) {
  mechanism.release = [noiseless = mechanism.noiseless, law](
                          Neighbour neighbour, DeviceRandom random) -> Result<std::vector<double>> {
    std::vector<double> released = noiseless[static_cast<std::size_t>(neighbour)];
    for (double& value : released) value += law(random.source());
    return released;
  };
  return mechanism;
}

// The laws with a given standard deviation, on a fine grid like the mechanisms' own noise.
inline double on_grid(double value) { return std::ldexp(std::nearbyint(std::ldexp(value, 20)), -20); }
inline Law gaussian_law(double deviation) {
  return [deviation](RandomSource& random) { return on_grid(deviation * normal(random)); };
}
inline double laplace_draw(RandomSource& random) {
  const double positive = exponential(random);
  return positive - exponential(random);
}
inline Law laplace_law(double deviation) {
  return [scale = deviation / std::sqrt(2.0)](RandomSource& random) {
    return on_grid(scale * laplace_draw(random));
  };
}
inline Law uniform_law(double deviation) {
  return [half = deviation * std::sqrt(3.0)](RandomSource& random) {
    return on_grid(half * (2 * uniform01(random) - 1));
  };
}

// A choice that is told as it is with this probability, and through the mechanism otherwise.
inline AuditedMechanism told_plainly(AuditedMechanism mechanism, double probability) {
  mechanism.release = [release = mechanism.release, noiseless = mechanism.noiseless, probability](
                          Neighbour neighbour, DeviceRandom random) -> Result<std::vector<double>> {
    if (bernoulli(random.source(), probability)) return noiseless[static_cast<std::size_t>(neighbour)];
    return release(neighbour, random);
  };
  return mechanism;
}

}  // namespace sotto::privacy::tampering
