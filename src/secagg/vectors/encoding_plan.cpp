#include "secagg/vectors/encoding_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

namespace {

using Settings = EncodingPlan::Settings;

Status check(const Settings& settings) {
  SOTTO_CHECK(require_at_least(settings.dimension, 1, "dimension of an update"));
  SOTTO_CHECK(require_positive(settings.clip, "clipping bound"));
  SOTTO_CHECK(require_positive(settings.step, "grid step"));
  SOTTO_CHECK(require_positive(settings.denominator, "denominator"));
  SOTTO_CHECK(require_at_least(settings.devices, 1, "number of devices"));
  if (settings.entry_clip != 0) SOTTO_CHECK(require_positive(settings.entry_clip, "largest entry"));
  if (!(settings.noise_multiplier >= 0 && std::isfinite(settings.noise_multiplier))) {
    return bad_input("noise multiplier is {}, must be finite and at least 0 (0: no noise, no guarantee)",
                     settings.noise_multiplier);
  }
  if (settings.clip_bit_weight && !settings.rotation_seed && settings.entry_clip != 0 &&
      settings.entry_clip < *settings.clip_bit_weight / 2) {
    return bad_input("entries are cut at {}, which cuts the clip bit of {}: rotate, or lower its weight",
                     settings.entry_clip, *settings.clip_bit_weight / 2);
  }
  if (settings.nonnegative && (settings.rotation_seed || settings.clip_bit_weight)) {
    return bad_input(
        "rotated entries and clip bits can be negative: leave them out, or set nonnegative=false");
  }
  return {};
}

double joint_norm(const Settings& settings) {
  return settings.clip_bit_weight ? std::hypot(settings.clip, *settings.clip_bit_weight / 2) : settings.clip;
}

Result<StochasticRounding> rounding_of(const Settings& settings) {
  const double norm = joint_norm(settings);
  const double entry = settings.entry_clip == 0 ? norm : std::min(settings.entry_clip, norm);
  const double entry_steps = std::ceil(entry / settings.step);
  return StochasticRounding::create(
      {.dimension = settings.dimension + (settings.clip_bit_weight ? 1 : 0),
       .norm = norm / settings.step,
       .entry_bound = static_cast<std::uint64_t>(std::clamp(entry_steps, 1.0, 0x1.0p31)),
       .beta = settings.rounding_beta});
}

double sensitivity_of(const Settings& settings, const StochasticRounding& rounding) {
  if (settings.adjacency != Adjacency::replace_one) return rounding.norm_bound();
  return rounding.norm_bound() * (settings.nonnegative ? std::numbers::sqrt2 : 2);
}

Result<std::optional<NoiseShare>> share_of(const Settings& settings, const StochasticRounding& rounding) {
  if (settings.noise_multiplier == 0) return std::nullopt;
  const double sensitivity = sensitivity_of(settings, rounding);
  SOTTO_TRY(auto share,
            NoiseShare::create({.kind = settings.noise,
                                .central_sigma = settings.noise_multiplier * sensitivity,
                                .l2_sensitivity = sensitivity,
                                .dimension = settings.dimension + (settings.clip_bit_weight ? 1 : 0),
                                .devices = settings.devices,
                                .dropped = settings.dropped,
                                .corrupted = settings.corrupted,
                                .adjacency = settings.adjacency}));
  return share;
}

}  // namespace

Result<EncodingPlan> EncodingPlan::create(const Settings& settings) {
  SOTTO_CHECK(check(settings));
  SOTTO_TRY(const auto rounding, rounding_of(settings));
  SOTTO_TRY(auto share, share_of(settings, rounding));
  ModulusSettings ring{.devices = settings.devices,
                       .entry_bound = rounding.entry_bound(),
                       .dimension = settings.dimension + (settings.clip_bit_weight ? 1 : 0),
                       .log2_wrap_probability = settings.log2_wrap_probability};
  if (share) ring.noise = noise_of(*share, settings.devices);
  SOTTO_TRY(const Modulus modulus, choose_modulus(ring));
  EncodingPlan plan(settings, rounding, modulus);
  plan.noise_share_ = std::move(share);
  if (settings.clip_bit_weight) {
    SOTTO_TRY(plan.clip_bit_, JointClipBit::create(settings.clip, *settings.clip_bit_weight));
  }
  if (settings.rotation_seed) {
    SOTTO_TRY(plan.rotation_, RandomRotation::create(plan.entries(), *settings.rotation_seed));
  }
  return plan;
}

double EncodingPlan::sensitivity() const { return sensitivity_of(settings_, rounding_); }

double EncodingPlan::sigma_of_mean() const {
  return settings_.noise_multiplier * sensitivity() * settings_.step / settings_.denominator;
}

std::optional<PrivacyEvent> EncodingPlan::event() const {
  if (!noise_share_) return std::nullopt;
  return noise_share_->event();
}

Result<double> finest_step(Settings settings, unsigned bits) {
  const auto fits = [&](double step) {
    settings.step = step;
    const auto plan = EncodingPlan::create(settings);
    return plan && plan->modulus().bits() <= bits;
  };
  // From so coarse that one step is the whole norm, finer by halves past the last that fits, then between
  // those two. (The coarsest may be refused for too little noise per share.)
  constexpr int kHalvings = 40;
  const double whole = joint_norm(settings);
  int halvings = 0;
  while (halvings < kHalvings && !fits(std::ldexp(whole, -halvings))) ++halvings;
  if (halvings == kHalvings) {
    settings.step = whole;
    SOTTO_CHECK(EncodingPlan::create(settings));
    return bad_input("no grid lets {} devices share {} bits per entry: use more bits or smaller groups",
                     settings.devices, bits);
  }
  while (fits(std::ldexp(whole, -halvings))) ++halvings;
  double coarse = std::ldexp(whole, 1 - halvings), fine = std::ldexp(whole, -halvings);
  while (coarse > 1.01 * fine) {
    const double middle = std::sqrt(coarse * fine);
    (fits(middle) ? coarse : fine) = middle;
  }
  return coarse;
}

}  // namespace sotto
