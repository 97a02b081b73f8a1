#pragma once
// Two numbers for one training run. The server picks and sees every cohort: against it only the noise counts,
// and the cap on how often one unit may take part. Everyone else sees the published models and not who was
// sampled.

#include "privacy/accounting/event.h"

namespace sotto {

struct TrainingExposure {
  Mechanism mechanism;
  Adjacency adjacency = Adjacency::add_remove;
  Unit unit = Unit::user;
  Sampling sampling = NoSampling{};
  std::uint64_t rounds = 1;
  // The ledger refuses further participations of a unit; rounds when there is no cap.
  std::uint64_t participation_cap = 1;
  double total_variation = 0;  // per use, as in PrivacyEvent
};

struct TwoAdversaries {
  Guarantee server;
  Guarantee published;
};

// Rounds are independent draws, so a cap that is reached disturbs the sampling that amplification assumes.
// The chance that one unit reaches it is charged to δ as total variation; where that is too much, and
// whenever it is smaller anyway, the published guarantee is the server's (published models are computed from
// what the server saw).
Result<TwoAdversaries> account_training(const TrainingExposure& exposure, double delta);

// Probability that a Binomial(rounds, rate) count exceeds the cap: 0 when cap ≥ rounds. Rounded up.
double chance_above_cap(std::uint64_t rounds, double rate, std::uint64_t cap);

}  // namespace sotto
