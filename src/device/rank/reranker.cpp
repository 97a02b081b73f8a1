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

// How many to rank so that a limit per category still finds enough of the others.
std::size_t candidates_for(const PageFilter& filter, std::size_t count) {
  constexpr std::size_t times = 20;
  return filter.most_per_category == 0 ? count : count * times;
}

bool is_language(std::string_view tag, const std::vector<std::string>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& language) {
    return tag == language || (tag.starts_with(language) && tag[language.size()] == '-');
  });
}

}  // namespace

Reranker::Reranker(const DevicePack& pack) : pack_(pack) {
  rows_.reserve(pack.items.size());
  for (std::size_t i = 0; i < pack.items.size(); ++i) rows_.emplace(pack.items.ids[i], i);
}

Reranker::Unwanted Reranker::unwanted(const PageFilter& filter) const {
  Unwanted found;
  for (const std::string& category : pack_.categories)
    found.categories.push_back(filter.blocked_categories.contains(category));
  for (const std::string& language : pack_.languages)
    found.languages.push_back(!filter.languages.empty() && !is_language(language, filter.languages));
  return found;
}

bool Reranker::is_unwanted(std::size_t row, const Unwanted& unwanted) const {
  const std::uint16_t category = pack_.items.categories[row], language = pack_.items.languages[row];
  return (category != no_category && unwanted.categories[category]) ||
         (language != no_language && unwanted.languages[language]);
}

std::vector<RankedItem> Reranker::spread(std::vector<RankedItem> ranked, const PageFilter& filter,
                                         std::size_t count) const {
  if (filter.most_per_category > 0) {
    std::vector<std::size_t> times(pack_.categories.size());
    const auto is_over = [&](const RankedItem& item) {
      const auto row = rows_.find(item.item);
      if (row == rows_.end() || pack_.items.categories[row->second] == no_category) return false;
      return ++times[pack_.items.categories[row->second]] > filter.most_per_category;
    };
    // Those within the limit first, both parts in their order; the rest fills what is left of the page.
    std::vector<RankedItem> within, over;
    for (RankedItem& item : ranked) (is_over(item) ? over : within).push_back(std::move(item));
    within.insert(within.end(), std::make_move_iterator(over.begin()), std::make_move_iterator(over.end()));
    ranked = std::move(within);
  }
  ranked.resize(std::min(count, ranked.size()));
  return ranked;
}

std::vector<RankedItem> Reranker::rank(std::span<const std::string> items, std::span<const float> user,
                                       const PageFilter& filter, std::size_t count) const {
  const PackTensor& vectors = pack_.items.vectors;
  const auto* numbers = reinterpret_cast<const std::int8_t*>(vectors.data.data());
  const Unwanted not_wanted = unwanted(filter);
  std::vector<RankedItem> known;
  std::vector<RankedItem> unknown;
  std::unordered_set<std::string_view> listed;
  for (const std::string& item : items) {
    if (filter.hidden.contains(item) || !listed.insert(item).second) continue;
    const auto found = rows_.find(item);
    if (found == rows_.end()) {
      unknown.push_back({item, 0});
      continue;
    }
    if (is_unwanted(found->second, not_wanted)) continue;
    float score = 0;
    score_rows(numbers + found->second * pack_.dimension, &vectors.scales[found->second], 1, pack_.dimension,
               user.data(), &score);
    known.push_back({item, score});
  }
  keep_best(known, candidates_for(filter, count));
  known = spread(std::move(known), filter, count);
  unknown.resize(std::min(unknown.size(), count - known.size()));
  known.insert(known.end(), unknown.begin(), unknown.end());
  return known;
}

std::vector<RankedItem> Reranker::rank_scored(std::span<const RankedItem> items, std::span<const float> user,
                                              const PageFilter& filter, std::size_t count) const {
  std::vector<RankedItem> candidates = best_of_pool(user, filter, candidates_for(filter, count));
  std::unordered_set<std::string_view> listed;
  for (const RankedItem& item : items) {
    if (!filter.hidden.contains(item.item) && !rows_.contains(item.item) && listed.insert(item.item).second)
      candidates.push_back(item);
  }
  keep_best(candidates, candidates_for(filter, count));
  return spread(std::move(candidates), filter, count);
}

std::vector<RankedItem> Reranker::rank_pool(std::span<const float> user, const PageFilter& filter,
                                            std::size_t count) const {
  return spread(best_of_pool(user, filter, candidates_for(filter, count)), filter, count);
}

std::vector<RankedItem> Reranker::best_of_pool(std::span<const float> user, const PageFilter& filter,
                                               std::size_t count) const {
  const PackTensor& vectors = pack_.items.vectors;
  std::vector<float> scores(pack_.items.size());
  score_rows(reinterpret_cast<const std::int8_t*>(vectors.data.data()), vectors.scales.data(), scores.size(),
             pack_.dimension, user.data(), scores.data());
  for (float& score : scores) {
    if (std::isnan(score)) score = -std::numeric_limits<float>::infinity();
  }
  const Unwanted not_wanted = unwanted(filter);
  std::vector<bool> hidden(scores.size(), false);
  for (const std::string& item : filter.hidden)
    if (const auto row = rows_.find(item); row != rows_.end()) hidden[row->second] = true;
  std::vector<std::size_t> order;
  order.reserve(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!hidden[i] && !is_unwanted(i, not_wanted)) order.push_back(i);
  const std::size_t kept = std::min(order.size(), count);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return scores[a] != scores[b] ? scores[a] > scores[b]
                                                    : pack_.items.ids[a] < pack_.items.ids[b];
                    });
  std::vector<RankedItem> best;
  for (std::size_t i = 0; i < kept; ++i) best.push_back({pack_.items.ids[order[i]], scores[order[i]]});
  return best;
}

}  // namespace sotto::device
