#pragma once
// The two noises the papers offer for a released vector.

namespace sotto {

enum class NoiseKind {
  laplace,   // pure ε, δ = 0
  gaussian,  // (ε, δ)
};

}  // namespace sotto
