#pragma once
// Draws from a LatticeLaw with one 64-bit random word per sample, almost always.
//
// Write x = k·2^b + u with 0 <= u < 2^b. A bin k is chosen with probability proportional to an integer W_k
// just above A·max of the weight in the bin (alias table with integer thresholds), u is b uniform bits, and x
// is accepted with probability A·weight(x)/W_k, else everything starts again. Bins are so narrow that more
// than 98 % of the draws are accepted by comparing 16 random bits with a precomputed lower bound; the rest is
// decided by the weight itself, in double where that is clear, in DoubleDouble where it is not (about one
// draw in 2^40).
//
// How far the output is from the law: within e^±log_ratio of it at every integer, up to total_variation (both
// charged by the accountant per sample, the first to ε, the second to δ):
//  1. Slot, threshold and u are compared as integers with uniform bits, so a proposal (k, u) has probability
//  exactly
//     W_k/2^(59+b); thresholds that tie on their first 16 bits are decided by 32 more.
//  2. Quick decisions use one-sided bounds (2^-30 on the table, 2^-36 in double against a weight correct to
//  2^-40), so
//     they agree with the comparison U < A·ŵ(x)/W_k that is made in DoubleDouble with a U of 144 bits. ŵ is
//     correct to a relative 2^-86, that comparison to 2^-100.
//  3. The accepted law is therefore proportional to weight(x)·(1 + e), |e| < 2^-85: after division by the sum
//     within e^±2^-83.9 of the law where that is covered. The length of U moves the chance of every
//     acceptance by at most 2^-144, of which at least 0.9 succeed: total variation below 2^-142.
//  4. The law beyond reach() carries less than 2^-128. A memoryless one is drawn there by starting again
//  behind
//     the end: one more such factor every time, of which more than eight have a chance below 2^-130.
// Together e^±2^-80 up to 2^-124. An error that is a factor everywhere is a factor of the chance of any set
// of outcomes of any number of draws, so it is no matter of δ. Random words are uniform by assumption
// (ChaCha20 as a random function).
//
// Immutable after construction, 60 KB, safe to share between threads (the RandomSource is not). Random words
// are wiped before fill returns. Running time depends on the drawn values: like every rejection sampler it is
// not constant time.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "privacy/noise/lattice_law.h"

namespace sotto::privacy {

enum class SamplerKernel { scalar, avx2, avx512 };
bool supported(SamplerKernel kernel);
SamplerKernel fastest_kernel();

class BinnedSampler {
 public:
  static constexpr double total_variation = 0x1.0p-124;
  static constexpr double log_ratio = 0x1.0p-80;

  explicit BinnedSampler(std::shared_ptr<const LatticeLaw> law, SamplerKernel kernel = fastest_kernel());

  // The same words give the same samples with every kernel. Scales are limited so that a sample fits 32 bits.
  void fill(std::span<std::int32_t> out, RandomSource& random) const;
  void fill(std::span<std::int64_t> out, RandomSource& random) const;

 private:
  static constexpr unsigned slot_bits = 11;
  static constexpr std::size_t slots = std::size_t{1} << slot_bits;
  static constexpr std::size_t chunk_entries = 1024;
  struct Bin {
    std::uint64_t weight = 0;        // W
    std::uint32_t quick_accept = 0;  // of 2^16
  };

  void make_bins();
  void make_alias_table();
  std::int32_t offset_of(std::size_t bin) const;
  std::int32_t resolve(std::uint64_t word, RandomSource& random) const;
  bool accept(std::uint32_t first_bits, const Bin& bin, bool is_tail, std::int64_t x,
              RandomSource& random) const;
  void fill_chunk(std::span<std::int32_t> out, RandomSource& random) const;

  std::shared_ptr<const LatticeLaw> law_;
  SamplerKernel kernel_;
  unsigned low_bits_ = 0;         // b
  std::int32_t half_bins_ = 0;    // bins -half_bins_ ... half_bins_-1, then the tail, then "start again"
  double scale_ = 0;              // A
  DoubleDouble tail_weight_ = 0;  // mass beyond the bins, in units of one bin's weight
  std::vector<Bin> bins_;
  std::array<std::uint32_t, slots> threshold_low_{};
  // What the kernels read: threshold (16 bits), alias (11), quick_accept of the own bin (16) and of the alias
  // (16).
  std::array<std::uint64_t, slots> slots_{};
};

}  // namespace sotto::privacy
