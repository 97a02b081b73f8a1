#include "serving/blind/product_kernels.h"

#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define SOTTO_X86_KERNELS
#endif

namespace sotto::serving {

namespace {

void multiply_plain(const std::uint8_t* packed, std::size_t rows, std::size_t chunks,
                    const std::uint8_t* limbs, std::uint32_t* out) {
  for (std::size_t row = 0; row < rows; ++row) {
    std::uint32_t sum = 0;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk, packed += chunk_bytes) {
      const std::uint8_t* bytes = limbs + chunk * chunk_limb_bytes;
      for (unsigned limb = 0; limb < 4; ++limb) {
        const std::uint8_t* low = bytes + limb * chunk_columns;
        const std::uint8_t* high = low + chunk_bytes;
        std::uint32_t of_limb = 0;
        for (std::size_t i = 0; i < chunk_bytes; ++i) {
          const std::uint32_t pair = packed[i];
          of_limb += (pair & 15U) * low[i] + (pair >> 4U) * high[i];
        }
        sum += of_limb << (8 * limb);
      }
    }
    out[row] += sum;
  }
}

#ifdef SOTTO_X86_KERNELS

#define SOTTO_AVX512 __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define SOTTO_AVX2 __attribute__((target("avx2")))

SOTTO_AVX512 void multiply_avx512(const std::uint8_t* packed, std::size_t rows, std::size_t chunks,
                                  const std::uint8_t* limbs, std::uint32_t* out) {
  const __m512i low_half = _mm512_set1_epi8(15);
  const std::size_t row_bytes = chunks * chunk_bytes;
  for (std::size_t row = 0; row < rows; row += rows_at_once, packed += rows_at_once * row_bytes) {
    __m512i sums[rows_at_once][4];
    for (auto& of_row : sums)
      for (__m512i& sum : of_row) sum = _mm512_setzero_si512();
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const std::uint8_t* bytes = limbs + chunk * chunk_limb_bytes;
      __m512i words[8];
      for (std::size_t i = 0; i < 8; ++i) words[i] = _mm512_loadu_si512(bytes + i * chunk_bytes);
      for (std::size_t r = 0; r < rows_at_once; ++r) {
        const __m512i pairs = _mm512_loadu_si512(packed + r * row_bytes + chunk * chunk_bytes);
        const __m512i low = _mm512_and_si512(pairs, low_half);
        const __m512i high = _mm512_and_si512(_mm512_srli_epi16(pairs, 4), low_half);
        for (std::size_t limb = 0; limb < 4; ++limb) {
          sums[r][limb] = _mm512_dpbusd_epi32(sums[r][limb], words[2 * limb], low);
          sums[r][limb] = _mm512_dpbusd_epi32(sums[r][limb], words[2 * limb + 1], high);
        }
      }
    }
    for (std::size_t r = 0; r < rows_at_once; ++r) {
      using Lanes = std::uint32_t __attribute__((vector_size(64)));
      Lanes sum{};
      for (int limb = 0; limb < 4; ++limb) {
        Lanes of_limb;
        std::memcpy(&of_limb, &sums[r][limb], sizeof of_limb);
        sum += of_limb << (8 * limb);
      }
      for (int lane = 0; lane < 16; ++lane) out[row + r] += sum[lane];
    }
  }
}

// Pairs of products fit 16 bits four times over before they are widened: 4·2·15·255 < 2^15.
SOTTO_AVX2 void multiply_avx2(const std::uint8_t* packed, std::size_t rows, std::size_t chunks,
                              const std::uint8_t* limbs, std::uint32_t* out) {
  const __m256i low_half = _mm256_set1_epi8(15);
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::size_t row = 0; row < rows; ++row) {
    __m256i sums[4];
    for (__m256i& sum : sums) sum = _mm256_setzero_si256();
    for (std::size_t chunk = 0; chunk < chunks; ++chunk, packed += chunk_bytes) {
      const std::uint8_t* bytes = limbs + chunk * chunk_limb_bytes;
      __m256i halves[4];  // columns 0 to 31, 32 to 63, 64 to 95, 96 to 127
      for (std::size_t i = 0; i < 2; ++i) {
        const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed + 32 * i));
        halves[i] = _mm256_and_si256(pairs, low_half);
        halves[2 + i] = _mm256_and_si256(_mm256_srli_epi16(pairs, 4), low_half);
      }
      for (std::size_t limb = 0; limb < 4; ++limb) {
        __m256i narrow = _mm256_setzero_si256();
        for (std::size_t i = 0; i < 4; ++i) {
          const auto* words = reinterpret_cast<const __m256i*>(bytes + limb * chunk_columns + 32 * i);
          narrow = _mm256_add_epi16(narrow, _mm256_maddubs_epi16(_mm256_loadu_si256(words), halves[i]));
        }
        sums[limb] = _mm256_add_epi32(sums[limb], _mm256_madd_epi16(narrow, ones));
      }
    }
    __m256i sum = sums[0];
    for (int limb = 1; limb < 4; ++limb) sum = _mm256_add_epi32(sum, _mm256_slli_epi32(sums[limb], 8 * limb));
    alignas(32) std::uint32_t lanes[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sum);
    for (const std::uint32_t lane : lanes) out[row] += lane;
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

void multiply_tile(ProductKernel kernel, const std::uint8_t* packed, std::size_t rows, std::size_t chunks,
                   const std::uint8_t* limbs, std::uint32_t* out) {
#ifdef SOTTO_X86_KERNELS
  if (kernel == ProductKernel::avx512) return multiply_avx512(packed, rows, chunks, limbs, out);
  if (kernel == ProductKernel::avx2) return multiply_avx2(packed, rows, chunks, limbs, out);
#endif
  multiply_plain(packed, rows, chunks, limbs, out);
}

}  // namespace sotto::serving
