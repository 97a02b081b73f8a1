#include "secagg/vectors/update_encoder.h"

#include <string.h>

#include <algorithm>
#include <array>

#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

// Clipped, rotated, limited, in grid steps.
Result<std::vector<double>> UpdateEncoder::on_the_grid(std::span<const double> update) const {
  const EncodingPlan::Settings& settings = plan_.settings();
  SOTTO_CHECK(require_length(update.size(), settings.dimension, "the update"));
  std::vector<double> values;
  if (plan_.clip_bit()) {
    SOTTO_TRY(values, plan_.clip_bit()->extend(update));
  } else {
    values.assign(update.begin(), update.end());
    SOTTO_CHECK(clip_l2(values, settings.clip));
  }
  if (plan_.rotation()) SOTTO_CHECK(plan_.rotation()->rotate(values));
  const auto limit = static_cast<double>(plan_.rounding().entry_bound());
  const double per_step = 1 / settings.step;
  for (double& value : values) value = std::clamp(value * per_step, -limit, limit);
  return values;
}

std::vector<std::uint32_t> UpdateEncoder::wrapped(std::span<const std::int32_t> rounded,
                                                  DeviceRandom random) const {
  const Modulus modulus = plan_.modulus();
  std::vector<std::uint32_t> entries(rounded.size());
  std::array<std::int32_t, 1024> share{};
  for (std::size_t begin = 0; begin < rounded.size(); begin += share.size()) {
    const auto part = std::span(share).first(std::min(share.size(), rounded.size() - begin));
    if (plan_.noise_share()) plan_.noise_share()->fill(part, random);
    for (std::size_t i = 0; i < part.size(); ++i) {
      entries[begin + i] =
          static_cast<std::uint32_t>(modulus.wrap(std::int64_t{rounded[begin + i]} + std::int64_t{part[i]}));
    }
  }
  explicit_bzero(share.data(), sizeof share);  // who knows the noise knows the value
  return entries;
}

Result<std::vector<std::uint32_t>> UpdateEncoder::encode(std::span<const double> update,
                                                         DeviceRandom random) const {
  SOTTO_TRY(std::vector<double> values, on_the_grid(update));
  std::vector<std::int32_t> rounded(values.size());
  SOTTO_CHECK(plan_.rounding().round(values, rounded, random.source()));
  std::vector<std::uint32_t> entries = wrapped(rounded, random);
  explicit_bzero(values.data(), values.size() * sizeof(double));
  explicit_bzero(rounded.data(), rounded.size() * sizeof(std::int32_t));
  return entries;
}

Result<std::vector<std::uint32_t>> UpdateEncoder::encode(std::span<const float> update,
                                                         DeviceRandom random) const {
  std::vector<double> values(update.begin(), update.end());
  auto entries = encode(values, random);
  explicit_bzero(values.data(), values.size() * sizeof(double));
  return entries;
}

}  // namespace sotto
