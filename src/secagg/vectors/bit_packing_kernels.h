#pragma once
// The loops behind bit_packing.h. Nothing is checked here.

#include <cstddef>
#include <cstdint>

namespace sotto::secagg {

// 8·groups entries to bits·groups bytes, bits in 8 … 32.
void pack_groups(const std::uint32_t* entries, std::size_t groups, unsigned bits, std::uint8_t* out);
void unpack_groups(const std::uint8_t* bytes, std::size_t groups, unsigned bits, std::uint32_t* entries);

}  // namespace sotto::secagg
