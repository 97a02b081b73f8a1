#pragma once
// PrivateRec's GetPrivAttn: B attention weights of a user over public basis vectors, clipped to L2 norm θ,
// noised, made positive and normalised (post-processing).
//
// Sensitivity. Clipped attention vectors are non-negative with L2 norm <= θ and L1 norm <= 1, whatever the
// history, so any two are at most √2·min(θ, 1) apart in L2 and min(2, √(2B)·θ) in L1. (The paper uses θ for
// both.) Sound mode calibrates to these, with the analytic Gaussian; paper mode uses the paper's formulas and
// states the truth. With padding p the printed ε is for one replaced click; whole_history() is what holds for
// all clicks together.
//
// Immutable after creation, safe to share between threads. pad() and release() of one query must use fresh
// randomness, and nothing else computed from the padded history may leave the device.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "privacy/mechanisms/vector_release.h"
#include "privacy/noise/device_random.h"

namespace sotto::privacy {

// Padding: every clicked item is replaced by a public one with probability p before anything is computed from
// it.
//
// If the mechanism after padding is (ε₀, δ₀)-DP for one replaced click, the whole is (log(1 + (1−p)(e^ε₀ −
// 1)), (1−p)δ₀)-DP: couple the padding of both neighbours; with probability p the click that differs is
// padded away and the outputs agree. Holds for one click (not the whole history), and only while nothing
// reveals which items were padded.
struct EpsilonDelta {
  double epsilon = 0;
  double delta = 0;
};

// What holds after padding for a mechanism that has `before` without it.
EpsilonDelta amplified_by_padding(EpsilonDelta before, double padding);
// What the mechanism may spend so that `after` holds with padding.
EpsilonDelta budget_before_padding(EpsilonDelta after, double padding);

// One entry per clicked item: 1 where the item is replaced. Probability exactly ceil(p·2^64)/2^64.
Result<std::vector<unsigned char>> draw_padding(std::size_t items, double padding, DeviceRandom random);

enum class AttentionActivation {
  softplus,  // serving
  relu,      // training
};

class PrivateAttention {
 public:
  struct Settings {
    GuaranteeMode mode = GuaranteeMode::sound;
    NoiseKind noise = NoiseKind::laplace;
    std::uint64_t basis_vectors = 0;  // B
    double clip = 0;                  // θ
    double epsilon = 0;
    double delta = 0;    // Gaussian only; must be 0 for Laplace
    double padding = 0;  // p
  };
  static Result<PrivateAttention> create(const Settings& settings);

  // 1 for every clicked item that is replaced by the anonymous vector before the attention is computed.
  Result<std::vector<unsigned char>> pad(std::size_t clicks, DeviceRandom random) const;
  // attention: B weights >= 0 with sum 1 (softmax output).
  Result<GridVector> release(std::span<const double> attention, DeviceRandom random) const;
  MechanismStatement statement() const;
  PrivacyEvent whole_history() const { return event(mechanism_); }

 private:
  PrivateAttention(const Settings& settings, VectorRelease mechanism, EpsilonDelta truth)
      : settings_(settings), mechanism_(std::move(mechanism)), truth_(truth) {}
  Settings settings_;
  VectorRelease mechanism_;
  EpsilonDelta truth_;  // for one click, padding included
};

// Positive weights that sum to 1; uniform when every coefficient is switched off.
std::vector<double> normalise_attention(std::vector<double> weights, AttentionActivation activation);

}  // namespace sotto::privacy
