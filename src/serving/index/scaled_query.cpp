#include "serving/index/scaled_query.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto::serving {

Status check_values(std::span<const float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(values[i]) <= largest_value)) {  // also when it is not a number
      return bad_input("number {} is {}: it must be finite and at most {:g} in size", i, values[i],
                       largest_value);
    }
  }
  return {};
}

Result<ScaledQuery> ScaledQuery::create(std::span<const float> coefficients, std::size_t dimension) {
  if (coefficients.size() != dimension) {
    return bad_input("the query has {} coefficients where the index has {} dimensions", coefficients.size(),
                     dimension);
  }
  float largest = 0;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    if (!std::isfinite(coefficients[i])) {
      return bad_input("coefficient {} is {}: send finite numbers", i, coefficients[i]);
    }
    largest = std::max(largest, std::abs(coefficients[i]));
  }
  ScaledQuery query;
  query.exponent_ = largest > 0 ? -std::ilogb(largest) : 0;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    if (coefficients[i] == 0) continue;
    const double scaled = std::ldexp(static_cast<double>(coefficients[i]), query.exponent_);
    query.terms_.push_back({static_cast<std::uint32_t>(i), static_cast<float>(scaled)});
    query.coefficients_.push_back(scaled);
  }
  return query;
}

// Each term suffers from at most terms + 2 roundings of relative size 2^-24, in whatever order they are
// added; what is too small for a normal number may become zero.
double ScaledQuery::slack(std::span<const float> largest) const {
  constexpr double smallest_normal = std::numeric_limits<float>::min();
  const double roundings = std::ldexp(static_cast<double>(terms_.size() + 3), -23);
  double slack = 0;
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const double value = largest[terms_[t].dimension];
    slack += roundings * std::abs(coefficients_[t]) * value + smallest_normal * (value + 4);
  }
  return slack;
}

double ScaledQuery::unscale(double score) const { return std::ldexp(score, -exponent_); }

}  // namespace sotto::serving
