#include "device/rank/reranker.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/rank/pool_kernels.h"

namespace sotto::device {

namespace {

// Best first, ties by id. NaN (a hostile model) ranks last instead of breaking the order.
void keep_best(std::vector<RankedItem>& items, std::size_t count) {
  for (RankedItem& item : items) {
    if (std::isnan(item.score)) item.score = -std::numeric_limits<float>::infinity();
  }
  const auto better = [](const RankedItem& a, const RankedItem& b) {
    return a.score != b.score ? a.score > b.score : a.item < b.item;
  };
  const std::size_t kept = std::min(count, items.size());
  std::partial_sort(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(kept), items.end(), better);
  items.resize(kept);
}

}  // namespace

Reranker::Reranker(const DevicePack& pack) : pack_(pack) {
  rows_.reserve(pack.items.size());
  for (std::size_t i = 0; i < pack.items.size(); ++i) rows_.emplace(pack.items.ids[i], i);
}

std::vector<RankedItem> Reranker::rank(std::span<const std::string> items, std::span<const float> user,
                                       const Seen& seen, std::size_t count) const {
  const PackTensor& vectors = pack_.items.vectors;
  const auto* numbers = reinterpret_cast<const std::int8_t*>(vectors.data.data());
  std::vector<RankedItem> known;
  std::vector<RankedItem> unknown;
  std::unordered_set<std::string_view> listed;
  for (const std::string& item : items) {
    if (seen.contains(item) || !listed.insert(item).second) continue;
    const auto found = rows_.find(item);
    if (found == rows_.end()) {
      unknown.push_back({item, 0});
      continue;
    }
    float score = 0;
    score_rows(numbers + found->second * pack_.dimension, &vectors.scales[found->second], 1, pack_.dimension,
               user.data(), &score);
    known.push_back({item, score});
  }
  keep_best(known, count);
  unknown.resize(std::min(unknown.size(), count - known.size()));
  known.insert(known.end(), unknown.begin(), unknown.end());
  return known;
}

std::vector<RankedItem> Reranker::rank_scored(std::span<const RankedItem> items, std::span<const float> user,
                                              const Seen& seen, std::size_t count) const {
  std::vector<RankedItem> candidates = rank_pool(user, seen, count);
  std::unordered_set<std::string_view> listed;
  for (const RankedItem& item : items) {
    if (!seen.contains(item.item) && !rows_.contains(item.item) && listed.insert(item.item).second)
      candidates.push_back(item);
  }
  keep_best(candidates, count);
  return candidates;
}

std::vector<RankedItem> Reranker::rank_pool(std::span<const float> user, const Seen& seen,
                                            std::size_t count) const {
  const PackTensor& vectors = pack_.items.vectors;
  std::vector<float> scores(pack_.items.size());
  score_rows(reinterpret_cast<const std::int8_t*>(vectors.data.data()), vectors.scales.data(), scores.size(),
             pack_.dimension, user.data(), scores.data());
  // Only so many can be among the best once the seen ones are gone.
  std::vector<std::size_t> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t enough = std::min(order.size(), count + seen.size());
  const auto better = [&](std::size_t a, std::size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : pack_.items.ids[a] < pack_.items.ids[b];
  };
  for (float& score : scores) {
    if (std::isnan(score)) score = -std::numeric_limits<float>::infinity();
  }
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(enough), order.end(), better);
  std::vector<RankedItem> best;
  for (std::size_t i = 0; i < enough && best.size() < count; ++i) {
    const std::string& item = pack_.items.ids[order[i]];
    if (!seen.contains(item)) best.push_back({item, scores[order[i]]});
  }
  return best;
}

}  // namespace sotto::device
