#include "secagg/server/seed_recovery.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/distributions.h"
#include "base/thread_pool.h"
#include "secagg/shared/public_random.h"

namespace sotto {

namespace {

constexpr std::size_t kRandomTries = 64;

std::optional<Seed> attempt(const SharedSeed& secret, std::span<const SharePoint> shares) {
  auto seed = combine(shares);
  if (!seed || !secret.is_right(*seed)) return std::nullopt;
  return std::move(*seed);
}

class DoubtfulRecovery {
 public:
  explicit DoubtfulRecovery(std::uint32_t threshold) : threshold_(threshold) {}

  Result<Seed> recover(const SharedSeed& secret) {
    std::vector<SharePoint> shares;
    std::copy_if(secret.shares.begin(), secret.shares.end(), std::back_inserter(shares),
                 [&](const SharePoint& share) { return !liars_.contains(share.point); });
    if (shares.size() < threshold_) {
      return bad_input("only {} believable shares of a secret of client {}: {} are needed", shares.size(),
                       secret.owner, threshold_);
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (auto seed = try_and_learn(secret, shares)) return std::move(*seed);
      std::rotate(shares.begin(), shares.begin() + 1, shares.end());
    }
    for (std::size_t i = 0; i < kRandomTries; ++i) {
      shuffle(std::span(shares), random_);
      if (auto seed = try_and_learn(secret, shares)) return std::move(*seed);
    }
    return bad_input(
        "the {} shares of a secret of client {} do not fit together: that client dealt wrong ones, or too "
        "many neighbours revealed wrong ones",
        shares.size(), secret.owner);
  }

 private:
  // With the first `threshold` shares. When they are right, the others show who lied.
  std::optional<Seed> try_and_learn(const SharedSeed& secret, std::span<const SharePoint> shares) {
    const auto used = shares.first(threshold_);
    auto seed = attempt(secret, used);
    if (!seed) return std::nullopt;
    for (const SharePoint& other : shares.subspan(threshold_)) {
      const auto expected = interpolate(used, other.point);
      if (!expected || !expected->equals(Share(other.share))) liars_.insert(other.point);
    }
    return seed;
  }

  std::uint32_t threshold_;
  std::unordered_set<std::uint32_t> liars_;
  PublicRandom random_{Digest{}};  // which choices are tried first is no secret
};

}  // namespace

Result<std::vector<Seed>> recover_seeds(std::span<const SharedSeed> secrets, std::uint32_t threshold) {
  std::vector<std::optional<Seed>> recovered(secrets.size());
  parallel_for(secrets.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (secrets[i].shares.size() < threshold) continue;
      recovered[i] = attempt(secrets[i], std::span(secrets[i].shares).first(threshold));
    }
  });
  DoubtfulRecovery doubtful(threshold);
  std::vector<Seed> result;
  result.reserve(secrets.size());
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    if (!recovered[i]) {
      SOTTO_TRY(recovered[i], doubtful.recover(secrets[i]));
    }
    result.push_back(std::move(*recovered[i]));
  }
  return result;
}

}  // namespace sotto
