#include "privacy/accounting/loss_composition.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <optional>

#include "privacy/accounting/log_math.h"
#include "privacy/accounting/real_transform.h"

namespace sotto::privacy {
namespace {

// Relative error of one radix stage: twiddle factors within 1.4e-15 and a complex butterfly. A term of the
// transform passes through all stages, so every coefficient of a law of total mass 1 is off by at most stages
// · this.
constexpr double stage_error = 4e-15;
constexpr double smallest_mass = 1e-290;
constexpr double outside_block = 1e-14;  // tilted mass left outside of a block's window, per side
constexpr std::size_t max_transform = std::size_t{1} << 24;
// The scale of a point follows from that of the one above, by a factor of e^{tilt · step}, and is computed
// anew so often.
constexpr std::size_t scales_in_a_row = 32;
// A coefficient of the composition that is surely smaller is taken for 0, and charged as large as this.
constexpr double log_negligible = -100;
const double negligible = 1.01 * std::exp(log_negligible);

using Spectrum = std::vector<std::complex<double>>;

// The same of a whole composition: as little beside δ as the tilt for so many uses leaves the noise.
double outside_mass(std::span<const LossPower> losses) {
  double uses = 0;
  for (const auto& power : losses) uses += static_cast<double>(power.count);
  return std::clamp(1e-14 * uses, 1e-12, 1e-10);
}

double norm(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

std::complex<double> times_power(std::complex<double> product, std::complex<double> base,
                                 std::uint64_t exponent) {
  for (; exponent != 0; exponent >>= 1) {
    const auto [a, b] = std::pair(base.real(), base.imag());
    if (exponent & 1) {
      const auto [c, d] = std::pair(product.real(), product.imag());
      product = {a * c - b * d, a * d + b * c};
    }
    base = {a * a - b * b, 2 * a * b};
  }
  return product;
}

// Room for one composition. Asking the system for it anew every time costs as much as the transforms.
struct Room {
  std::vector<double> tilted, mass, damping, relative_slope;
  Spectrum product, spectrum;
};

// The composed law inside a window, tilted: true mass at point i is e^{log_scale − tilt·loss(i)} · mass[i].
struct TiltedSum {
  double step = 0, offset = 0, tilt = 0, log_scale = 0;
  std::int64_t first = 0;
  std::span<double> mass;     // in the room that compose() was given
  double noise = 0;           // bound of Σ |error of mass[i]|
  double outside = 0;         // tilted mass that wrapped into the window
  double outside_above = 0;   // of that, from above
  double relative_error = 0;  // of untilting
  double infinite = 0;

  double loss(std::size_t i) const {
    return static_cast<double>(first + static_cast<std::int64_t>(i)) * step + offset;
  }
  double scale(double at_loss) const { return std::exp(log_scale - tilt * at_loss); }
};

// Distances from the tilted mean that leave at most outside_mass on either side (Chernoff bound); never
// beyond the support, outside of which there is nothing.
struct Window {
  double below = 0, above = 0;
  double outside_below = 0, outside_above = 0;
};

Window choose_window(std::span<const LossPower> losses, double tilt, const Cumulants& at, double step,
                     double most_outside) {
  double lowest = 0;
  double highest = 0;
  for (const auto& [loss, count] : losses) {
    lowest += static_cast<double>(count) * loss->loss(0);
    highest += static_cast<double>(count) * loss->loss(loss->mass.size() - 1);
  }
  const double log_outside = std::log(most_outside);
  const double gaussian = std::sqrt(-2 * log_outside / std::max(at.variance, step * step * 1e-6));
  const auto reach = [&](double sign) {
    double best = infinity;
    for (double extra = gaussian; extra > 0.02 * gaussian; extra *= 0.7) {
      const double moved = cumulants(losses, tilt + sign * extra).value;
      const double distance = (moved - at.value - log_outside) / extra - sign * at.mean;
      if (distance > best) break;
      best = distance;
    }
    return best + 2 * step;
  };
  Window window{reach(-1), reach(1), most_outside, most_outside};
  if (const double all = at.mean - lowest + 2 * step; window.below >= all) {
    window.below = all;
    window.outside_below = 0;
  }
  if (const double all = highest - at.mean + 2 * step; window.above >= all) {
    window.above = all;
    window.outside_above = 0;
  }
  return window;
}

Result<TiltedSum> compose(std::span<const LossPower> losses, double tilt, Room& room, double most_outside) {
  if (losses.empty()) return bad_input("there is no privacy loss to compose");
  TiltedSum sum;
  sum.step = losses.front().loss->step;
  sum.tilt = tilt;
  const Cumulants at = cumulants(losses, tilt);
  const Window window = choose_window(losses, tilt, at, sum.step, most_outside);
  const double points = (window.below + window.above) / sum.step + 4;
  if (!(points < static_cast<double>(max_transform))) {
    return failed("composition needs {:.3g} lattice points of {:.3g}: ask for a coarser answer", points,
                  sum.step);
  }
  const std::size_t n = std::bit_ceil(static_cast<std::size_t>(points));
  const double levels = std::log2(static_cast<double>(n)) + 2;  // two more for the real-input packing

  std::optional<RealTransform> large;
  RealTransform& transform = n <= RealTransform::most_kept ? RealTransform::of(n) : large.emplace(n);
  const double coefficient_error = stage_error * levels;
  auto& [tilted, mass, damping, relative_slope, product, spectrum] = room;
  product.assign(n / 2 + 1, 1.0);
  damping.assign(n / 2 + 1, 1.0);         // ≥ the product so far, true and computed
  relative_slope.assign(n / 2 + 1, 0.0);  // Σ count / m, m ≥ the coefficient and its computed value
  double log_finite = 0;
  double uses = 0;
  double noise_of_blocks = 0;
  for (const auto& [loss, count] : losses) {
    const double times = static_cast<double>(count);
    noise_of_blocks += times * loss->noise;
    const double value = cumulants(*loss, tilt).value;
    tilted.assign(n, 0.0);
    double largest_exponent = 0;
    for (std::size_t i = 0; i < loss->mass.size(); ++i) {
      if (loss->mass[i] <= 0) continue;
      const double exponent = tilt * loss->loss(i) - value;
      const double weight = loss->mass[i] * std::exp(exponent);
      if (weight > 1e-20) largest_exponent = std::max(largest_exponent, std::abs(exponent));
      tilted[static_cast<std::uint64_t>(loss->places[i]) & (n - 1)] += weight;  // two's complement: modulo n
    }
    transform.forward(tilted, spectrum);
    // Most powers of a spectrum are nothing: they are not computed, and what they are at most is charged.
    const double negligible_size = std::exp(log_negligible / times);
    for (std::size_t i = 0; i < spectrum.size(); ++i) {
      if (damping[i] == 0) continue;
      const double size = std::sqrt(std::norm(spectrum[i])) + coefficient_error;
      if (size < negligible_size) {
        product[i] = 0;
        damping[i] = 0;
        continue;
      }
      product[i] = times_power(product[i], spectrum[i], count);
      damping[i] *= std::exp(times * std::log(size));
      relative_slope[i] += times / size;
    }
    sum.relative_error += times * (loss->relative_error + rounding_unit * (16 + 2 * largest_exponent));
    sum.log_scale += times * value;
    sum.offset += times * loss->offset;
    log_finite += times * std::log1p(-std::min(loss->infinite, 1.0));
    uses += times;
  }
  // |ŷ^T − y^T| ≤ T·|ŷ − y|·m^{T−1} per coefficient, and the product rule over several laws.
  double spectrum_error = 0;
  for (std::size_t i = 0; i < damping.size(); ++i) {
    const double error = damping[i] == 0 ? negligible : coefficient_error * relative_slope[i] * damping[i];
    spectrum_error += 2 * error * error;  // twice: the other half of the spectrum mirrors this one
  }
  spectrum_error = std::sqrt(spectrum_error);
  transform.inverse(product, mass);
  sum.mass = mass;
  const double root_n = std::sqrt(static_cast<double>(n));
  const double result_norm = root_n * norm(sum.mass);
  spectrum_error += 4 * rounding_unit * uses * result_norm;  // complex multiplications of the powers
  // Of total mass 1 each, and so few that products of their errors are nothing.
  if (noise_of_blocks > 1e-3)
    return failed("blocks that are off by {:.3g} in all are no law", noise_of_blocks);
  sum.noise = 1.01 * (spectrum_error + stage_error * levels * result_norm + noise_of_blocks);
  sum.outside_above = window.outside_above;
  sum.outside = window.outside_above + window.outside_below;
  sum.infinite = -std::expm1(log_finite);

  // Turn circular positions into the window.
  sum.first = static_cast<std::int64_t>(std::floor((at.mean - window.below - sum.offset) / sum.step));
  const auto start = static_cast<std::size_t>(static_cast<std::uint64_t>(sum.first) & (n - 1));
  std::rotate(sum.mass.begin(), sum.mass.begin() + static_cast<std::ptrdiff_t>(start), sum.mass.end());
  sum.relative_error += rounding_unit * scales_in_a_row * (4 + tilt * sum.step);
  sum.relative_error +=
      4 * rounding_unit *
      (std::abs(sum.log_scale) + tilt * std::max(std::abs(sum.loss(0)), std::abs(sum.loss(n - 1))));
  return sum;
}

// Walks δ(ε) = Σ_{s > ε} (1 − e^{ε−s})·mass(s) down from the top of the window, one lattice point at a time,
// with every charge added (pessimistic) or taken away (optimistic).
class DeltaWalk {
 public:
  DeltaWalk(const TiltedSum& sum, Rounding rounding)
      : sum_(sum),
        pessimistic_(rounding == Rounding::pessimistic),
        at_(sum.mass.size() - 1),
        keep_(std::exp(-sum.step)),
        lose_(-std::expm1(-sum.step)),
        scale_(sum.scale(sum.loss(at_))),
        rise_(std::exp(sum.tilt * sum.step)) {
    fixed_charge_ = sum.infinite;
    if (pessimistic_) fixed_charge_ += scale_ * sum.outside_above;
  }

  bool at_bottom() const { return at_ == 0; }
  double loss() const { return sum_.loss(at_); }
  double delta() const { return delta_ + charge(); }

  void descend() {
    const double safety = pessimistic_ ? 1 + sum_.relative_error : 1 - sum_.relative_error;
    above_ += std::max(0.0, sum_.mass[at_]) * scale_ * safety;
    previous_delta_ = delta_;
    delta_ = keep_ * delta_ + lose_ * above_;
    --at_;
    scale_ = at_ % scales_in_a_row == 0 ? sum_.scale(sum_.loss(at_)) : scale_ * rise_;
  }

  // Between this point and the one above it, δ(ε) = A − e^{ε − s}·(A − δ(s)) with A the mass above and s the
  // upper point. The charge of the lower point covers the whole stretch.
  double epsilon_between(double delta) const {
    const double lower = sum_.loss(at_);
    const double upper = sum_.loss(at_ + 1);
    const double ratio = (above_ + charge() - delta) / (above_ - previous_delta_);
    return ratio > 0 ? std::clamp(upper + std::log(ratio), lower, upper) : lower;
  }

 private:
  // Of the point it stands on.
  double charge() const {
    return pessimistic_ ? fixed_charge_ + scale_ * sum_.noise
                        : fixed_charge_ - scale_ * (sum_.noise + sum_.outside);
  }

  const TiltedSum& sum_;
  bool pessimistic_;
  std::size_t at_;
  double keep_, lose_;
  double scale_, rise_;  // of the point it stands on; of each point over the one above
  double fixed_charge_ = 0;
  double above_ = 0, delta_ = 0, previous_delta_ = 0;
};

Result<double> composed_in(Room& room, std::span<const LossPower> losses, double delta, double tilt,
                           Rounding rounding) {
  SOTTO_TRY(const TiltedSum sum, compose(losses, tilt, room, outside_mass(losses)));
  DeltaWalk walk(sum, rounding);
  if (walk.delta() > delta) {
    if (rounding == Rounding::optimistic) return walk.loss();
    return bad_input("no finite epsilon at delta {:.3g}: mass {:.3g} has infinite privacy loss", delta,
                     sum.infinite);
  }
  while (!walk.at_bottom()) {
    walk.descend();
    if (walk.delta() > delta) return std::max(0.0, walk.epsilon_between(delta));
    if (walk.loss() < 0) return 0.0;
  }
  // The whole window satisfies δ. Its lower end is then a valid upper bound, and nothing is known from below.
  return rounding == Rounding::pessimistic ? std::max(0.0, walk.loss()) : 0.0;
}

std::int64_t floor_of(std::int64_t number, std::int64_t parts) {
  return number >= 0 ? number / parts : -((-number + parts - 1) / parts);
}

// Splits the mass of every point between the two of the coarser lattice beside it, as connect_the_dots does:
// both its P-mass and its Q-mass survive.
LossLattice every(std::int64_t coarser, const TiltedSum& sum) {
  const auto points = static_cast<std::int64_t>(sum.mass.size());
  const std::int64_t begin = floor_of(sum.first, coarser);
  const std::int64_t end = floor_of(sum.first + points - 1, coarser) + 2;
  LossLattice block;
  block.step = sum.step * static_cast<double>(coarser);
  block.offset = sum.offset;
  block.infinite = sum.infinite;
  block.mass.assign(static_cast<std::size_t>(end - begin), 0.0);
  for (std::int64_t place = begin; place < end; ++place) block.places.push_back(place);
  std::vector<double> upper_share;
  for (std::int64_t rest = 0; rest < coarser; ++rest)
    upper_share.push_back(std::expm1(-static_cast<double>(rest) * sum.step) / std::expm1(-block.step));
  const double fall = std::exp(-sum.tilt * sum.step);
  double scale = 0;
  std::int64_t at = begin;
  std::int64_t rest = sum.first - begin * coarser;
  for (std::size_t i = 0; i < sum.mass.size(); ++i) {
    scale = i % scales_in_a_row == 0 ? sum.scale(sum.loss(i)) : scale * fall;
    const double tilted = std::max(0.0, sum.mass[i]);
    const double mass = tilted * scale;
    if (mass < smallest_mass) block.noise += tilted;  // it loses digits, or vanishes
    const double upper = upper_share[static_cast<std::size_t>(rest)] * mass;
    block.mass[static_cast<std::size_t>(at - begin)] += mass - upper;
    block.mass[static_cast<std::size_t>(at - begin) + 1] += upper;
    if (++rest == coarser) {
      rest = 0;
      ++at;
    }
  }
  return block;
}

}  // namespace

Result<LossLattice> composed_block(const LossPower& uses, double tilt, std::int64_t coarser) {
  thread_local Room kept;
  SOTTO_TRY(const TiltedSum sum, compose({&uses, 1}, tilt, kept, outside_block));
  LossLattice block = every(coarser, sum);
  const double log_total = cumulants(block, tilt).value;
  if (!std::isfinite(log_total)) return failed("the masses of a block of {} uses are no numbers", uses.count);
  block.relative_error = sum.relative_error;
  // In units of the block's own tilted mass; splitting moves a point up by less than a step. What lies
  // outside of the window is missing where it belongs and wrongly where it wrapped to.
  block.noise = 1.01 * std::exp(tilt * block.step + sum.log_scale - log_total) *
                (sum.noise + 2 * sum.outside + 8 * rounding_unit + block.noise);
  return block;
}

Result<double> composed_epsilon(std::span<const LossPower> losses, double delta, double tilt,
                                Rounding rounding) {
  thread_local Room kept;  // the calling thread's, as the transform is: 10 MB at most
  auto answer = composed_in(kept, losses, delta, tilt, rounding);
  if (kept.tilted.size() > RealTransform::most_kept) kept = {};
  return answer;
}

}  // namespace sotto::privacy
