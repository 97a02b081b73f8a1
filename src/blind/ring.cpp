#include "blind/ring.h"

#include <algorithm>

namespace sotto::blind {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t prime = 0xffffffff00000001;  // 2^64 - 2^32 + 1
constexpr std::uint64_t wrapped = 0xffffffff;        // 2^64 modulo the prime
constexpr std::uint64_t generator = 7;               // of its multiplicative group

// All ones or all zeros: a choice without a branch.
constexpr std::uint64_t mask_of(bool condition) { return std::uint64_t{0} - std::uint64_t{condition}; }

constexpr std::uint64_t subtract(std::uint64_t a, std::uint64_t b) {
  return a - b + (mask_of(a < b) & prime);
}
constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b) { return subtract(a, prime - b); }

// 2^64 is 2^32 - 1 and 2^96 is -1.
constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  const auto low = static_cast<std::uint64_t>(product);
  const auto high = static_cast<std::uint64_t>(product >> 64);
  const std::uint64_t without_top = low - (high >> 32);
  const std::uint64_t first = without_top - (mask_of(low < (high >> 32)) & wrapped);
  const std::uint64_t middle = (high & wrapped) * wrapped;
  const std::uint64_t sum = first + middle;
  const std::uint64_t reduced = sum + (mask_of(sum < middle) & wrapped);
  return reduced - (mask_of(reduced >= prime) & prime);
}

constexpr std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

// Powers of a 2048th root of one and of its inverse, in the order in which the transforms use them.
struct Roots {
  RingTransform forward{}, backward{};
  std::uint64_t scale = power(ring_degree, prime - 2);  // 1/n

  Roots() {
    const std::uint64_t root = power(generator, (prime - 1) / (2 * ring_degree));
    const std::uint64_t inverse = power(root, prime - 2);
    for (std::size_t i = 0; i < ring_degree; ++i) {
      std::size_t reversed = 0;
      for (std::size_t bit = 1, top = ring_degree / 2; top > 0; bit <<= 1, top >>= 1)
        reversed |= (i & bit) != 0 ? top : 0;
      forward[i] = power(root, reversed);
      backward[i] = power(inverse, reversed);
    }
  }
  static const Roots& get() {
    static const Roots roots;
    return roots;
  }
};

void transform_in_place(RingTransform& values) {
  const Roots& roots = Roots::get();
  std::size_t half = ring_degree;
  for (std::size_t groups = 1; groups < ring_degree; groups *= 2) {
    half /= 2;
    for (std::size_t group = 0; group < groups; ++group) {
      const std::uint64_t root = roots.forward[groups + group];
      std::uint64_t* first = values.data() + 2 * group * half;
      for (std::size_t j = 0; j < half; ++j) {
        const std::uint64_t upper = first[j];
        const std::uint64_t lower = multiply(first[j + half], root);
        first[j] = add(upper, lower);
        first[j + half] = subtract(upper, lower);
      }
    }
  }
}

}  // namespace

void transform(std::span<const std::uint32_t> value, RingTransform& out) {
  std::fill(std::copy(value.begin(), value.end(), out.begin()), out.end(), 0);
  transform_in_place(out);
}

void transform(std::span<const std::int32_t> value, RingTransform& out) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto wide = static_cast<std::uint64_t>(static_cast<std::int64_t>(value[i]));
    out[i] = wide + (mask_of((wide >> 63) != 0) & prime);
  }
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(value.size()), out.end(), 0);
  transform_in_place(out);
}

void add_product(RingTransform& sum, const RingTransform& left, const RingTransform& right) {
  for (std::size_t i = 0; i < ring_degree; ++i) sum[i] = add(sum[i], multiply(left[i], right[i]));
}

void transform_back(RingTransform& value, RingWords& out) {
  const Roots& roots = Roots::get();
  std::size_t half = 1;
  for (std::size_t groups = ring_degree / 2; groups > 0; groups /= 2) {
    for (std::size_t group = 0; group < groups; ++group) {
      const std::uint64_t root = roots.backward[groups + group];
      std::uint64_t* first = value.data() + 2 * group * half;
      for (std::size_t j = 0; j < half; ++j) {
        const std::uint64_t upper = first[j];
        const std::uint64_t lower = first[j + half];
        first[j] = add(upper, lower);
        first[j + half] = multiply(subtract(upper, lower), root);
      }
    }
    half *= 2;
  }
  for (std::size_t i = 0; i < ring_degree; ++i) {
    const std::uint64_t residue = multiply(value[i], roots.scale);
    // Above half the prime stands for a negative number: less the prime, which is 1 modulo 2^32.
    out[i] = static_cast<std::uint32_t>(residue + mask_of(residue > prime / 2));
  }
}

RingWords adjoint(const RingWords& value) {
  RingWords result;
  result[0] = value[0];
  for (std::size_t i = 1; i < ring_degree; ++i) result[i] = 0U - value[ring_degree - i];
  return result;
}

}  // namespace sotto::blind
