#pragma once
// Sums of simulated devices by their law: what the server sees of a group has the same distribution as with
// SimulatedGather, and no device's own numbers are ever made. Many updates are clipped, rotated, rounded and
// added as tensors where they were computed, on the CPU or on a card; the noise of all who arrived is drawn
// once per entry from the law of their sum (privacy/mechanisms/summed_noise.h).
//
// Held equal to SimulatedGather: on the CPU the whole numbers before noise are the same function of update
// and draws, so that without noise a reproducible sum is the same to the last bit. On a card norms are added
// in another order and rounding is drawn by the card's own generator: the same law, other draws.
//
// Rounding is drawn from a counter-based generator, keyed by the secure one for every group unless the noise
// is reproducible. No ε rests on it: the norm is bounded after rounding, whatever was drawn. Noise comes from
// the secure generator itself.
//
// Memory beside the updates: on a card at most chunk_bytes for as many updates at a time as fit (one at
// least); on the CPU three vectors per thread.

#include <optional>

#include "fl/gather.h"
#include "privacy/mechanisms/summed_noise.h"

namespace sotto::fl {

class LawGather final : public SimulatedRounds {
 public:
  using SimulatedRounds::SimulatedRounds;
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 30;

 protected:
  Status add_group(const RoundOrder& order, std::span<const data::UserId> group,
                   std::span<const data::UserId> present, Gathered& gathered) override;

 private:
  // The law of so many shares; its tables are kept until another is asked for.
  Result<const privacy::SummedNoise*> noise_of(const privacy::NoiseShare& share, std::uint64_t arrived);

  struct KnownNoise {
    privacy::ShareKind kind;
    double share_variance;
    std::uint64_t arrived;
    privacy::SummedNoise noise;
  };
  std::optional<KnownNoise> known_;
};

}  // namespace sotto::fl
