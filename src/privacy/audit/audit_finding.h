#pragma once
// What is claimed, and what an audit proved about it. Plain values.

#include <algorithm>
#include <optional>

namespace sotto {

struct AuditClaim {
  double epsilon = 0;
  double delta = 0;
  // The loss is near a Gaussian one, so that the parametric bound says something.
  bool gaussian = false;
  std::optional<double> mu;  // the claim is μ-GDP itself: exactly Gaussian noise
  // What really holds; nothing: no ε at all. Equal to `epsilon` unless the claim is known to be wrong.
  std::optional<double> holds;
};

struct AuditFinding {
  AuditClaim claim;
  double epsilon = 0;        // proved lower bound at the claim's δ, whatever the law of the noise
  std::optional<double> mu;  // proved lower bound of μ-GDP, for Gaussian-like claims
  std::optional<double>
      delta;  // proved lower bound of δ at the claimed ε, where the mechanism has a δ of its own
  // Lower bound of ε at δ if the loss is Gaussian (and, in a one-run audit, canaries do not disturb each
  // other).
  std::optional<double> parametric;

  double best() const { return std::max(epsilon, parametric.value_or(0)); }
  bool refuted() const {
    return best() > claim.epsilon || (mu && claim.mu && *mu > *claim.mu) || (delta && *delta > claim.delta);
  }
  // How much of what holds the audit can see: the power it has against a fault.
  double share() const {
    const double of_epsilon = claim.holds && *claim.holds > 0 ? best() / *claim.holds : 0;
    return delta && claim.delta > 0 ? std::max(of_epsilon, *delta / claim.delta) : of_epsilon;
  }
};

}  // namespace sotto
