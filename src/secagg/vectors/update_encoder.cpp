#include "secagg/vectors/update_encoder.h"

#include <string.h>

#include <algorithm>

#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "secagg/vectors/noisy_entries.h"

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
  const double least = settings.nonnegative ? 0 : -limit;
  for (double& value : values) value = std::clamp(value * per_step, least, limit);
  return values;
}

Result<std::vector<std::uint32_t>> UpdateEncoder::encode(std::span<const double> update,
                                                         DeviceRandom random) const {
  SOTTO_TRY(std::vector<double> values, on_the_grid(update));
  std::vector<std::int32_t> rounded(values.size());
  SOTTO_CHECK(plan_.rounding().round(values, rounded, random.source()));
  const NoiseShare* share = plan_.noise_share() ? &*plan_.noise_share() : nullptr;
  std::vector<std::uint32_t> entries = noisy_entries(rounded, share, plan_.modulus(), random);
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
