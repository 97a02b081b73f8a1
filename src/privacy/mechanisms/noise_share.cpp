#include "privacy/mechanisms/noise_share.h"

#include <string.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

Result<NoiseShare> NoiseShare::create(const Settings& settings) {
  SOTTO_CHECK(require_positive(settings.central_sigma, "noise of the sum"));
  SOTTO_CHECK(require_positive(settings.l2_sensitivity, "L2 sensitivity"));
  SOTTO_CHECK(require_at_least(settings.dimension, 1, "dimension"));
  SOTTO_CHECK(require_at_least(settings.devices, 1, "number of devices"));
  if (settings.dropped >= settings.devices || settings.corrupted >= settings.devices - settings.dropped) {
    return bad_input(
        "{} dropped and {} corrupted of {} devices leave nobody to make noise: let more devices take part, "
        "or "
        "allow for fewer of those (settings dropping and corrupted)",
        settings.dropped, settings.corrupted, settings.devices);
  }
  if (settings.l2_sensitivity < 1) {
    return bad_input(
        "L2 sensitivity {} is below one grid step: integers cannot differ by less, use a finer grid",
        settings.l2_sensitivity);
  }
  const auto present = static_cast<double>(settings.devices - settings.dropped - settings.corrupted);
  const double variance = settings.central_sigma * settings.central_sigma / present;
  if (settings.kind == ShareKind::skellam) {
    SOTTO_TRY(auto noise, Skellam::create(variance));
    return NoiseShare(settings, std::move(noise));
  }
  if (variance < 0.25) {
    return bad_input(
        "a discrete Gaussian share of standard deviation {} is below 1/2: use a finer grid or Skellam shares",
        std::sqrt(variance));
  }
  SOTTO_TRY(auto noise, DiscreteGaussian::create(std::sqrt(variance)));
  return NoiseShare(settings, std::move(noise));
}

const GridNoise& NoiseShare::noise() const {
  return std::visit([](const auto& n) -> const GridNoise& { return n; }, noise_);
}

void NoiseShare::fill(std::span<std::int32_t> share, DeviceRandom random) const {
  noise().fill(share, random.source());
}

void NoiseShare::add_to(std::span<std::int64_t> update, DeviceRandom random) const {
  std::array<std::int32_t, 1024> buffer;
  for (; !update.empty(); update = update.subspan(std::min(buffer.size(), update.size()))) {
    const auto chunk = std::span(buffer).first(std::min(buffer.size(), update.size()));
    fill(chunk, random);
    for (std::size_t i = 0; i < chunk.size(); ++i) update[i] += chunk[i];
  }
  explicit_bzero(buffer.data(), sizeof buffer);  // who knows the noise knows the value
}

double NoiseShare::share_variance() const { return noise().variance(); }

PrivacyEvent NoiseShare::event() const {
  const auto dimension = static_cast<double>(settings_.dimension);
  const auto present = static_cast<double>(surely_present());
  const double l2 = settings_.l2_sensitivity;
  const double l1 = std::min(std::sqrt(dimension) * l2, l2 * l2);
  PrivacyEvent event{.adjacency = settings_.adjacency,
                     .unit = Unit::user,
                     .total_variation = GridNoise::total_variation * dimension * present,
                     .log_ratio = GridNoise::log_ratio * dimension * present};
  if (const auto* gaussian = std::get_if<DiscreteGaussian>(&noise_)) {
    event.mechanism = DiscreteGaussianNoise{gaussian->sigma(), surely_present(), settings_.dimension, l1, l2};
  } else {
    event.mechanism = SkellamNoise{share_variance() * present, l1, l2};
  }
  return event;
}

}  // namespace sotto::privacy
