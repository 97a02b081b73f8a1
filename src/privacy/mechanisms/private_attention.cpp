#include "privacy/mechanisms/private_attention.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "privacy/accounting/gaussian_exact.h"
#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

EpsilonDelta amplified_by_padding(EpsilonDelta before, double padding) {
  // log(1 + (1-p)(e^ε - 1)) = ε + log(1 - p + p e^-ε), which does not overflow.
  const double epsilon = before.epsilon > 1
                             ? before.epsilon + std::log((1 - padding) + padding * std::exp(-before.epsilon))
                             : std::log1p((1 - padding) * std::expm1(before.epsilon));
  return {epsilon, (1 - padding) * before.delta};
}

EpsilonDelta budget_before_padding(EpsilonDelta after, double padding) {
  const double epsilon =
      after.epsilon > 1 ? after.epsilon + std::log((1 - padding * std::exp(-after.epsilon)) / (1 - padding))
                        : std::log1p(std::expm1(after.epsilon) / (1 - padding));
  return {epsilon, after.delta / (1 - padding)};
}

Result<std::vector<unsigned char>> draw_padding(std::size_t items, double padding, DeviceRandom random) {
  SOTTO_CHECK(require_padding(padding));
  const auto threshold = static_cast<std::uint64_t>(std::ceil(std::ldexp(padding, 64)));
  std::vector<unsigned char> padded(items);
  for (unsigned char& flag : padded) flag = random.source()() < threshold ? 1 : 0;
  return padded;
}

namespace {

// scale θ/ε₀ in paper mode is a Laplace mechanism whose true ε is Δ₁ε₀/θ.
Result<VectorRelease> make_laplace(const PrivateAttention::Settings& settings, double epsilon_before) {
  const auto basis = static_cast<double>(settings.basis_vectors);
  const double l1 = std::min(2.0, std::sqrt(2 * basis) * settings.clip);
  const double epsilon =
      settings.mode == GuaranteeMode::paper ? l1 / settings.clip * epsilon_before : epsilon_before;
  SOTTO_TRY(auto mechanism, LaplaceMechanism::create({epsilon, l1, settings.basis_vectors}));
  return VectorRelease(std::move(mechanism));
}

Result<VectorRelease> make_gaussian(const PrivateAttention::Settings& settings, EpsilonDelta before) {
  const double l2 = std::numbers::sqrt2 * std::min(settings.clip, 1.0);
  double multiplier = 0;
  if (settings.mode == GuaranteeMode::paper) {
    SOTTO_TRY(const double claimed,
              classical_noise_multiplier(before.epsilon, before.delta, GuaranteeMode::paper));
    multiplier = claimed * settings.clip / l2;
  } else {
    SOTTO_TRY(multiplier, analytic_noise_multiplier(before.epsilon, before.delta));
  }
  SOTTO_TRY(auto mechanism, GaussianMechanism::create({multiplier, l2, settings.basis_vectors}));
  return VectorRelease(std::move(mechanism));
}

}  // namespace

Result<PrivateAttention> PrivateAttention::create(const Settings& settings) {
  SOTTO_CHECK(require_at_least(settings.basis_vectors, 2, "number of basis vectors"));
  SOTTO_CHECK(require_positive(settings.clip, "attention clipping bound"));
  SOTTO_CHECK(require_epsilon(settings.epsilon));
  SOTTO_CHECK(require_padding(settings.padding));
  const bool gaussian = settings.noise == NoiseKind::gaussian;
  if (!gaussian && settings.delta != 0) {
    return bad_input("delta is {} with Laplace noise, which has delta 0: use Gaussian noise or set it to 0",
                     settings.delta);
  }
  const EpsilonDelta before = budget_before_padding({settings.epsilon, settings.delta}, settings.padding);
  if (gaussian) {
    SOTTO_CHECK(require_delta(settings.delta));
    SOTTO_CHECK(require_delta(before.delta));
  }
  SOTTO_TRY(auto mechanism,
            gaussian ? make_gaussian(settings, before) : make_laplace(settings, before.epsilon));

  EpsilonDelta truth{settings.epsilon, settings.delta};
  if (settings.mode == GuaranteeMode::paper) {
    const Mechanism inner = event(mechanism).mechanism;
    double true_epsilon = 0;
    if (gaussian) {
      SOTTO_TRY(true_epsilon,
                true_gaussian_epsilon(std::get<GaussianNoise>(inner).noise_multiplier, before.delta));
    } else {
      true_epsilon = std::get<PureDp>(inner).epsilon;
    }
    truth = amplified_by_padding({true_epsilon, before.delta}, settings.padding);
  }
  return PrivateAttention(settings, std::move(mechanism), truth);
}

Result<std::vector<unsigned char>> PrivateAttention::pad(std::size_t clicks, DeviceRandom random) const {
  return draw_padding(clicks, settings_.padding, random);
}

Result<GridVector> PrivateAttention::release(std::span<const double> attention, DeviceRandom random) const {
  SOTTO_CHECK(require_length(attention.size(), settings_.basis_vectors, "the attention vector"));
  std::vector<double> clipped(attention.begin(), attention.end());
  for (const double weight : clipped) {
    if (!(weight >= 0))
      return bad_input("attention weight {} is negative or NaN: pass the softmax output", weight);
  }
  SOTTO_CHECK(clip_l1(clipped, 1.0));  // the softmax up to its rounding errors
  SOTTO_CHECK(clip_l2(clipped, settings_.clip));
  return sotto::privacy::release(mechanism_, clipped, random);
}

MechanismStatement PrivateAttention::statement() const {
  PrivacyEvent holds = event(mechanism_);
  if (settings_.padding > 0) {
    if (settings_.noise == NoiseKind::gaussian) {
      holds.mechanism = ApproximateDp{truth_.epsilon, truth_.delta};
    } else {
      holds.mechanism = PureDp{truth_.epsilon};
    }
    holds.unit = Unit::click;
  }
  MechanismStatement statement{settings_.epsilon, settings_.delta, holds, {}};
  if (settings_.mode == GuaranteeMode::paper) {
    statement.why =
        settings_.noise == NoiseKind::gaussian
            ? "two attention vectors can be √2·θ apart, not θ, and the classical formula needs ε below 1"
            : "two attention vectors can be min(2, √(2B)·θ) apart in L1, not θ";
  }
  return statement;
}

std::vector<double> normalise_attention(std::vector<double> weights, AttentionActivation activation) {
  double sum = 0;
  for (double& weight : weights) {
    if (activation == AttentionActivation::relu) {
      weight = std::max(0.0, weight);
    } else {
      weight = std::max(0.0, weight) + std::log1p(std::exp(-std::fabs(weight)));
    }
    sum += weight;
  }
  for (double& weight : weights) weight = sum > 0 ? weight / sum : 1.0 / static_cast<double>(weights.size());
  return weights;
}

}  // namespace sotto::privacy
