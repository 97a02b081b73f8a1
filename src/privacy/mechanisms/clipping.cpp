#include "privacy/mechanisms/clipping.h"

#include <algorithm>
#include <cmath>

#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

namespace {

Status require_finite(double norm) {
  if (std::isfinite(norm)) return {};
  return bad_input("cannot clip a vector with NaN, infinite or overflowing entries: drop this contribution");
}

// Summing n terms and scaling errs by less than (n + 8) rounding errors.
void scale_to(std::span<double> values, double norm, double bound) {
  const double safe = bound * (1 - (static_cast<double>(values.size()) + 8) * 0x1.0p-52);
  if (norm <= safe) return;
  const double factor = safe / norm;
  for (double& value : values) value *= factor;
}

}  // namespace

Result<double> clip_l2(std::span<double> values, double bound) {
  SOTTO_CHECK(require_positive(bound, "L2 clipping bound"));
  double largest = 0;
  bool finite = true;
  for (const double value : values) {
    largest = std::max(largest, std::fabs(value));
    finite = finite && std::isfinite(value);
  }
  if (!finite) SOTTO_CHECK(require_finite(HUGE_VAL));
  if (largest == 0) return 0.0;
  double squares = 0;  // relative to the largest entry: neither overflow nor underflow decides the norm
  for (const double value : values) squares += (value / largest) * (value / largest);
  const double norm = largest * std::sqrt(squares);
  SOTTO_CHECK(require_finite(norm));
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

}  // namespace sotto
