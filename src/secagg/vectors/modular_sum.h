#pragma once
// Sums of wrapped entries. An entry type of w bits adds modulo 2^w by itself, and 2^b divides 2^w: entries
// are added as they are and reduced once at the end.
//
// Pure functions, safe from several threads on different sums. Integers: no order and no number of threads
// changes a result.

#include <cstdint>
#include <span>
#include <vector>

#include "secagg/vectors/modulus.h"

namespace sotto::secagg {

// sum += entries. Spans of equal length that are the same or do not overlap.
Status add_entries(std::span<std::uint8_t> sum, std::span<const std::uint8_t> entries);
Status add_entries(std::span<std::uint16_t> sum, std::span<const std::uint16_t> entries);
Status add_entries(std::span<std::uint32_t> sum, std::span<const std::uint32_t> entries);
Status add_entries(std::span<std::uint64_t> sum, std::span<const std::uint64_t> entries);

// Drops the bits above the modulus.
void reduce_entries(std::span<std::uint8_t> entries, Modulus modulus);
void reduce_entries(std::span<std::uint16_t> entries, Modulus modulus);
void reduce_entries(std::span<std::uint32_t> entries, Modulus modulus);
void reduce_entries(std::span<std::uint64_t> entries, Modulus modulus);

// The reduced sum of many devices' entries, on all threads: what the protocol computes, for simulation.
Result<std::vector<std::uint32_t>> modular_sum(std::span<const std::vector<std::uint32_t>> devices,
                                               Modulus modulus);
Result<std::vector<std::uint64_t>> modular_sum(std::span<const std::vector<std::uint64_t>> devices,
                                               Modulus modulus);

}  // namespace sotto::secagg
