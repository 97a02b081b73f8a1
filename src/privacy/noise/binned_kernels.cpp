#include "privacy/noise/binned_kernels.h"

#include "privacy/noise/binned_sampler.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define SOTTO_X86_KERNELS
#include <immintrin.h>
#ifndef __clang__
// GCC's own intrinsics start from deliberately undefined registers and warn about it (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#endif

namespace sotto::privacy {

bool supported(SamplerKernel kernel) {
#ifdef SOTTO_X86_KERNELS
  if (kernel == SamplerKernel::avx512) return __builtin_cpu_supports("avx512f") != 0;
  if (kernel == SamplerKernel::avx2) return __builtin_cpu_supports("avx2") != 0;
#endif
  return kernel == SamplerKernel::scalar;
}

SamplerKernel fastest_kernel() {
  if (supported(SamplerKernel::avx512)) return SamplerKernel::avx512;
  return supported(SamplerKernel::avx2) ? SamplerKernel::avx2 : SamplerKernel::scalar;
}

namespace binned {

std::size_t scalar(const Table& table, const std::uint64_t* words, std::size_t count, std::int32_t* out,
                   std::uint16_t* undecided) {
  std::size_t open = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = words[i];
    const std::uint64_t slot = word & slot_bits_mask;
    const std::uint64_t entry = table.slots[slot];
    const std::uint64_t bits = (word >> threshold_at) & 0xffff;
    const std::uint64_t threshold = entry & 0xffff;
    const bool own = bits < threshold;
    const std::uint64_t bin = own ? slot : (entry >> entry_alias) & slot_bits_mask;
    const std::uint64_t limit = (entry >> (own ? entry_own_accept : entry_alias_accept)) & 0xffff;
    const auto low = static_cast<std::int32_t>((word >> 1) >> (63 - table.low_bits));
    out[i] = (static_cast<std::int32_t>(bin) - table.half_bins) * (std::int32_t{1} << table.low_bits) + low;
    undecided[open] = static_cast<std::uint16_t>(i);
    open += static_cast<std::size_t>((bits == threshold) | (((word >> accept_at) & 0xffff) >= limit));
  }
  return open;
}

#ifdef SOTTO_X86_KERNELS

__attribute__((target("avx2"))) std::size_t avx2(const Table& table, const std::uint64_t* words,
                                                 std::size_t count, std::int32_t* out,
                                                 std::uint16_t* undecided) {
  const auto* slots = reinterpret_cast<const long long*>(table.slots);
  const __m256i slot_mask = _mm256_set1_epi64x(slot_bits_mask);
  const __m256i mask16 = _mm256_set1_epi64x(0xffff);
  const __m256i half = _mm256_set1_epi64x(table.half_bins);
  const __m128i shift_low = _mm_cvtsi32_si128(static_cast<int>(64 - table.low_bits));
  const __m128i shift_bin = _mm_cvtsi32_si128(static_cast<int>(table.low_bits));
  const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  std::size_t open = 0;
  for (std::size_t i = 0; i < count; i += 4) {
    const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + i));
    const __m256i slot = _mm256_and_si256(word, slot_mask);
    const __m256i entry = _mm256_i64gather_epi64(slots, slot, 8);
    const __m256i bits = _mm256_and_si256(_mm256_srli_epi64(word, threshold_at), mask16);
    const __m256i threshold = _mm256_and_si256(entry, mask16);
    const __m256i own = _mm256_cmpgt_epi64(threshold, bits);
    const __m256i alias = _mm256_and_si256(_mm256_srli_epi64(entry, entry_alias), slot_mask);
    const __m256i bin = _mm256_blendv_epi8(alias, slot, own);
    const __m256i limit =
        _mm256_and_si256(_mm256_blendv_epi8(_mm256_srli_epi64(entry, entry_alias_accept),
                                            _mm256_srli_epi64(entry, entry_own_accept), own),
                         mask16);
    const __m256i chance = _mm256_and_si256(_mm256_srli_epi64(word, accept_at), mask16);
    const __m256i value = _mm256_add_epi64(_mm256_sll_epi64(_mm256_sub_epi64(bin, half), shift_bin),
                                           _mm256_srl_epi64(word, shift_low));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(value, even)));
    const __m256i decided =
        _mm256_andnot_si256(_mm256_cmpeq_epi64(bits, threshold), _mm256_cmpgt_epi64(limit, chance));
    auto rest = static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(decided))) ^ 0xfU;
    for (; rest != 0; rest &= rest - 1) {
      undecided[open++] = static_cast<std::uint16_t>(i + static_cast<unsigned>(__builtin_ctz(rest)));
    }
  }
  return open;
}

__attribute__((target("avx512f"))) std::size_t avx512(const Table& table, const std::uint64_t* words,
                                                      std::size_t count, std::int32_t* out,
                                                      std::uint16_t* undecided) {
  const __m512i slot_mask = _mm512_set1_epi64(slot_bits_mask);
  const __m512i mask16 = _mm512_set1_epi64(0xffff);
  const __m512i half = _mm512_set1_epi64(table.half_bins);
  const __m128i shift_low = _mm_cvtsi32_si128(static_cast<int>(64 - table.low_bits));
  const __m128i shift_bin = _mm_cvtsi32_si128(static_cast<int>(table.low_bits));
  std::size_t open = 0;
  for (std::size_t i = 0; i < count; i += 8) {
    const __m512i word = _mm512_loadu_si512(words + i);
    const __m512i slot = _mm512_and_si512(word, slot_mask);
    const __m512i entry = _mm512_i64gather_epi64(slot, table.slots, 8);
    const __m512i bits = _mm512_and_si512(_mm512_srli_epi64(word, threshold_at), mask16);
    const __m512i threshold = _mm512_and_si512(entry, mask16);
    const __mmask8 own = _mm512_cmplt_epu64_mask(bits, threshold);
    const __m512i alias = _mm512_and_si512(_mm512_srli_epi64(entry, entry_alias), slot_mask);
    const __m512i bin = _mm512_mask_blend_epi64(own, alias, slot);
    const __m512i limit =
        _mm512_and_si512(_mm512_mask_blend_epi64(own, _mm512_srli_epi64(entry, entry_alias_accept),
                                                 _mm512_srli_epi64(entry, entry_own_accept)),
                         mask16);
    const __m512i chance = _mm512_and_si512(_mm512_srli_epi64(word, accept_at), mask16);
    const __m512i value = _mm512_add_epi64(_mm512_sll_epi64(_mm512_sub_epi64(bin, half), shift_bin),
                                           _mm512_srl_epi64(word, shift_low));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm512_cvtepi64_epi32(value));
    unsigned rest = static_cast<unsigned>(_mm512_cmpeq_epu64_mask(bits, threshold)) |
                    static_cast<unsigned>(_mm512_cmpge_epu64_mask(chance, limit));
    for (; rest != 0; rest &= rest - 1) {
      undecided[open++] = static_cast<std::uint16_t>(i + static_cast<unsigned>(__builtin_ctz(rest)));
    }
  }
  return open;
}

#else

std::size_t avx2(const Table& table, const std::uint64_t* words, std::size_t count, std::int32_t* out,
                 std::uint16_t* undecided) {
  return scalar(table, words, count, out, undecided);
}
std::size_t avx512(const Table& table, const std::uint64_t* words, std::size_t count, std::int32_t* out,
                   std::uint16_t* undecided) {
  return scalar(table, words, count, out, undecided);
}

#endif

}  // namespace binned
}  // namespace sotto::privacy
