#include "secagg/shared/shamir.h"

#include <sodium.h>

#include <algorithm>
#include <array>

namespace sotto::secagg {

static_assert(crypto_core_ristretto255_SCALARBYTES == share_bytes);

namespace {

Share scalar(std::uint64_t number) {
  Share result;
  for (std::size_t i = 0; i < 8; ++i) result.data()[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return result;
}

void multiply(Share& value, const Share& by) {
  crypto_core_ristretto255_scalar_mul(value.data(), value.data(), by.data());
}

void add(Share& value, const Share& other) {
  crypto_core_ristretto255_scalar_add(value.data(), value.data(), other.data());
}

// Points are public small numbers: as many as fit are multiplied as plain integers before one field
// multiplication.
class PointProduct {
 public:
  void multiply_by(std::int64_t factor) {
    negative_ ^= factor < 0;
    small_ *= static_cast<std::uint64_t>(factor < 0 ? -factor : factor);
    if (small_ >> 47 != 0) flush();
  }
  Share value() {
    flush();
    if (negative_) crypto_core_ristretto255_scalar_negate(large_.data(), large_.data());
    return std::move(large_);
  }

 private:
  void flush() {
    multiply(large_, scalar(small_));
    small_ = 1;
  }

  static_assert(max_share_point < (1U << 17));  // 47 + 17 bits: no overflow
  std::uint64_t small_ = 1;
  bool negative_ = false;
  Share large_ = scalar(1);
};

// One inversion for all, by running products.
void invert_all(std::vector<Share>& values) {
  std::vector<Share> before;
  before.reserve(values.size());
  Share product = scalar(1);
  for (const Share& value : values) {
    before.push_back(product.copy());
    multiply(product, value);
  }
  Share inverse;
  crypto_core_ristretto255_scalar_invert(inverse.data(), product.data());
  for (std::size_t i = values.size(); i-- > 0;) {
    multiply(before[i], inverse);
    multiply(inverse, values[i]);
    values[i] = std::move(before[i]);
  }
}

// True when the bytes are a field element in its only encoding.
bool is_share(std::span<const std::uint8_t, share_bytes> bytes) {
  std::array<std::uint8_t, crypto_core_ristretto255_NONREDUCEDSCALARBYTES> wide{};
  std::array<std::uint8_t, share_bytes> reduced{};
  std::copy(bytes.begin(), bytes.end(), wide.begin());
  crypto_core_ristretto255_scalar_reduce(reduced.data(), wide.data());
  const bool canonical = sodium_memcmp(reduced.data(), bytes.data(), share_bytes) == 0;
  sodium_memzero(wide.data(), wide.size());
  sodium_memzero(reduced.data(), reduced.size());
  return canonical;
}

Status check_points(std::span<const SharePoint> points) {
  if (points.empty()) return bad_input("there are no shares to combine");
  std::vector<std::uint32_t> seen;
  seen.reserve(points.size());
  for (const SharePoint& point : points) {
    if (point.point == 0 || point.point > max_share_point) {
      return bad_input("a share at point {}: points are 1 to {}", point.point, max_share_point);
    }
    if (!is_share(point.share)) return bad_input("the share at point {} is not a field element", point.point);
    seen.push_back(point.point);
  }
  std::sort(seen.begin(), seen.end());
  if (const auto twice = std::adjacent_find(seen.begin(), seen.end()); twice != seen.end()) {
    return bad_input("two shares at point {}", *twice);
  }
  return {};
}

}  // namespace

SecretPolynomial::SecretPolynomial(const Seed& secret, std::uint32_t threshold,
                                   privacy::DeviceRandom random) {
  coefficients_.resize(std::max<std::uint32_t>(threshold, 1));
  std::copy(secret.view().begin(), secret.view().end(), coefficients_[0].data());
  for (std::size_t i = 1; i < coefficients_.size(); ++i) {
    const auto wide = SecretBytes<crypto_core_ristretto255_NONREDUCEDSCALARBYTES>::random(random);
    crypto_core_ristretto255_scalar_reduce(coefficients_[i].data(), wide.data());
  }
}

Share SecretPolynomial::share_at(std::uint32_t point) const {
  const Share at = scalar(point);
  Share value = coefficients_.back().copy();
  for (std::size_t i = coefficients_.size() - 1; i-- > 0;) {
    multiply(value, at);
    add(value, coefficients_[i]);
  }
  return value;
}

Result<Share> interpolate(std::span<const SharePoint> points, std::uint32_t at) {
  SOTTO_CHECK(check_points(points));
  // Lagrange: Σ_i y_i · Π_{j≠i} (at - x_j) / (x_i - x_j).
  std::vector<Share> numerators, denominators;
  numerators.reserve(points.size());
  denominators.reserve(points.size());
  for (const SharePoint& i : points) {
    PointProduct numerator, denominator;
    for (const SharePoint& j : points) {
      if (j.point == i.point) continue;
      numerator.multiply_by(std::int64_t{at} - j.point);
      denominator.multiply_by(std::int64_t{i.point} - j.point);
    }
    numerators.push_back(numerator.value());
    denominators.push_back(denominator.value());
  }
  invert_all(denominators);
  Share result;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Share term(points[i].share);
    multiply(term, numerators[i]);
    multiply(term, denominators[i]);
    add(result, term);
  }
  return result;
}

Result<Seed> combine(std::span<const SharePoint> points) {
  SOTTO_TRY(const Share value, interpolate(points, 0));
  if (value.view()[share_bytes - 1] != 0) return bad_input("the shares do not belong to one seed");
  return Seed(value.view().first<31>());
}

}  // namespace sotto::secagg
