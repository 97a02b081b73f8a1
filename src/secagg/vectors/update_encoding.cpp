#include "secagg/vectors/update_encoding.h"

#include <string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "secagg/vectors/rounding_kernels.h"
#include "secagg/vectors/unit_products.h"

namespace sotto::secagg {

namespace {

using Settings = EncodingPlan::Settings;

Status check(const Settings& settings) {
  SOTTO_CHECK(privacy::require_at_least(settings.dimension, 1, "dimension of an update"));
  SOTTO_CHECK(privacy::require_positive(settings.clip, "clipping bound"));
  SOTTO_CHECK(privacy::require_positive(settings.step, "grid step"));
  SOTTO_CHECK(privacy::require_positive(settings.denominator, "denominator"));
  SOTTO_CHECK(privacy::require_at_least(settings.devices, 1, "number of devices"));
  if (settings.entry_clip != 0) SOTTO_CHECK(privacy::require_positive(settings.entry_clip, "largest entry"));
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
  if (!settings.products) return {};
  if (settings.rotation_seed || settings.clip_bit_weight || settings.nonnegative || settings.entry_clip != 0)
    return bad_input(
        "products are encoded as they are: leave out rotation, clip bit, entry_clip and nonnegative, or set "
        "products=false");
  if (!rows_of_triangle(settings.dimension))
    return bad_input("{} numbers are no triangle of products: m rows have m(m + 1)/2", settings.dimension);
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
  if (settings.products)
    return (settings.adjacency == privacy::Adjacency::replace_one ? furthest_products : longest_product)(
        settings.clip, settings.step, settings.dimension);
  if (settings.adjacency != privacy::Adjacency::replace_one) return rounding.norm_bound();
  return rounding.norm_bound() * (settings.nonnegative ? std::numbers::sqrt2 : 2);
}

Result<std::optional<privacy::NoiseShare>> share_of(const Settings& settings,
                                                    const StochasticRounding& rounding) {
  if (settings.noise_multiplier == 0) return std::nullopt;
  const double sensitivity = sensitivity_of(settings, rounding);
  SOTTO_TRY(auto share,
            privacy::NoiseShare::create({.kind = settings.noise,
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
    SOTTO_TRY(plan.clip_bit_, privacy::JointClipBit::create(settings.clip, *settings.clip_bit_weight));
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

std::optional<privacy::PrivacyEvent> EncodingPlan::event() const {
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
  constexpr int most_halvings = 40;
  const double whole = joint_norm(settings);
  int halvings = 0;
  while (halvings < most_halvings && !fits(std::ldexp(whole, -halvings))) ++halvings;
  if (halvings == most_halvings) {
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

std::vector<std::uint32_t> noisy_entries(std::span<const std::int32_t> values,
                                         const privacy::NoiseShare* share, Modulus modulus,
                                         privacy::DeviceRandom random) {
  std::vector<std::uint32_t> entries(values.size());
  std::array<std::int32_t, 1024> noise{};
  for (std::size_t begin = 0; begin < values.size(); begin += noise.size()) {
    const auto part = std::span(noise).first(std::min(noise.size(), values.size() - begin));
    if (share != nullptr) share->fill(part, random);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::int64_t value = values[begin + i];
      entries[begin + i] = static_cast<std::uint32_t>(modulus.wrap(value + part[i]));
    }
  }
  explicit_bzero(noise.data(), sizeof noise);  // who knows the noise knows the value
  return entries;
}

// Clipped, rotated, limited, in grid steps, rounded. Without a rotation the steps are made while they are
// rounded: a vector of a million numbers passes the memory twice, for its norm and for this.
template <class Number>
Status UpdateEncoder::round_to_grid(std::span<const Number> update, RandomSource& random,
                                    std::span<std::int32_t> whole) const {
  const EncodingPlan::Settings& settings = plan_.settings();
  SOTTO_CHECK(privacy::require_length(update.size(), settings.dimension, "the update"));
  if (settings.products) {
    SOTTO_TRY(auto factor, factor_of(update, settings.clip));
    round_product(factor, settings.step, whole);
    explicit_bzero(factor.data(), factor.size() * sizeof(double));
    return {};
  }
  SOTTO_TRY(const double norm, privacy::l2_norm(update));
  const auto limit = static_cast<double>(plan_.rounding().entry_bound());
  GridScale scale{.factor = privacy::clip_factor(norm, settings.clip, update.size()),
                  .per_step = 1 / settings.step,
                  .least = settings.nonnegative ? 0 : -limit,
                  .most = limit};
  if (!plan_.rotation()) {
    const auto steps = [&](std::size_t begin, std::span<double> part) {
      const std::size_t own = std::min(part.size(), update.size() - begin);
      scale_to_grid(update.data() + begin, own, scale, part.data());
      if (own == part.size()) return;
      const double bit = plan_.clip_bit()->coordinate(norm);  // the only entry behind the update
      part[own] = std::clamp(bit * scale.per_step, scale.least, scale.most);
    };
    SOTTO_CHECK(plan_.rounding().round(steps, whole, random));
    return {};
  }
  std::vector<double> values(update.begin(), update.end());
  for (double& value : values) value *= scale.factor;
  if (plan_.clip_bit()) values.push_back(plan_.clip_bit()->coordinate(norm));
  scale.factor = 1;
  SOTTO_CHECK(plan_.rotation()->rotate(values));
  scale_to_grid(values.data(), values.size(), scale, values.data());
  SOTTO_CHECK(plan_.rounding().round(values, whole, random));
  explicit_bzero(values.data(), values.size() * sizeof(double));
  return {};
}

template <class Number>
Result<std::vector<std::uint32_t>> UpdateEncoder::entries_of(std::span<const Number> update,
                                                             privacy::DeviceRandom random) const {
  std::vector<std::int32_t> whole(plan_.entries());
  SOTTO_CHECK(round_to_grid(update, random.source(), whole));
  const privacy::NoiseShare* share = plan_.noise_share() ? &*plan_.noise_share() : nullptr;
  std::vector<std::uint32_t> entries = noisy_entries(whole, share, plan_.modulus(), random);
  explicit_bzero(whole.data(), whole.size() * sizeof(std::int32_t));
  return entries;
}

Status UpdateEncoder::round(std::span<const float> update, RandomSource& random,
                            std::span<std::int32_t> whole) const {
  return round_to_grid(update, random, whole);
}

Result<std::vector<std::uint32_t>> UpdateEncoder::encode(std::span<const double> update,
                                                         privacy::DeviceRandom random) const {
  return entries_of(update, random);
}

Result<std::vector<std::uint32_t>> UpdateEncoder::encode(std::span<const float> update,
                                                         privacy::DeviceRandom random) const {
  return entries_of(update, random);
}

SumDecoder::SumDecoder(EncodingPlan plan) : plan_(std::move(plan)), steps_(plan_.entries()) {}

Status SumDecoder::add_group(std::span<const std::uint32_t> sum) {
  if (decoded_) return bad_input("the mean was decoded already: use a new decoder for another round");
  SOTTO_CHECK(privacy::require_length(sum.size(), steps_.size(), "the sum of a group"));
  const Modulus modulus = plan_.modulus();
  if (std::any_of(sum.begin(), sum.end(), [&](std::uint32_t entry) { return entry > modulus.mask(); })) {
    return bad_input("the sum of a group has entries beyond {} bits: it was not reduced", modulus.bits());
  }
  for (std::size_t i = 0; i < sum.size(); ++i) steps_[i] += modulus.centre(sum[i]);
  ++groups_;
  return {};
}

Result<DecodedMean> SumDecoder::decode() {
  if (decoded_) return bad_input("the mean was decoded already");
  if (groups_ == 0) return bad_input("no group's sum was added: there is nothing to decode");
  decoded_ = true;
  const double step = plan_.settings().step, denominator = plan_.settings().denominator;
  DecodedMean mean;
  mean.update.resize(steps_.size());
  std::transform(steps_.begin(), steps_.end(), mean.update.begin(),
                 [&](std::int64_t steps) { return static_cast<double>(steps) * step; });
  if (plan_.rotation()) SOTTO_CHECK(plan_.rotation()->rotate_back(mean.update));
  if (plan_.clip_bit()) {
    mean.fraction_within = plan_.clip_bit()->fraction(mean.update.back(), denominator);
    mean.update.pop_back();
  }
  for (double& value : mean.update) value /= denominator;
  return mean;
}

}  // namespace sotto::secagg
