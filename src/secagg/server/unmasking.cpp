// From revealed shares to the sum.

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/thread_pool.h"
#include "secagg/server/secagg_server.h"
#include "secagg/shared/key_exchange.h"

namespace sotto::secagg {

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

// The seed that is needed of each of the clients. All shares are the ones committed to, so any of them will
// do, and when they do not open what their dealer promised, that is the dealer's doing.
Result<std::vector<Seed>> SecAggServer::open_seeds(const std::vector<std::uint32_t>& owners) {
  const std::size_t threshold = round_.group.threshold;
  std::vector<std::optional<Seed>> opened(owners.size());
  parallel_for(owners.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto& shares = revealed_[owners[i]];
      if (shares.size() < threshold) continue;
      auto seed = combine(std::span(shares).first(threshold));
      if (seed && keeps_promise(owners[i], *seed)) opened[i] = std::move(*seed);
    }
  });
  std::vector<Seed> seeds;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (opened[i]) {
      seeds.push_back(std::move(*opened[i]));
    } else if (revealed_[owners[i]].size() >= threshold || dealt_misfits(owners[i])) {
      guilty_.insert(owners[i]);
    }
  }
  if (seeds.size() == owners.size()) return seeds;
  if (guilty_.count() == 0) {
    return bad_input(
        "of {} seeds fewer than the {} shares are there that open one: too many were lost or lied",
        owners.size() - seeds.size(), threshold);
  }
  std::string names;
  for (const std::uint32_t owner : owners) {
    if (guilty_.contains(owner)) names += fmt::format("{}{}", names.empty() ? "" : ", ", owner);
  }
  return bad_input("client {} dealt shares that do not open what it promised", names);
}

// More neighbours hold nothing of this dealer that fits than there can be liars among them.
bool SecAggServer::dealt_misfits(std::uint32_t dealer) const {
  const GroupParameters& group = round_.group;
  const std::vector<std::uint32_t> neighbours = graph_.neighbours(dealer);
  const auto answering = static_cast<std::size_t>(
      std::count_if(neighbours.begin(), neighbours.end(),
                    [&](std::uint32_t neighbour) { return answered_.contains(neighbour); }));
  const std::uint32_t liars = std::min(group.corrupted, group.threshold - 1);
  return answering - revealed_[dealer].size() > liars;
}

bool SecAggServer::keeps_promise(std::uint32_t owner, const Seed& seed) const {
  if (uploaded_.contains(owner)) {
    return commitment_to_self_seed(seed, owner, transcript_) == self_seed_commitments_[owner];
  }
  const auto pair = KeyPair::from_seed(seed, KeyUse::mask, context_);
  return pair && pair->public_key() == keys_[owner].mask_key;
}

// Of a client whose vector is in the sum, its own mask; of one that dropped out after its neighbours had made
// masks with it, those masks.
Result<std::vector<Mask>> SecAggServer::masks_in_sum() {
  std::vector<std::uint32_t> owners;
  for (std::uint32_t client = 0; client < round_.group.clients; ++client) {
    if (sharing_.contains(client)) owners.push_back(client);
  }
  SOTTO_TRY(const auto seeds, open_seeds(owners));

  std::vector<std::vector<Mask>> by_owner(owners.size());
  SOTTO_CHECK(for_all(owners.size(), [&](std::size_t i) -> Status {
    const std::uint32_t client = owners[i];
    if (uploaded_.contains(client)) {
      by_owner[i].push_back({self_mask_key(seeds[i], client, transcript_), false});
      return {};
    }
    SOTTO_TRY(const auto pair, KeyPair::from_seed(seeds[i], KeyUse::mask, context_));
    for (const std::uint32_t neighbour : graph_.neighbours(client)) {
      if (!uploaded_.contains(neighbour)) continue;
      SOTTO_TRY(auto key, pair_mask_key(pair, client, {neighbour, keys_[neighbour].mask_key}, transcript_));
      by_owner[i].push_back({std::move(key), neighbour > client});
    }
    return {};
  }));
  std::vector<Mask> masks;
  for (auto& some : by_owner) std::move(some.begin(), some.end(), std::back_inserter(masks));
  return masks;
}

Status SecAggServer::unmask() {
  SOTTO_TRY(auto masks, masks_in_sum());
  for (Mask& mask : masks) mask.subtract = !mask.subtract;
  return sum_.apply_in_parallel(masks);
}

}  // namespace sotto::secagg
