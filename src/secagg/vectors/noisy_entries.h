#pragma once
// The last step on a device: whole numbers plus a noise share, modulo 2^b.

#include <cstdint>
#include <span>
#include <vector>

#include "privacy/mechanisms/noise_share.h"
#include "secagg/vectors/modulus.h"

namespace sotto {

// One entry per value, each with fresh noise (none for a null share). The noise is wiped.
std::vector<std::uint32_t> noisy_entries(std::span<const std::int32_t> values, const NoiseShare* share,
                                         Modulus modulus, DeviceRandom random);

}  // namespace sotto
