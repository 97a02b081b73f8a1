#pragma once
// One of the two vector mechanisms behind a single door, for releases that the papers describe with either
// noise.

#include <variant>

#include "privacy/mechanisms/gaussian_mechanism.h"
#include "privacy/mechanisms/laplace_mechanism.h"

namespace sotto {

using VectorRelease = std::variant<LaplaceMechanism, GaussianMechanism>;

inline Result<GridVector> release(const VectorRelease& mechanism, std::span<const double> values,
                                  DeviceRandom random) {
  return std::visit([&](const auto& m) { return m.release(values, random); }, mechanism);
}

inline PrivacyEvent event(const VectorRelease& mechanism) {
  return std::visit([](const auto& m) { return m.event(); }, mechanism);
}

}  // namespace sotto
