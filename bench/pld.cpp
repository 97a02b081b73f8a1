#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <span>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "bench/benchmarks.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/loss_lattice.h"
#include "privacy/accounting/pld_accountant.h"

namespace sotto::bench {
namespace {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double delta_at(const std::vector<double>& mass, double first_loss, double step, double infinite,
                double epsilon) {
  double sum = infinite;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const double loss = first_loss + step * static_cast<double>(i);
    if (loss > epsilon) sum += mass[i] * -std::expm1(epsilon - loss);
  }
  return sum;
}

// Convolves a law on every point of its lattice with one round at a time and keeps everything in one long
// circular buffer. Charges nothing for the rounding of the transforms: it is a yardstick, not a guarantee.
double composed_round_by_round(const privacy::LossLattice& one, std::uint64_t rounds, double delta) {
  const double needed = 24 * std::sqrt(one.variance() * static_cast<double>(rounds)) / one.step;
  std::size_t n = 1;
  while (static_cast<double>(n) < needed || n < 2 * one.mass.size()) n *= 2;
  Eigen::FFT<double> transform;
  std::vector<double> step_mass(n, 0.0);
  std::copy(one.mass.begin(), one.mass.end(), step_mass.begin());
  std::vector<std::complex<double>> step_spectrum;
  std::vector<std::complex<double>> spectrum;
  transform.fwd(step_spectrum, step_mass);
  // Before every round the buffer is rotated so that its mean stays in the middle.
  std::vector<double> sum = step_mass;
  double first_loss = one.loss(0);
  double finite = 1 - one.infinite;
  for (std::uint64_t round = 1; round < rounds; ++round) {
    transform.fwd(spectrum, sum);
    for (std::size_t i = 0; i < n; ++i) spectrum[i] *= step_spectrum[i];
    transform.inv(sum, spectrum);
    first_loss += one.loss(0);
    finite *= 1 - one.infinite;
    double mean = 0;
    for (std::size_t i = 0; i < n; ++i) mean += sum[i] * static_cast<double>(i);
    const double excess = mean - static_cast<double>(n) / 2;
    const auto turn = static_cast<std::ptrdiff_t>(std::abs(excess));
    if (excess > 0) {
      std::rotate(sum.begin(), sum.begin() + turn, sum.end());
      first_loss += one.step * static_cast<double>(turn);
    } else {
      std::rotate(sum.begin(), sum.end() - turn, sum.end());
      first_loss -= one.step * static_cast<double>(turn);
    }
  }
  double low = 0;
  double high = first_loss + one.step * static_cast<double>(n);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (delta_at(sum, first_loss, one.step, 1 - finite, middle) > delta ? low : high) = middle;
  }
  return high;
}

Result<double> baseline_epsilon(const privacy::PrivacyEvent& event, double delta, double step) {
  SOTTO_TRY(const privacy::LossPairs pairs, privacy::dominating_pairs(event));
  const double tail = 1e-6 * delta / static_cast<double>(event.count);
  double worst = 0;
  for (const privacy::LossPair* pair : {&pairs.remove, &pairs.add}) {
    SOTTO_TRY(const privacy::LossGrid grid,
              privacy::loss_grid(*pair, privacy::loss_range(*pair, tail), step));
    const auto one = privacy::to_lattice(*pair, grid, privacy::Rounding::pessimistic);
    worst = std::max(worst, composed_round_by_round(one, event.count, delta));
  }
  return worst;
}

}  // namespace

Result<PldBench> bench_pld(const PldBenchSettings& settings) {
  if (settings.repeats < 1) return bad_input("a benchmark needs at least one repeat");
  const privacy::PrivacyEvent event{privacy::GaussianNoise{settings.noise_multiplier},
                                    privacy::Adjacency::add_remove, privacy::Unit::user,
                                    privacy::PoissonSampling{settings.rate}, settings.rounds};
  const std::span<const privacy::PrivacyEvent> events{&event, 1};
  PldBench bench;
  bench.ours_ms = bench.ours_upper_ms = privacy::infinity;
  privacy::PldTarget upper_only;
  upper_only.with_lower_bound = false;
  double step = 0;
  for (int i = 0; i < settings.repeats; ++i) {
    auto start = std::chrono::steady_clock::now();
    SOTTO_TRY(const privacy::PldAnswer both, privacy::pld_epsilon(events, settings.delta));
    bench.ours_ms = std::min(bench.ours_ms, milliseconds_since(start));
    start = std::chrono::steady_clock::now();
    SOTTO_TRY(const privacy::PldAnswer upper, privacy::pld_epsilon(events, settings.delta, upper_only));
    bench.ours_upper_ms = std::min(bench.ours_upper_ms, milliseconds_since(start));
    bench.ours_epsilon = upper.upper;
    bench.ours_lower = both.lower;
    step = upper.step;
  }
  const auto start = std::chrono::steady_clock::now();
  SOTTO_TRY(bench.baseline_epsilon, baseline_epsilon(event, settings.delta, step));
  bench.baseline_ms = milliseconds_since(start);
  bench.ratio = bench.baseline_ms / bench.ours_upper_ms;
  if (std::abs(bench.baseline_epsilon - bench.ours_epsilon) > 1e-3 * bench.ours_epsilon) {
    return failed("the baseline gives epsilon {} where ours gives {}: one of them is wrong",
                  bench.baseline_epsilon, bench.ours_epsilon);
  }
  return bench;
}

}  // namespace sotto::bench
