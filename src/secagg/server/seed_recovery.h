#pragma once
// Seeds from shares of which some may be wrong.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "secagg/shared/secret_bytes.h"
#include "secagg/shared/shamir.h"

namespace sotto {

// One seed to recover. The test tells the right seed from all others: its public key or its commitment is
// known.
struct SharedSeed {
  std::uint32_t owner = 0;
  std::vector<SharePoint> shares;  // points all different
  std::function<bool(const Seed&)> is_right;
};

// All seeds, in the order given, on the thread pool. Who is once caught with a wrong share is not believed
// again. For a seed whose shares disagree, every run of `threshold` consecutive shares is tried (enough for
// one wrong share wherever it is), then a bounded number of random choices; the effort is bounded, and where
// too many are wrong, too few are there, or the owner dealt nonsense, the error names the owner.
Result<std::vector<Seed>> recover_seeds(std::span<const SharedSeed> secrets, std::uint32_t threshold);

}  // namespace sotto
