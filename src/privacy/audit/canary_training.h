#pragma once
// A training that can be audited by running it once. The audit flips a fair coin per canary, has the training
// run with the chosen canaries among its data, and guesses the coins from the scores.
//
// Contract: a canary is one unit of the claim (one user, say), added or not (Adjacency::add_remove). scores()
// uses nothing but what the claim's adversary sees; that is why it is not told which canaries were included.
// Used from one thread; train() is called once.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "privacy/audit/audit_finding.h"
#include "privacy/noise/device_random.h"

namespace sotto {

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

}  // namespace sotto
