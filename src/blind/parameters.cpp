#include "blind/parameters.h"

#include <algorithm>
#include <cmath>

namespace sotto::blind {

namespace {

// The sampler rounds σ² up by less than 1/1024.
constexpr double largest_sigma = error_sigma * (1 + 1e-6);
// Entries of four bits are spread best when their root mean square is about this.
constexpr double typical_entry = 3;

double worst_row_norm(const Shape& shape, double item_norm) {
  return std::sqrt(static_cast<double>(shape.clusters)) * item_norm;
}

double in_standard_deviations(unsigned step_bits, double row_norm) {
  return std::ldexp(0.5, static_cast<int>(step_bits)) / (largest_sigma * row_norm);
}

double z_for(const Shape& shape) {
  const double products = 2.0 * shape.rows * shape.probes;
  return std::sqrt(2 * (std::log(products) + failure_bits * std::log(2)));
}

}  // namespace

Status check(const Shape& shape) {
  const auto within = [](std::uint32_t value, std::uint32_t most, const char* what) -> Status {
    if (value >= 1 && value <= most) return {};
    return bad_input("a blind database has 1 to {} {}, not {}", most, what, value);
  };
  SOTTO_CHECK(within(shape.dimension, ShapeLimits::dimension, "numbers per item"));
  SOTTO_CHECK(within(shape.clusters, ShapeLimits::clusters, "clusters"));
  SOTTO_CHECK(within(shape.rows, ShapeLimits::rows, "slots per cluster"));
  SOTTO_CHECK(within(shape.probes, ShapeLimits::probes, "probes per refresh"));
  if (shape.columns() > ShapeLimits::columns) {
    return bad_input("{} clusters of vectors of {} numbers are {} columns, at most {} are encrypted",
                     shape.clusters, shape.dimension, shape.columns(), ShapeLimits::columns);
  }
  if (shape.slots() > ShapeLimits::slots) {
    return bad_input("{} clusters of {} slots are more than {} slots in all", shape.clusters, shape.rows,
                     ShapeLimits::slots);
  }
  return {};
}

double failure_bound(const Shape& shape, unsigned step_bits, double row_norm) {
  const double z = in_standard_deviations(step_bits, row_norm);
  return std::min(1.0, 2.0 * shape.rows * shape.probes * std::exp(-z * z / 2));
}

Status check(const Parameters& parameters) {
  SOTTO_CHECK(check(parameters.shape));
  const auto item = static_cast<double>(parameters.item_norm);
  const auto user = static_cast<double>(parameters.user_norm);
  if (item < 1 || user < 1 || parameters.step_bits < 1 || parameters.step_bits >= modulus_bits) {
    return bad_input("norms of {} and {} with steps of 2^{} are no parameters of blind serving",
                     parameters.item_norm, parameters.user_norm, parameters.step_bits);
  }
  if ((item * user + 1) * std::ldexp(1, static_cast<int>(parameters.step_bits)) >
      std::ldexp(0.5, modulus_bits)) {
    return bad_input("products up to {} in steps of 2^{} do not fit 32 bits", item * user,
                     parameters.step_bits);
  }
  const double wrong =
      failure_bound(parameters.shape, parameters.step_bits, worst_row_norm(parameters.shape, item));
  if (wrong > std::ldexp(1, -static_cast<int>(failure_bits))) {
    return bad_input("decryption could fail with probability {:.3g}: at most 2^-{} is accepted", wrong,
                     failure_bits);
  }
  return {};
}

double norm_before_rounding(const Parameters& parameters) {
  return parameters.user_norm - 0.5 * std::sqrt(static_cast<double>(parameters.shape.dimension));
}

double rounding_error(const Parameters& parameters) {
  const double item = parameters.item_norm;
  const double user = norm_before_rounding(parameters);
  return std::sqrt((1 / (item * item) + 1 / (user * user)) / 12);
}

Result<Parameters> choose_parameters(const Shape& shape) {
  SOTTO_CHECK(check(shape));
  const double noise = z_for(shape) * largest_sigma * worst_row_norm(shape, 1);
  const double most = std::ceil(typical_entry * std::sqrt(static_cast<double>(shape.dimension)));
  Parameters best;
  for (unsigned step_bits = 1; step_bits + 2 < modulus_bits; ++step_bits) {
    Parameters tried{shape, 0, 0, step_bits};
    tried.item_norm = static_cast<std::uint32_t>(
        std::min(most, std::floor(std::ldexp(0.5, static_cast<int>(step_bits)) / noise)));
    if (tried.item_norm < 1) continue;
    const double largest_product = std::ldexp(0.5, static_cast<int>(modulus_bits - step_bits)) - 1;
    tried.user_norm = static_cast<std::uint32_t>(largest_product / tried.item_norm);
    if (norm_before_rounding(tried) < 1) continue;
    if (best.item_norm == 0 || rounding_error(tried) < rounding_error(best)) best = tried;
  }
  if (best.item_norm == 0 || rounding_error(best) > coarsest_rounding) {
    return bad_input(
        "vectors of {} numbers in {} clusters leave no room for the noise of encryption: rounding would move "
        "a cosine by {:.3f}, at most {} is accepted. Choose longer vectors or fewer clusters",
        shape.dimension, shape.clusters, best.item_norm == 0 ? 1.0 : rounding_error(best), coarsest_rounding);
  }
  SOTTO_CHECK(check(best));
  return best;
}

}  // namespace sotto::blind
