#pragma once
// Products in Z[X]/(X^1024 + 1), exactly over the integers and then modulo 2^32: by number theoretic
// transforms over the prime 2^64 - 2^32 + 1, which is larger than any sum of products here.
//
// Constant time: no branch and no index depends on a value. Without threads and intrinsics. Immutable tables,
// made once; everything is safe from several threads.

#include <array>
#include <cstdint>
#include <span>

#include "blind/parameters.h"

namespace sotto::blind {

using RingWords = std::array<std::uint32_t, ring_degree>;      // coefficients modulo 2^32
using RingTransform = std::array<std::uint64_t, ring_degree>;  // of a polynomial with whole coefficients

// value: up to 1024 coefficients, the rest is zero.
void transform(std::span<const std::uint32_t> value, RingTransform& out);
void transform(std::span<const std::int32_t> value, RingTransform& out);

// sum += left · right, as transforms.
void add_product(RingTransform& sum, const RingTransform& left, const RingTransform& right);

// The coefficients modulo 2^32. They must be below 2^62 in size. Destroys the transform.
void transform_back(RingTransform& value, RingWords& out);

// The polynomial a* with Σ_j (a·x)_j y_j = Σ_j (a*·y)_j x_j for all x and y.
RingWords adjoint(const RingWords& value);

}  // namespace sotto::blind
