#pragma once
// Ranking with the true user vector, on the device, where it costs no privacy: of a list that the server
// returned, or of the whole pool in the pack. Items that were seen are left out here, so that no list of seen
// items ever leaves.
//
// Refers to the pack, which must outlive it. Immutable, safe to share between threads.

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "device/pack/device_pack.h"

namespace sotto::device {

struct RankedItem {
  std::string item;
  float score = 0;
  bool operator==(const RankedItem&) const = default;
};

class Reranker {
 public:
  explicit Reranker(const DevicePack& pack);

  using Seen = std::unordered_set<std::string>;

  // Best first, ties by id, at most `count`. Items that the pack does not have come last, in the order given.
  std::vector<RankedItem> rank(std::span<const std::string> items, std::span<const float> user,
                               const Seen& seen, std::size_t count) const;
  // Of items that come with their scores and those of the pack, which are scored here: the latter are all
  // candidates, named or not.
  std::vector<RankedItem> rank_scored(std::span<const RankedItem> items, std::span<const float> user,
                                      const Seen& seen, std::size_t count) const;
  // The whole pool.
  std::vector<RankedItem> rank_pool(std::span<const float> user, const Seen& seen, std::size_t count) const;

 private:
  const DevicePack& pack_;
  std::unordered_map<std::string_view, std::size_t> rows_;
};

}  // namespace sotto::device
