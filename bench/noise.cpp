#include <cmath>
#include <random>
#include <span>

#include "bench/benchmarks.h"
#include "privacy/noise/grid_noise.h"
#include "privacy/noise/reference_samplers.h"

namespace sotto::bench {

namespace {

// Calls batch() (which returns how many samples it drew) until `seconds` have passed.
template <class Batch>
double rate(double seconds, Batch batch) {
  batch();  // first touch of tables and buffers
  const double start = thread_seconds();
  double samples = 0, elapsed = 0;
  while (elapsed < seconds) {
    samples += static_cast<double>(batch());
    elapsed = thread_seconds() - start;
  }
  return samples / elapsed;
}

template <class Baseline>
Result<NoiseBenchRow> row(std::string noise_name, std::string baseline_name, double sigma,
                          const privacy::GridNoise& noise, double seconds, Baseline baseline) {
  SecureRandom random;
  std::vector<std::int32_t> buffer(1 << 18);
  NoiseBenchRow result{std::move(noise_name), std::move(baseline_name), sigma};
  result.ours = rate(seconds / 2, [&] {
    noise.fill(std::span(buffer), random);
    return buffer.size();
  });
  result.baseline_rate = rate(seconds / 2, [&] {
    constexpr std::size_t batch_size = 256;
    for (std::size_t i = 0; i < batch_size; ++i) buffer[i] = static_cast<std::int32_t>(baseline(random));
    return batch_size;
  });
  noise.fill(std::span(buffer), random);
  double squares = 0;
  for (const std::int32_t value : buffer) squares += static_cast<double>(value) * value;
  result.variance_ratio = squares / static_cast<double>(buffer.size()) / noise.variance();
  // The widest law (Laplace) has a relative standard error of sqrt(5/2^18) = 0.44 %: 7 % is sixteen of them.
  if (std::fabs(result.variance_ratio - 1) > 0.07) {
    return failed("{} with σ {}: measured variance is {} times the stated one", result.noise, sigma,
                  result.variance_ratio);
  }
  return result;
}

privacy::reference::Rational exact(double value) {
  return {static_cast<std::uint64_t>(std::ceil(value * privacy::parameter_denominator)),
          static_cast<std::uint64_t>(privacy::parameter_denominator)};
}

}  // namespace

Result<std::vector<NoiseBenchRow>> bench_noise(double seconds) {
  std::vector<NoiseBenchRow> rows;
  for (const double sigma : {1.0, 100.0, 1e4, 1e6}) {
    SOTTO_TRY(const auto gaussian, privacy::DiscreteGaussian::create(sigma));
    SOTTO_TRY(auto gaussian_row, row("discrete Gaussian", "exact rejection (Canonne, Kamath, Steinke)", sigma,
                                     gaussian, seconds, [&](RandomSource& random) {
                                       return privacy::reference::discrete_gaussian(exact(sigma * sigma),
                                                                                    random);
                                     }));
    rows.push_back(std::move(gaussian_row));

    const double scale = sigma / std::sqrt(2.0);
    SOTTO_TRY(const auto laplace, privacy::DiscreteLaplace::create(scale));
    SOTTO_TRY(auto laplace_row, row("discrete Laplace", "exact rejection (Canonne, Kamath, Steinke)", sigma,
                                    laplace, seconds, [&](RandomSource& random) {
                                      return privacy::reference::discrete_laplace(exact(scale), random);
                                    }));
    rows.push_back(std::move(laplace_row));

    SOTTO_TRY(const auto skellam, privacy::Skellam::create(sigma * sigma));
    std::poisson_distribution<std::int64_t> poisson(sigma * sigma / 2);
    SOTTO_TRY(auto skellam_row, row("Skellam", "two draws of std::poisson_distribution (not exact)", sigma,
                                    skellam, seconds, [&](RandomSource& random) {
                                      const std::int64_t plus = poisson(random);
                                      return plus - poisson(random);
                                    }));
    rows.push_back(std::move(skellam_row));
  }
  return rows;
}

}  // namespace sotto::bench
