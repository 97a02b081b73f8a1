#pragma once
// What the devices of one group and their server agree on before a round: how an update becomes whole numbers
// modulo 2^b, with how much noise, and what the release of their sum costs.
//
//   clip to S (the clip bit behind it, optional) → rotate (optional) → limit entries → divide by the step →
//   round at random, norm enforced → add the noise share → modulo 2^b
//
// Grid sensitivity: whatever came before, the rounded vector has norm at most Δ̃ = rounding().norm_bound(),
// checked in whole numbers on the device. One device more or fewer moves the sum by Δ̃, one device replaced by
// 2Δ̃, or by √2·Δ̃ where no entry is negative: ‖a − b‖² = ‖a‖² + ‖b‖² − 2a·b and a·b ≥ 0. Products are rounded
// in another way and charged √2 times their length and what rounding adds (unit_products.h). The noise is
// noise_multiplier times that, so ε does not depend on the grid. "One device fewer" (add_remove) means that
// its update becomes zero while its noise share stays, as it does when the cohort is public; count a device
// that stays away altogether among the dropped.
//
// Immutable after creation, safe to share between threads, cheap to copy.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "privacy/mechanisms/adaptive_clip.h"
#include "privacy/mechanisms/noise_share.h"
#include "privacy/noise/device_random.h"
#include "secagg/vectors/modulus.h"
#include "secagg/vectors/random_rotation.h"
#include "secagg/vectors/stochastic_rounding.h"

namespace sotto::secagg {

class EncodingPlan {
 public:
  struct Settings {
    std::uint64_t dimension = 0;  // of an update
    double clip = 0;              // S
    double step = 0;              // value of one grid step
    // Largest magnitude of an entry after the rotation, 0: S. Smaller saves bits; entries beyond it are cut,
    // which costs accuracy, never privacy. With a rotation RandomRotation::entry_quantile says how rare that
    // is.
    double entry_clip = 0;
    std::optional<std::uint64_t> rotation_seed;  // public
    std::optional<double> clip_bit_weight;       // c of JointClipBit
    // Devices cut entries below 0. Neither with a rotation nor with a clip bit, which have negative entries.
    bool nonnegative = false;
    // Updates are products y yᵀ with ‖y‖² ≤ S, of any signs: dimension is a triangle's. Alone: not with a
    // rotation, a clip bit, entry_clip or nonnegative.
    bool products = false;
    double rounding_beta = StochasticRounding::default_beta;
    double denominator = 0;  // fixed and public: the expected, not the actual, number of devices

    std::uint64_t devices = 0;    // in the group
    std::uint64_t dropped = 0;    // at most
    std::uint64_t corrupted = 0;  // at most
    privacy::ShareKind noise = privacy::ShareKind::skellam;
    double noise_multiplier = 0;  // of the sum, over its grid sensitivity; 0: no noise and no guarantee
    privacy::Adjacency adjacency = privacy::Adjacency::add_remove;
    double log2_wrap_probability = -30;
  };
  static Result<EncodingPlan> create(const Settings& settings);

  const Settings& settings() const { return settings_; }
  std::uint64_t entries() const { return settings_.dimension + (clip_bit_ ? 1 : 0); }  // on the wire
  const Modulus& modulus() const { return modulus_; }
  const StochasticRounding& rounding() const { return rounding_; }
  const std::optional<privacy::JointClipBit>& clip_bit() const { return clip_bit_; }
  const std::optional<RandomRotation>& rotation() const { return rotation_; }
  const std::optional<privacy::NoiseShare>& noise_share() const { return noise_share_; }

  double sensitivity() const;    // L2, of the sum in grid steps, under the adjacency
  double sigma_of_mean() const;  // promised noise of each coordinate that is decoded
  // The release of one group's sum; none without noise.
  std::optional<privacy::PrivacyEvent> event() const;

 private:
  EncodingPlan(const Settings& settings, StochasticRounding rounding, Modulus modulus)
      : settings_(settings), rounding_(rounding), modulus_(modulus) {}
  Settings settings_;
  StochasticRounding rounding_;
  Modulus modulus_;
  std::optional<privacy::JointClipBit> clip_bit_;
  std::optional<RandomRotation> rotation_;
  std::optional<privacy::NoiseShare> noise_share_;
};

// The finest step (to 1 %) for which the plan fits into `bits` per entry; settings.step is ignored.
Result<double> finest_step(EncodingPlan::Settings settings, unsigned bits);

// The last step on a device: whole numbers plus a noise share, modulo 2^b.

// One entry per value, each with fresh noise (none for a null share). The noise is wiped.
std::vector<std::uint32_t> noisy_entries(std::span<const std::int32_t> values,
                                         const privacy::NoiseShare* share, Modulus modulus,
                                         privacy::DeviceRandom random);

// The device's side of a private sum: from an update in real numbers to entries modulo 2^b that may be masked
// and sent.
//
// Immutable, safe to share between threads; one call per update and round, with fresh randomness: encoding
// the same update twice releases it twice. Copies of the update before noise are wiped before encode()
// returns.
class UpdateEncoder {
 public:
  explicit UpdateEncoder(EncodingPlan plan) : plan_(std::move(plan)) {}

  // plan().entries() numbers below 2^b. Refuses updates of another length or with NaN and infinity.
  Result<std::vector<std::uint32_t>> encode(std::span<const double> update,
                                            privacy::DeviceRandom random) const;
  Result<std::vector<std::uint32_t>> encode(std::span<const float> update,
                                            privacy::DeviceRandom random) const;

  // The same before noise and modulus, for simulations that add the noise of all devices to their sum:
  // plan().entries() whole numbers. Nobody is protected by them.
  Status round(std::span<const float> update, RandomSource& random, std::span<std::int32_t> whole) const;

  const EncodingPlan& plan() const { return plan_; }

 private:
  template <class Number>
  Status round_to_grid(std::span<const Number> update, RandomSource& random,
                       std::span<std::int32_t> whole) const;
  template <class Number>
  Result<std::vector<std::uint32_t>> entries_of(std::span<const Number> update,
                                                privacy::DeviceRandom random) const;
  EncodingPlan plan_;
};

// The server's side of a private sum: from the sums of the groups, modulo 2^b, to the mean update.
//
// Groups are added as whole numbers, so their order does not matter. The divisor is the plan's public number
// whoever came: dividing by the number of devices that answered would release it. Decodes once. Not
// thread-safe.
struct DecodedMean {
  std::vector<double> update;
  // With a clip bit: the share of devices within the bound, noisy and drawn towards ½ when devices stay away.
  std::optional<double> fraction_within;
};

class SumDecoder {
 public:
  explicit SumDecoder(EncodingPlan plan);

  // The sum of one group, each entry below 2^b. All groups share the plan; each is a release of its own to
  // its devices.
  Status add_group(std::span<const std::uint32_t> sum);
  // Refuses when no group was added, and a second time.
  Result<DecodedMean> decode();

 private:
  EncodingPlan plan_;
  std::vector<std::int64_t> steps_;
  std::uint64_t groups_ = 0;
  bool decoded_ = false;
};

}  // namespace sotto::secagg
