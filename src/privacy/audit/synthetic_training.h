#pragma once
// A small training without a neural network, for the one-run audit: users hold vectors, the model is their
// mean, and every round each user sends the clipped way from the model to its vector. Sum and noise are those
// of real training (PrivateSum).
//
// A canary is one more user, whose update in every round is the longest allowed step along an axis of its
// own. The adversary sees every round's noisy sum and, as differential privacy allows it, knows what the
// other users sent. Faults can be planted, to show that the audit finds them.
//
// Owns its model and what was released. Not thread-safe.

#include <cstdint>
#include <vector>

#include "privacy/audit/canary_training.h"
#include "privacy/audit/private_sum.h"

namespace sotto {

class SyntheticTraining final : public CanaryTraining {
 public:
  enum class Fault { none, noise_missing, noise_halved };

  struct Settings {
    SumNoise noise = SumNoise::gaussian_at_server;
    double noise_multiplier = 0;  // per round
    std::uint64_t rounds = 0;
    Fault fault = Fault::none;
    std::uint64_t canaries = 4000;  // and coordinates of the model
    std::uint64_t users = 20;       // who hold data of their own
    double delta = 1e-11;           // of the claim, where the noise is not Laplace
  };
  explicit SyntheticTraining(const Settings& settings) : settings_(settings) {}

  std::uint64_t canaries() const override { return settings_.canaries; }
  Result<AuditClaim> claim() const override;
  Status train(std::span<const unsigned char> included, DeviceRandom random) override;
  Result<std::vector<double>> scores() const override;

 private:
  Result<std::unique_ptr<PrivateSum>> sum_with(double noise_multiplier) const;
  // ε of all rounds.
  Result<AuditClaim> claim_with(double noise_multiplier) const;
  double applied_multiplier() const;

  Settings settings_;
  std::vector<double> seen_;  // released sums less the known updates, over all rounds
};

}  // namespace sotto
