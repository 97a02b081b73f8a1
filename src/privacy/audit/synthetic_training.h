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
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "privacy/accounting/event.h"
#include "privacy/audit/audited_mechanism.h"
#include "privacy/noise/device_random.h"

namespace sotto::privacy {

// A training that can be audited by running it once. The audit flips a fair coin per canary, has the training
// run with the chosen canaries among its data, and guesses the coins from the scores.
//
// Contract: a canary is one unit of the claim (one user, say), added or not (Adjacency::add_remove). scores()
// uses nothing but what the claim's adversary sees; that is why it is not told which canaries were included.
// Used from one thread; train() is called once.
class CanaryTraining {
 public:
  CanaryTraining() = default;
  CanaryTraining(const CanaryTraining&) = delete;
  CanaryTraining& operator=(const CanaryTraining&) = delete;
  virtual ~CanaryTraining() = default;

  virtual std::uint64_t canaries() const = 0;
  virtual Result<AuditClaim> claim() const = 0;
  // Canary i takes part where included[i] != 0.
  virtual Status train(std::span<const unsigned char> included, DeviceRandom random) = 0;
  // One per canary, larger where it more likely took part.
  virtual Result<std::vector<double>> scores() const = 0;
};

// The noisy sum of one training round behind a single door: clipped updates in, noised sum out.
//
// Not thread-safe: one per training. release() ends a round and empties the sum.
enum class SumNoise {
  gaussian_at_server,  // ClippedMean
  skellam_on_devices,  // the same grid and clipping, with a NoiseShare from every device
  laplace_at_server,   // updates clipped in L1, LaplaceMechanism
};

class PrivateSum {
 public:
  struct Settings {
    SumNoise noise = SumNoise::gaussian_at_server;
    double clip = 0;
    double noise_multiplier = 0;  // σ over the clipping bound; for Laplace noise the scale over it
    std::uint64_t dimension = 0;
    std::uint64_t devices = 0;  // that make noise shares
  };
  static Result<std::unique_ptr<PrivateSum>> create(const Settings& settings);

  PrivateSum() = default;
  PrivateSum(const PrivateSum&) = delete;
  PrivateSum& operator=(const PrivateSum&) = delete;
  virtual ~PrivateSum() = default;

  virtual Status add(std::span<const double> update) = 0;
  virtual std::vector<double> exact() const = 0;
  virtual Result<std::vector<double>> release(DeviceRandom random) = 0;
  virtual PrivacyEvent round_event() const = 0;  // one user more or fewer
};

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

}  // namespace sotto::privacy
