#include "secagg/vectors/modulus.h"

#include <cmath>
#include <numbers>
#include <variant>

#include "privacy/mechanisms/parameter_checks.h"
#include "secagg/vectors/bit_packing.h"

namespace sotto::secagg {

NoiseSum noise_of(const privacy::NoiseShare& share, std::uint64_t devices) {
  const auto count = static_cast<double>(devices);
  const privacy::PrivacyEvent event = share.event();
  if (const auto* gaussian = std::get_if<privacy::DiscreteGaussianNoise>(&event.mechanism)) {
    return {privacy::ShareKind::discrete_gaussian, count * gaussian->sigma * gaussian->sigma};
  }
  return {privacy::ShareKind::skellam, count * share.share_variance()};
}

double log_tail_bound(const NoiseSum& noise, double height) {
  const double variance = noise.variance;
  if (noise.kind == privacy::ShareKind::discrete_gaussian) return -height * height / (2 * variance);
  const double slope = height / variance;
  // √(1 + s²) − 1 without cancellation.
  const double rise = slope * slope / (1 + std::sqrt(1 + slope * slope));
  return variance * rise - height * std::asinh(slope);
}

std::int64_t height_with_tail(const NoiseSum& noise, double log_probability) {
  const auto enough = [&](std::int64_t height) {
    return log_tail_bound(noise, static_cast<double>(height)) <= log_probability;
  };
  if (enough(0)) return 0;
  std::int64_t high = 1;
  while (!enough(high) && high < std::int64_t{1} << 61) high *= 2;
  std::int64_t low = high / 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

namespace {

constexpr unsigned narrowest = 8, widest = 32;

// What the noise adds: each of the sums's entries strays to either side.
Result<std::int64_t> headroom(const ModulusSettings& settings) {
  if (!settings.noise) return 0;
  SOTTO_CHECK(privacy::require_positive(settings.noise->variance, "variance of the noise"));
  const double log2_probability = settings.log2_wrap_probability;
  if (!(log2_probability < 0 && std::isfinite(log2_probability))) {
    return bad_input("log2 of the probability of a wrapped sum is {}, must be finite and below 0",
                     log2_probability);
  }
  const double log_each =
      log2_probability * std::numbers::ln2 - std::log(2 * static_cast<double>(settings.dimension));
  return height_with_tail(*settings.noise, log_each) - 1;  // P(X >= h) is bounded: h − 1 must still fit
}

}  // namespace

Result<Modulus> Modulus::of_bits(unsigned bits) {
  if (!is_wire_width(bits)) return bad_input("a modulus of {} bits: must be 8 to 32 bits, or 64", bits);
  return Modulus(bits);
}

Result<Modulus> choose_modulus(const ModulusSettings& settings) {
  SOTTO_CHECK(privacy::require_at_least(settings.devices, 1, "number of devices in the group"));
  SOTTO_CHECK(privacy::require_at_least(settings.entry_bound, 1, "largest entry of one device"));
  SOTTO_CHECK(privacy::require_at_least(settings.dimension, 1, "number of entries"));
  SOTTO_TRY(const std::int64_t noise, headroom(settings));
  const __uint128_t needed =
      static_cast<__uint128_t>(settings.devices) * settings.entry_bound + static_cast<std::uint64_t>(noise);
  for (unsigned bits = narrowest; bits <= widest; ++bits) {
    SOTTO_TRY(const Modulus modulus, Modulus::of_bits(bits));
    if (needed <= static_cast<std::uint64_t>(modulus.largest())) return modulus;
  }
  return bad_input(
      "{} devices with entries up to {} and noise up to {} need more than {} bits per entry: use smaller "
      "groups, a "
      "coarser grid or a tighter clip",
      settings.devices, settings.entry_bound, noise, widest);
}

}  // namespace sotto::secagg
