#pragma once
// One device's share of the noise in a secure sum. No single party, the server included, knows the noise of
// the total.
//
// The sum must carry its promised variance when up to `dropped` devices vanish after choosing their noise,
// and when up to `corrupted` ones tell the server their share: only devices − dropped − corrupted shares
// count, and each has 1/that of the variance. Skellam shares add up to a Skellam law. Discrete Gaussian
// shares do not add up to a discrete Gaussian: the event names the number of summands, and the accountant
// charges the gap (Kairouz, Liu, Steinke 2021).
//
// All quantities in grid steps. For an integer difference x, ‖x‖₁ <= min(√d·‖x‖₂, ‖x‖₂²).
// Immutable after creation, safe to share between threads.

#include <cstdint>
#include <span>
#include <variant>

#include "privacy/accounting/event.h"
#include "privacy/noise/device_random.h"
#include "privacy/noise/grid_noise.h"

namespace sotto::privacy {

enum class ShareKind { skellam, discrete_gaussian };

class NoiseShare {
 public:
  struct Settings {
    ShareKind kind = ShareKind::skellam;
    double central_sigma = 0;     // of the noise that surely is in the sum
    double l2_sensitivity = 0;    // of the sum, under `adjacency`
    std::uint64_t dimension = 1;  // coordinates of the sum
    std::uint64_t devices = 0;    // that add a share
    std::uint64_t dropped = 0;    // at most
    std::uint64_t corrupted = 0;  // at most
    Adjacency adjacency = Adjacency::add_remove;
  };
  static Result<NoiseShare> create(const Settings& settings);

  // Adds this device's share to its encoded update.
  void add_to(std::span<std::int64_t> update, DeviceRandom random) const;
  void fill(std::span<std::int32_t> share, DeviceRandom random) const;

  ShareKind kind() const { return settings_.kind; }
  const GridNoise& noise() const;  // the law of one share
  double share_variance() const;
  std::uint64_t surely_present() const { return settings_.devices - settings_.dropped - settings_.corrupted; }
  PrivacyEvent event() const;

 private:
  using Noise = std::variant<Skellam, DiscreteGaussian>;
  NoiseShare(const Settings& settings, Noise noise) : settings_(settings), noise_(std::move(noise)) {}
  Settings settings_;
  Noise noise_;
};

}  // namespace sotto::privacy
