#include "privacy/mechanisms/clipping.h"

#include <algorithm>
#include <cmath>

#include "base/isa.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

namespace {

Status require_finite(double norm) {
  if (std::isfinite(norm)) return {};
  return bad_input("cannot clip a vector with NaN, infinite or overflowing entries: drop this contribution");
}

void scale_to(std::span<double> values, double norm, double bound) {
  const double factor = clip_factor(norm, bound, values.size());
  if (factor == 1) return;
  for (double& value : values) value *= factor;
}

// Neighbours go to different sums, which compilers put into one register; what is added to which does not
// depend on the instruction set.
constexpr std::size_t lanes = 16;

template <class Number>
SOTTO_INLINE double squares_in_lanes(const Number* values, std::size_t count) {
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::size_t j = 0; j < lanes; ++j) {
      const double value = values[i + j];
      sums[j] += value * value;
    }
  for (std::size_t j = 0; i + j < count; ++j) {
    const double value = values[i + j];
    sums[j] += value * value;
  }
  double sum = 0;
  for (const double own : sums) sum += own;
  return sum;
}

// The square of a float is exact in double, so it does not matter where a processor fuses multiply and add.
SOTTO_MULTIVERSION double sum_of_squares(const float* values, std::size_t count) {
  return squares_in_lanes(values, count);
}
double sum_of_squares(const double* values, std::size_t count) { return squares_in_lanes(values, count); }

template <class Number>
Result<double> norm_of(std::span<const Number> values) {
  // Here no square has overflowed, and none that was lost below could be seen in the sum.
  constexpr double smallest = 1e-280, largest_sum = 1e280;
  const double plain = sum_of_squares(values.data(), values.size());
  if (plain >= smallest && plain <= largest_sum) return std::sqrt(plain);
  double largest = 0;
  bool finite = true;
  for (const Number entry : values) {
    const double value = entry;
    largest = std::max(largest, std::fabs(value));
    finite = finite && std::isfinite(value);
  }
  if (!finite) SOTTO_CHECK(require_finite(HUGE_VAL));
  if (largest == 0) return 0.0;
  double squares = 0;  // relative to the largest entry: neither overflow nor underflow decides the norm
  for (const Number value : values) squares += (value / largest) * (value / largest);
  const double norm = largest * std::sqrt(squares);
  SOTTO_CHECK(require_finite(norm));
  return norm;
}

}  // namespace

Result<double> l2_norm(std::span<const double> values) { return norm_of(values); }
Result<double> l2_norm(std::span<const float> values) { return norm_of(values); }

// Summing n terms and scaling errs by less than (n + 8) rounding errors.
double safe_norm(double bound, std::size_t entries) {
  return bound * (1 - (static_cast<double>(entries) + 8) * 0x1.0p-52);
}

double clip_factor(double norm, double bound, std::size_t entries) {
  const double safe = safe_norm(bound, entries);
  return norm <= safe ? 1 : safe / norm;
}

Result<double> clip_l2(std::span<double> values, double bound) {
  SOTTO_CHECK(require_positive(bound, "L2 clipping bound"));
  SOTTO_TRY(const double norm, l2_norm(values));
  scale_to(values, norm, bound);
  return norm;
}

Result<double> clip_l1(std::span<double> values, double bound) {
  SOTTO_CHECK(require_positive(bound, "L1 clipping bound"));
  double norm = 0;
  for (const double value : values) norm += std::fabs(value);
  SOTTO_CHECK(require_finite(norm));
  scale_to(values, norm, bound);
  return norm;
}

Result<double> clip_coordinates(std::span<double> values, double bound) {
  SOTTO_CHECK(require_positive(bound, "clipping bound"));
  double largest = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) SOTTO_CHECK(require_finite(value));
    largest = std::max(largest, std::fabs(value));
  }
  for (double& value : values) value = std::clamp(value, -bound, bound);
  return largest;
}

Result<ClippedMean> ClippedMean::create(const Settings& settings) {
  SOTTO_CHECK(require_positive(settings.clip, "clipping bound"));
  SOTTO_CHECK(require_positive(settings.noise_multiplier, "noise multiplier"));
  SOTTO_CHECK(require_positive(settings.denominator, "denominator"));
  SOTTO_CHECK(require_at_least(settings.dimension, 1, "dimension"));
  const double neighbours = settings.adjacency == Adjacency::replace_one ? 2 : 1;
  const double step = grid_step_for(settings.noise_multiplier * neighbours * settings.clip);
  SOTTO_CHECK(require_positive(step, "grid step"));
  const double charge = snapping_l2_charge(step, settings.dimension) / 2;
  if (charge > settings.clip) {
    return bad_input(
        "rounding {} coordinates would add more to a contribution ({}) than its clipping bound {}: lower the "
        "noise multiplier",
        settings.dimension, charge, settings.clip);
  }
  SOTTO_TRY(auto noise, RoundedGaussian::create(settings.noise_multiplier * neighbours *
                                                (settings.clip + charge) / step));
  return ClippedMean(settings, step, std::move(noise));
}

Result<GridVector> ClippedMean::contribution(std::span<const double> update) const {
  SOTTO_CHECK(require_length(update.size(), settings_.dimension, "the update"));
  std::vector<double> clipped(update.begin(), update.end());
  SOTTO_CHECK(clip_l2(clipped, settings_.clip));
  return snap(clipped, step_);
}

GridVector ClippedMean::empty_sum() const { return {step_, std::vector<std::int64_t>(settings_.dimension)}; }

Status ClippedMean::check_grid(const GridVector& vector) const {
  SOTTO_CHECK(require_length(vector.steps.size(), settings_.dimension, "the grid vector"));
  if (vector.step == step_) return {};
  return bad_input("the vector lies on a grid of step {}, this mean uses {}", vector.step, step_);
}

Status ClippedMean::accumulate(GridVector& sum, const GridVector& contribution) const {
  SOTTO_CHECK(check_grid(sum));
  SOTTO_CHECK(check_grid(contribution));
  double squares = 0;
  for (const std::int64_t value : contribution.steps) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const double allowed = settings_.clip + snapping_l2_charge(step_, settings_.dimension) / 2;
  if (!(std::sqrt(squares) * step_ <= allowed * (1 + 1e-9))) {
    return bad_input("a contribution has norm {}, above the clipping bound {}", std::sqrt(squares) * step_,
                     settings_.clip);
  }
  for (std::size_t i = 0; i < sum.steps.size(); ++i) sum.steps[i] += contribution.steps[i];
  return {};
}

Result<GridVector> ClippedMean::release(const GridVector& sum, DeviceRandom random) const {
  SOTTO_CHECK(check_grid(sum));
  GridVector released = sum;
  add_noise(released, noise_, random.source());
  return released;
}

std::vector<double> ClippedMean::mean(const GridVector& released) const {
  std::vector<double> values = released.reals();
  for (double& value : values) value /= settings_.denominator;
  return values;
}

PrivacyEvent ClippedMean::event() const {
  return {.mechanism = GaussianNoise{settings_.noise_multiplier},
          .adjacency = settings_.adjacency,
          .unit = Unit::user,
          .total_variation = GridNoise::total_variation * static_cast<double>(settings_.dimension),
          .log_ratio = GridNoise::log_ratio * static_cast<double>(settings_.dimension)};
}

}  // namespace sotto::privacy
