#include "privacy/mechanisms/adaptive_clip.h"

#include <algorithm>
#include <cmath>

#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

namespace {

// More than this on one bit starves the model: use JointClipBit, which spends less for the same fraction.
constexpr double largest_sound_share = 0.05;

double fraction_multiplier_of(const AdaptiveClip::Settings& settings) {
  const double multiplier = settings.noise_multiplier / std::sqrt(settings.budget_share);
  return settings.mode == GuaranteeMode::paper ? 2 * multiplier : multiplier;
}

}  // namespace

Result<AdaptiveClip> AdaptiveClip::create(const Settings& settings) {
  SOTTO_CHECK(require_positive(settings.smallest_bound, "smallest clipping bound"));
  SOTTO_CHECK(require_positive(settings.initial_bound, "initial clipping bound"));
  SOTTO_CHECK(require_positive(settings.rate, "rate of the clipping bound"));
  SOTTO_CHECK(require_positive(settings.noise_multiplier, "noise multiplier"));
  SOTTO_CHECK(require_positive(settings.server_rate, "server rate"));
  SOTTO_CHECK(require_at_least(settings.cohort, 1, "cohort"));
  if (settings.initial_bound < settings.smallest_bound) {
    return bad_input("the initial clipping bound {} is below the smallest one {}", settings.initial_bound,
                     settings.smallest_bound);
  }
  if (!(settings.quantile > 0 && settings.quantile < 1)) {
    return bad_input("quantile is {}, must lie strictly between 0 and 1", settings.quantile);
  }
  if (!(settings.budget_share > 0 && settings.budget_share < 1)) {
    return bad_input("budget share is {}, must lie strictly between 0 and 1", settings.budget_share);
  }
  if (settings.mode == GuaranteeMode::sound && settings.budget_share > largest_sound_share) {
    return bad_input(
        "budget share {} spends most of the privacy on one bit: use at most {} or the joint form",
        settings.budget_share, largest_sound_share);
  }
  SOTTO_TRY(auto count, GaussianMechanism::create({fraction_multiplier_of(settings), 1.0}));
  return AdaptiveClip(settings, std::move(count));
}

double AdaptiveClip::fraction_multiplier() const { return fraction_multiplier_of(settings_); }

double AdaptiveClip::update_multiplier() const {
  const double multiplier = settings_.noise_multiplier / std::sqrt(1 - settings_.budget_share);
  return settings_.mode == GuaranteeMode::paper ? multiplier / settings_.server_rate : multiplier;
}

double AdaptiveClip::update_sigma() const {
  return 2 * bound_ * settings_.noise_multiplier / static_cast<double>(settings_.cohort) /
         std::sqrt(1 - settings_.budget_share);
}

Result<double> AdaptiveClip::step(std::uint64_t within, DeviceRandom random) {
  if (within > settings_.cohort) {
    return bad_input("{} users within the bound, but the cohort has {}", within, settings_.cohort);
  }
  const auto count = static_cast<double>(within);
  SOTTO_TRY(const GridVector noisy, count_.release(std::span(&count, 1), random));
  const double fraction = noisy.reals()[0] / static_cast<double>(settings_.cohort);
  bound_ = std::max(settings_.smallest_bound, bound_ - settings_.rate * (fraction - settings_.quantile));
  return fraction;
}

PrivacyEvent AdaptiveClip::round_event() const {
  const double update = update_multiplier(), fraction = fraction_multiplier();
  return {.mechanism = GaussianNoise{1 / std::sqrt(1 / (update * update) + 1 / (fraction * fraction))},
          .adjacency = Adjacency::replace_one,
          .unit = Unit::user,
          .total_variation = GridNoise::total_variation,
          .log_ratio = GridNoise::log_ratio};
}

Result<JointClipBit> JointClipBit::create(double bound, double bit_weight) {
  SOTTO_CHECK(require_positive(bound, "clipping bound"));
  SOTTO_CHECK(require_positive(bit_weight, "weight of the clipping bit"));
  return JointClipBit(bound, bit_weight);
}

Result<std::vector<double>> JointClipBit::extend(std::span<const double> update) const {
  std::vector<double> joint(update.begin(), update.end());
  SOTTO_TRY(const double norm, clip_l2(joint, bound_));
  joint.push_back(coordinate(norm));
  return joint;
}

}  // namespace sotto::privacy
