#pragma once
// What blind serving encrypts with, and the proof that decryption is right.
//
// Items stand in C clusters of M slots. The database is a matrix of M rows and d·C columns: row r holds the
// r-th item of every cluster, d small whole numbers each. A device encrypts a vector of d·C entries, its user
// vector in the block of one cluster and zero elsewhere; the server multiplies; the device decrypts M
// products.
//
// Encryption is by ring learning with errors: Z[X]/(X^1024 + 1) modulo q = 2^32, errors and secrets from the
// discrete Gaussian of σ = 25.6. What counts for security is n and q/σ: the table of the homomorphic
// encryption standard (Albrecht et al. 2018) has log q = 29 at σ = 3.2 for n = 1024 and 128 bits, which is
// the same 2^27.3. SimplePIR's σ = 6.4 at this q is below that line.
//
// Decryption. A row has norm at most √C·R_i, because every item has norm at most R_i (checked for every item
// when a database is built, whatever the data). The errors of a ciphertext are independent and subgaussian
// with parameter σ, so a product is off by more than z·σ·√C·R_i with probability at most 2·e^(-z²/2). With
// half a step of at least that much, and 2·M·probes·e^(-z²/2) ≤ 2^-40, all products of a refresh are
// decrypted exactly but with probability 2^-40. A product is at most R_i·R_u, so that it never wraps when
// (R_i·R_u + 1)·step ≤ q/2.
//
// Plain values and pure functions.

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace sotto::blind {

inline constexpr std::size_t ring_degree = 1024;  // n
inline constexpr unsigned modulus_bits = 32;      // q = 2^32
inline constexpr double error_sigma = 25.6;
inline constexpr double failure_bits = 40;    // of a whole refresh
inline constexpr std::int32_t item_most = 7;  // entries of items lie between -7 and 7: four bits

struct Shape {
  std::uint32_t dimension = 0;  // d
  std::uint32_t clusters = 0;   // C
  std::uint32_t rows = 0;       // M: slots of a cluster
  std::uint32_t probes = 0;     // ciphertexts of a refresh
  std::size_t columns() const { return std::size_t{dimension} * clusters; }
  std::size_t slots() const { return std::size_t{clusters} * rows; }
  bool operator==(const Shape&) const = default;
};

struct ShapeLimits {
  static constexpr std::uint32_t dimension = 4096;
  static constexpr std::uint32_t clusters = 1 << 16;
  static constexpr std::uint32_t rows = 1 << 17;
  static constexpr std::uint32_t probes = 16;
  static constexpr std::size_t columns = std::size_t{1} << 22;
  static constexpr std::size_t slots = std::size_t{1} << 28;
};
Status check(const Shape& shape);

struct Parameters {
  Shape shape;
  std::uint32_t item_norm = 0;  // R_i
  std::uint32_t user_norm = 0;  // R_u
  unsigned step_bits = 0;       // a product of 1 is 2^step_bits in a ciphertext
  bool operator==(const Parameters&) const = default;
};

// The bounds above; refuses numbers for which they do not hold.
Status check(const Parameters& parameters);

// Norms that lose least to rounding under the bounds. Refused when they lose more than coarsest_rounding.
Result<Parameters> choose_parameters(const Shape& shape);

// Rounding a user vector adds at most √d/2 to its norm, so this is what its norm may be before.
double norm_before_rounding(const Parameters& parameters);
// Standard deviation of what rounding adds to a cosine: 1/√12 per entry of either vector.
double rounding_error(const Parameters& parameters);
inline constexpr double coarsest_rounding = 0.06;

// 2·M·probes·e^(-z²/2) for the z at which half a step is z·σ·row_norm: at most how likely any product of a
// refresh is wrong.
double failure_bound(const Shape& shape, unsigned step_bits, double row_norm);

}  // namespace sotto::blind
