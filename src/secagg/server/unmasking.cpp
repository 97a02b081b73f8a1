// From revealed shares to the sum.

#include <mutex>
#include <optional>

#include "base/thread_pool.h"
#include "secagg/server/secagg_server.h"
#include "secagg/server/seed_recovery.h"
#include "secagg/shared/field_hash.h"
#include "secagg/shared/key_exchange.h"

namespace sotto {

namespace {

// Calls step(i) for all i on the pool; the first error in time wins.
template <class Step>
Status for_all(std::size_t count, Step step) {
  std::mutex mutex;
  std::optional<Error> error;
  parallel_for(count, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (Status done = step(i); !done) {
        const std::lock_guard lock(mutex);
        error = std::move(done).error();
      }
    }
  });
  if (error) return tl::unexpected(std::move(*error));
  return {};
}

}  // namespace

// Of a client whose vector is in the sum, its own mask; of one that dropped out after its neighbours had made
// masks with it, those masks.
Result<std::vector<Mask>> SecAggServer::masks_in_sum() const {
  std::vector<SharedSeed> secrets;
  for (std::uint32_t client = 0; client < round_.group.clients; ++client) {
    if (!sharing_.contains(client)) continue;
    SharedSeed secret{client, revealed_[client], {}};
    if (uploaded_.contains(client)) {
      secret.is_right = [this, client](const Seed& seed) {
        return commitment_to(seed.view(), transcript_) == commitments_[client];
      };
    } else {
      secret.is_right = [this, client](const Seed& seed) {
        const auto pair = KeyPair::from_seed(seed, KeyUse::mask, context_);
        return pair && pair->public_key() == keys_[client].mask_key;
      };
    }
    secrets.push_back(std::move(secret));
  }
  SOTTO_TRY(const auto seeds, recover_seeds(secrets, round_.group.threshold));

  std::vector<std::vector<Mask>> by_secret(secrets.size());
  SOTTO_CHECK(for_all(secrets.size(), [&](std::size_t i) -> Status {
    const std::uint32_t client = secrets[i].owner;
    if (uploaded_.contains(client)) {
      by_secret[i].push_back({self_mask_key(seeds[i], client, transcript_), false});
      return {};
    }
    SOTTO_TRY(const auto pair, KeyPair::from_seed(seeds[i], KeyUse::mask, context_));
    for (const std::uint32_t neighbour : graph_.neighbours(client)) {
      if (!uploaded_.contains(neighbour)) continue;
      SOTTO_TRY(auto key, pair_mask_key(pair, client, {neighbour, keys_[neighbour].mask_key}, transcript_));
      by_secret[i].push_back({std::move(key), neighbour > client});
    }
    return {};
  }));
  std::vector<Mask> masks;
  for (auto& some : by_secret) std::move(some.begin(), some.end(), std::back_inserter(masks));
  return masks;
}

Status SecAggServer::unmask() {
  SOTTO_TRY(auto masks, masks_in_sum());
  for (Mask& mask : masks) mask.subtract = !mask.subtract;
  return sum_.apply_in_parallel(masks);
}

}  // namespace sotto
