#pragma once
// VDP, the baseline of PrivateRec: the user embedding (d numbers), clipped to L2 norm θ and noised, goes to
// the server.
//
// Any two clipped embeddings are at most 2θ apart in L2 and 2θ√d in L1. Paper mode puts Laplace(2θ/ε) on an
// L2 clip (true ε = √d times the claim) or the classical Gaussian with a stray (1−p) under its logarithm;
// sound mode calibrates Laplace to the L1 sensitivity and the Gaussian analytically. Protects the whole
// history of one query.
//
// Immutable after creation, safe to share between threads.

#include <cstdint>
#include <span>

#include "privacy/mechanisms/parameter_checks.h"
#include "privacy/mechanisms/vector_release.h"

namespace sotto::privacy {

class UserEmbeddingRelease {
 public:
  struct Settings {
    GuaranteeMode mode = GuaranteeMode::sound;
    NoiseKind noise = NoiseKind::laplace;
    std::uint64_t dimension = 0;  // d
    double clip = 0;              // θ
    double epsilon = 0;
    double delta = 0;               // Gaussian only; must be 0 for Laplace
    double padding_in_formula = 0;  // p in the paper's σ, paper mode with Gaussian noise only
  };
  static Result<UserEmbeddingRelease> create(const Settings& settings);

  Result<GridVector> release(std::span<const double> embedding, DeviceRandom random) const;
  MechanismStatement statement() const;

 private:
  UserEmbeddingRelease(const Settings& settings, VectorRelease mechanism)
      : settings_(settings), mechanism_(std::move(mechanism)) {}
  Settings settings_;
  VectorRelease mechanism_;
};

}  // namespace sotto::privacy
