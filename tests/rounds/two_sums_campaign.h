#pragma once
// A campaign of two sums: counts of 40 items and pairs of 8 of them, two rounds, a device in each once.

#include "rounds/small_campaign.h"
#include "secagg/vectors/two_sums.h"

namespace sotto::rounds {

inline Campaign two_sums_campaign() {
  static const auto sums =
      secagg::calibrated_two_sums(
          {.epsilon = 8, .delta = 1e-6, .participations = 2, .bits = 28, .dropping = 0.1, .corrupted = 0.1},
          {40, 36, 40, 20, 2}, 1000)
          .value();
  Campaign campaign = small_campaign();
  campaign.rounds = campaign.participations = 2;
  campaign.encoding = sums.first.settings();
  campaign.bits = sums.first.modulus().bits();
  const auto& second = sums.second.settings();
  campaign.second = SecondSum{second.dimension, second.products, second.step, second.noise_multiplier,
                              sums.second.modulus().bits()};
  return campaign;
}

}  // namespace sotto::rounds
