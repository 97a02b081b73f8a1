#pragma once
// Shamir's secret sharing over the scalar field of ristretto255 (libsodium's constant-time arithmetic; order
// about 2^252). Points are 1 … 65535: one more than a client's index in its group, never zero.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "secagg/shared/bytes.h"

namespace sotto::secagg {

inline constexpr std::size_t share_bytes = 32;
inline constexpr std::uint32_t max_share_point = 65535;
using Share = SecretBytes<share_bytes>;

// A polynomial of degree threshold - 1 whose other coefficients are uniform: fewer than `threshold` of its
// values say nothing about the secret. Holds the secret; wiped with the object.
class SecretPolynomial {
 public:
  // threshold >= 1.
  SecretPolynomial(const Seed& secret, std::uint32_t threshold, privacy::DeviceRandom random);
  // 0 < point <= max_share_point.
  Share share_at(std::uint32_t point) const;

 private:
  std::vector<Share> coefficients_;  // the secret first
};

struct SharePoint {
  std::uint32_t point = 0;
  std::array<std::uint8_t, share_bytes> share{};  // revealed to the holder of this object, hence plain
};

// The value at `at` of the polynomial through all points. Fails when a point is zero, too large or there
// twice, or a share is not a field element.
Result<Share> interpolate(std::span<const SharePoint> points, std::uint32_t at);

// The secret, from exactly as many shares as the threshold. Fails as interpolate() does and when the value is
// no seed; wrong shares can still give a wrong seed, so check what comes out.
Result<Seed> combine(std::span<const SharePoint> points);

}  // namespace sotto::secagg
