#pragma once
// Ranking with the true user vector, on the device, where it costs no privacy: of a list that the server
// returned, or of the whole pool in the pack. What its reader has seen or does not want is left out here, so
// that no such list ever leaves.
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

// What may stand on a page. Categories and languages are known of the items in the pack; of others, nothing.
struct PageFilter {
  std::unordered_set<std::string> hidden;  // seen or blocked items
  std::unordered_set<std::string> blocked_categories;
  // Only these, and what names none; empty: any. "de" is also "de-AT".
  std::vector<std::string> languages;
  // Of one category, as long as there are others to fill the page; 0: any number.
  std::size_t most_per_category = 0;
};

class Reranker {
 public:
  explicit Reranker(const DevicePack& pack);

  // Best first, ties by id, at most `count`. Items that the pack does not have come last, in the order given.
  std::vector<RankedItem> rank(std::span<const std::string> items, std::span<const float> user,
                               const PageFilter& filter, std::size_t count) const;
  // Of items that come with their scores and those of the pack, which are scored here: the latter are all
  // candidates, named or not.
  std::vector<RankedItem> rank_scored(std::span<const RankedItem> items, std::span<const float> user,
                                      const PageFilter& filter, std::size_t count) const;
  // The whole pool.
  std::vector<RankedItem> rank_pool(std::span<const float> user, const PageFilter& filter,
                                    std::size_t count) const;

 private:
  // Which of the pack's categories and languages a filter does not want.
  struct Unwanted {
    std::vector<bool> categories, languages;
  };
  Unwanted unwanted(const PageFilter& filter) const;
  bool is_unwanted(std::size_t row, const Unwanted& unwanted) const;
  std::vector<RankedItem> best_of_pool(std::span<const float> user, const PageFilter& filter,
                                       std::size_t count) const;
  // The first `count` of ranked candidates under the filter's limit per category.
  std::vector<RankedItem> spread(std::vector<RankedItem> ranked, const PageFilter& filter,
                                 std::size_t count) const;
  const DevicePack& pack_;
  std::unordered_map<std::string_view, std::size_t> rows_;
};

}  // namespace sotto::device
