#include "serving/blind/product_kernels.h"

#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define SOTTO_X86_KERNELS
#endif

namespace sotto::serving {

namespace {

void multiply_plain(const std::uint8_t* packed, std::size_t groups, const std::int8_t* digits,
                    std::uint32_t* out) {
  for (std::size_t group = 0; group < groups; ++group, packed += group_bytes, digits += group_digits) {
    for (std::size_t row = 0; row < group_rows; ++row) {
      for (std::size_t i = 0; i < 4; ++i) {
        const std::uint32_t pair = packed[4 * row + i];
        for (std::size_t digit = 0; digit < 4; ++digit) {
          // Digits are numbers, not letters. NOLINTBEGIN(bugprone-signed-char-misuse)
          const auto low = static_cast<std::uint32_t>(digits[4 * digit + i]);
          const auto high = static_cast<std::uint32_t>(digits[16 + 4 * digit + i]);
          // NOLINTEND(bugprone-signed-char-misuse)
          out[row] += ((pair & 15U) * low + (pair >> 4U) * high) << (8 * digit);
        }
      }
    }
  }
}

#ifdef SOTTO_X86_KERNELS

std::int32_t four_digits(const std::int8_t* digits) {
  std::int32_t four = 0;
  std::memcpy(&four, digits, sizeof four);
  return four;
}

__attribute__((target("avx512f,avx512bw,avx512vnni"))) void multiply_avx512(const std::uint8_t* packed,
                                                                            std::size_t groups,
                                                                            const std::int8_t* digits,
                                                                            std::uint32_t* out) {
  using Lanes = std::uint32_t __attribute__((vector_size(64), aligned(4), may_alias));
  constexpr std::size_t parts = 4;  // of 16 rows
  const __m512i low_half = _mm512_set1_epi8(15);
  __m512i sums[parts][4];
  for (auto& of_part : sums)
    for (__m512i& sum : of_part) sum = _mm512_setzero_si512();
  for (std::size_t group = 0; group < groups; ++group, packed += group_bytes, digits += group_digits) {
    __m512i spread[8];
    for (std::size_t i = 0; i < 8; ++i) spread[i] = _mm512_set1_epi32(four_digits(digits + 4 * i));
    for (std::size_t part = 0; part < parts; ++part) {
      const __m512i pairs = _mm512_loadu_si512(packed + 64 * part);
      const __m512i low = _mm512_and_si512(pairs, low_half);
      const __m512i high = _mm512_and_si512(_mm512_srli_epi16(pairs, 4), low_half);
      for (std::size_t digit = 0; digit < 4; ++digit) {
        sums[part][digit] = _mm512_dpbusd_epi32(sums[part][digit], low, spread[digit]);
        sums[part][digit] = _mm512_dpbusd_epi32(sums[part][digit], high, spread[4 + digit]);
      }
    }
  }
  for (std::size_t part = 0; part < parts; ++part) {
    Lanes of_digit[4];
    std::memcpy(of_digit, sums[part], sizeof of_digit);
    auto* rows = reinterpret_cast<Lanes*>(out + 16 * part);
    *rows += of_digit[0] + (of_digit[1] << 8) + (of_digit[2] << 16) + (of_digit[3] << 24);
  }
}

// Sums of four products of a byte and four bits fit 16 bits: 4·15·128 < 2^15.
__attribute__((target("avx2"))) void multiply_avx2(const std::uint8_t* packed, std::size_t groups,
                                                   const std::int8_t* digits, std::uint32_t* out) {
  using Lanes = std::uint32_t __attribute__((vector_size(32), aligned(4), may_alias));
  constexpr std::size_t parts = 2;  // of 8 rows: as many as registers hold the sums of
  const __m256i low_half = _mm256_set1_epi8(15);
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::size_t first = 0; first < group_rows; first += 8 * parts) {
    __m256i sums[parts][4];
    for (auto& of_part : sums)
      for (__m256i& sum : of_part) sum = _mm256_setzero_si256();
    for (std::size_t group = 0; group < groups; ++group) {
      const std::int8_t* of_group = digits + group * group_digits;
      for (std::size_t part = 0; part < parts; ++part) {
        const auto* bytes = packed + group * group_bytes + 4 * (first + 8 * part);
        const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
        const __m256i low = _mm256_and_si256(pairs, low_half);
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16(pairs, 4), low_half);
        for (std::size_t digit = 0; digit < 4; ++digit) {
          const __m256i narrow = _mm256_add_epi16(
              _mm256_maddubs_epi16(low, _mm256_set1_epi32(four_digits(of_group + 4 * digit))),
              _mm256_maddubs_epi16(high, _mm256_set1_epi32(four_digits(of_group + 16 + 4 * digit))));
          sums[part][digit] = _mm256_add_epi32(sums[part][digit], _mm256_madd_epi16(narrow, ones));
        }
      }
    }
    for (std::size_t part = 0; part < parts; ++part) {
      Lanes of_digit[4];
      std::memcpy(of_digit, sums[part], sizeof of_digit);
      auto* rows = reinterpret_cast<Lanes*>(out + first + 8 * part);
      *rows += of_digit[0] + (of_digit[1] << 8) + (of_digit[2] << 16) + (of_digit[3] << 24);
    }
  }
}

#endif

}  // namespace

bool supported(ProductKernel kernel) {
#ifdef SOTTO_X86_KERNELS
  if (kernel == ProductKernel::avx512)
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512vnni") != 0;
  if (kernel == ProductKernel::avx2) return __builtin_cpu_supports("avx2") != 0;
#endif
  return kernel == ProductKernel::plain;
}

ProductKernel fastest_product_kernel() {
  if (supported(ProductKernel::avx512)) return ProductKernel::avx512;
  return supported(ProductKernel::avx2) ? ProductKernel::avx2 : ProductKernel::plain;
}

void multiply_groups(ProductKernel kernel, const std::uint8_t* packed, std::size_t groups,
                     const std::int8_t* digits, std::uint32_t* out) {
#ifdef SOTTO_X86_KERNELS
  if (kernel == ProductKernel::avx512) return multiply_avx512(packed, groups, digits, out);
  if (kernel == ProductKernel::avx2) return multiply_avx2(packed, groups, digits, out);
#endif
  multiply_plain(packed, groups, digits, out);
}

}  // namespace sotto::serving
