#pragma once
// Devices that are lost in a round after it has begun, in simulations and in fleets. A pure function of what
// is named: a simulation and a fleet of the same seed lose the same devices.

#include <cstdint>

#include "base/random.h"

namespace sotto::local {

// The phases of a round that a device may be lost in, in their order; its update is in the sum when it was
// there to upload.
enum class RoundPhase : std::uint8_t { advertise, share, upload, confirm, reveal };

// round: from 0.
inline bool is_lost(double share, std::uint64_t seed, std::uint32_t round, std::uint32_t user) {
  // Cohorts are drawn at user 0.
  SeededRandom draws(seed, Purpose::cohort_sampling, round, user + 1);
  return static_cast<double>(draws() >> 11) * 0x1p-53 < share;
}

}  // namespace sotto::local
