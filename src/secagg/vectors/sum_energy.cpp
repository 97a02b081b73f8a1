#include "secagg/vectors/sum_energy.h"

#include <cmath>

#include "secagg/vectors/unit_products.h"

namespace sotto::secagg {

double largest_energy(const EncodingPlan& plan) {
  constexpr double tail = 10;
  const auto devices = static_cast<double>(plan.settings().devices);
  const EncodingPlan::Settings& settings = plan.settings();
  const double longest = settings.products ? longest_product(settings.clip, settings.step, settings.dimension)
                                           : plan.rounding().norm_bound();
  const double signal = devices * longest;
  const double variance = plan.noise_share() ? devices * plan.noise_share()->share_variance() : 0;
  const auto entries = static_cast<double>(plan.entries());
  return signal * signal + variance * entries +
         tail * (variance * std::sqrt(2 * entries) + 2 * std::sqrt(variance) * signal);
}

double energy_of(const EncodingPlan& plan, std::span<const std::uint32_t> sum) {
  double energy = 0;
  for (const std::uint32_t entry : sum) {
    const auto steps = static_cast<double>(plan.modulus().centre(entry));
    energy += steps * steps;
  }
  return energy;
}

}  // namespace sotto::secagg
