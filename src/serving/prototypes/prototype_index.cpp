#include "serving/prototypes/prototype_index.h"

#include <algorithm>
#include <unordered_set>

namespace sotto::serving {

namespace {

auto with_item(ItemNumber item) {
  return [item](const ScoredItem& entry) { return entry.item == item; };
}

}  // namespace

bool TopList::would_take(const ScoredItem& entry) const {
  if (covers_pool_ && entries_.size() < limit_) return true;
  return !entries_.empty() && ranks_before(entry, entries_.back());
}

void TopList::insert(const ScoredItem& entry) {
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry, ranks_before), entry);
  if (entries_.size() > limit_) {
    entries_.pop_back();
    covers_pool_ = false;
  }
}

bool TopList::contains(ItemNumber item) const {
  return std::any_of(entries_.begin(), entries_.end(), with_item(item));
}

void TopList::remove(ItemNumber item) {
  entries_.erase(std::find_if(entries_.begin(), entries_.end(), with_item(item)));
}

namespace {

std::vector<float> indicator_of(std::size_t prototype, std::size_t prototypes) {
  std::vector<float> indicator(prototypes);
  indicator[prototype] = 1;
  return indicator;
}

Result<std::vector<std::uint32_t>> chosen_by(std::span<const float> indicator, std::size_t prototypes) {
  if (indicator.size() != prototypes) {
    return bad_input("the indicator has {} entries where there are {} prototypes", indicator.size(),
                     prototypes);
  }
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < indicator.size(); ++i) {
    if (indicator[i] == 1) {
      chosen.push_back(static_cast<std::uint32_t>(i));
    } else if (indicator[i] != 0) {
      return bad_input("entry {} of the indicator is {}: it must be 0 or 1", i, indicator[i]);
    }
  }
  return chosen;
}

// Sorted answers of several prototypes as one: an item once, with its best score.
std::vector<ScoredItem> merge_answers(std::vector<ScoredItem> all, std::uint32_t k) {
  std::sort(all.begin(), all.end(), ranks_before);
  std::unordered_set<ItemNumber> seen;
  std::vector<ScoredItem> merged;
  for (const ScoredItem& scored : all) {
    if (merged.size() == k) break;
    if (seen.insert(scored.item).second) merged.push_back(scored);
  }
  return merged;
}

}  // namespace

Result<std::unique_ptr<PrototypeIndex>> PrototypeIndex::create(std::size_t prototypes,
                                                               std::size_t list_length,
                                                               LiveIndex::Merging merging) {
  if (list_length < 1 || list_length > most_answers) {
    return bad_input("lists of {} items were asked for: choose 1 to {}", list_length, most_answers);
  }
  SOTTO_TRY(auto index, LiveIndex::create(prototypes, merging));
  return std::unique_ptr<PrototypeIndex>(new PrototypeIndex(std::move(index), list_length));
}

PrototypeIndex::PrototypeIndex(std::unique_ptr<LiveIndex> index, std::size_t list_length)
    : index_(std::move(index)),
      list_length_(list_length),
      lists_(
          std::make_shared<const Lists>(index_->dimension(), std::make_shared<const TopList>(list_length))) {}

std::size_t PrototypeIndex::bytes() const {
  std::size_t bytes = index_->bytes();
  const auto lists = lists_.take();
  for (const auto& list : *lists) bytes += list->entries().size_bytes();
  return bytes;
}

Status PrototypeIndex::update(const IndexUpdate& update) {
  const std::lock_guard lock(writing_);
  SOTTO_CHECK(index_->update(update));
  const auto before = lists_.take();
  auto after = std::make_shared<Lists>(*before);
  const bool afresh = update.removals.size() + update.rows.size() > list_length_;
  for (std::size_t prototype = 0; prototype < before->size(); ++prototype) {
    auto& list = (*after)[prototype];
    SOTTO_TRY(list, afresh ? list_from_index(prototype) : changed(prototype, list, update));
  }
  lists_.replace(std::move(after));
  return {};
}

Result<std::shared_ptr<const TopList>> PrototypeIndex::list_from_index(std::size_t prototype) const {
  const std::size_t live = index_->size();
  SOTTO_TRY(auto entries,
            index_->search(indicator_of(prototype, dimension()), static_cast<std::uint32_t>(list_length_)));
  const bool covers_pool = entries.size() == live;
  return std::make_shared<const TopList>(list_length_, std::move(entries), covers_pool);
}

// The list after the update: itself when nothing of it concerns the list.
Result<std::shared_ptr<const TopList>> PrototypeIndex::changed(std::size_t prototype,
                                                               const std::shared_ptr<const TopList>& list,
                                                               const IndexUpdate& update) const {
  std::shared_ptr<TopList> copy;
  const auto writable = [&]() -> TopList& {
    if (!copy) copy = std::make_shared<TopList>(*list);
    return *copy;
  };
  const auto current = [&]() -> const TopList& { return copy ? *copy : *list; };
  const auto forget = [&](ItemNumber item) {
    if (current().contains(item)) writable().remove(item);
  };
  std::for_each(update.removals.begin(), update.removals.end(), forget);
  std::for_each(update.rows.items.begin(), update.rows.items.end(), forget);
  for (std::size_t i = 0; i < update.rows.size(); ++i) {
    const ScoredItem entry{update.rows.row(i)[prototype], update.rows.items[i], update.rows.tags[i]};
    if (current().would_take(entry)) writable().insert(entry);
  }
  if (current().is_worn()) return list_from_index(prototype);
  if (copy) return copy;
  return list;
}

Result<std::vector<ScoredItem>> PrototypeIndex::top(const Lists& lists, std::uint32_t prototype,
                                                    std::uint32_t k, const ItemFilter& filter) const {
  const TopList& list = *lists[prototype];
  std::vector<ScoredItem> found;
  for (const ScoredItem& entry : list.entries()) {
    if (found.size() == k) break;
    if (filter.lets_through(entry.tag)) found.push_back(entry);
  }
  if (found.size() == k || list.covers_pool()) return found;
  return index_->search(indicator_of(prototype, dimension()), k, filter);
}

Result<std::vector<ScoredItem>> PrototypeIndex::best_of(std::span<const std::uint32_t> prototypes,
                                                        std::uint32_t k, const ItemFilter& filter) const {
  if (k < 1 || k > most_answers) {
    return bad_input("{} answers were asked for: ask for 1 to {}", k, most_answers);
  }
  if (prototypes.empty()) return bad_input("no prototype was named: name at least one");
  for (const std::uint32_t prototype : prototypes) {
    if (prototype >= dimension()) {
      return bad_input("prototype {} was named where there are {}, counted from 0", prototype, dimension());
    }
  }
  const auto lists = lists_.take();
  SOTTO_TRY(auto all, top(*lists, prototypes.front(), k, filter));
  if (prototypes.size() == 1) return all;
  for (const std::uint32_t prototype : prototypes.subspan(1)) {
    SOTTO_TRY(const auto more, top(*lists, prototype, k, filter));
    all.insert(all.end(), more.begin(), more.end());
  }
  return merge_answers(std::move(all), k);
}

Result<std::vector<ScoredItem>> PrototypeIndex::search(std::span<const float> indicator, std::uint32_t k,
                                                       const ItemFilter& filter) const {
  SOTTO_TRY(const auto chosen, chosen_by(indicator, dimension()));
  return best_of(chosen, k, filter);
}

Result<std::vector<std::vector<ScoredItem>>> PrototypeIndex::search_batch(std::span<const float> indicators,
                                                                          std::uint32_t k,
                                                                          const ItemFilter& filter) const {
  if (indicators.size() % dimension() != 0) {
    return bad_input("{} entries are no whole number of indicators of {}", indicators.size(), dimension());
  }
  std::vector<std::vector<ScoredItem>> answers;
  for (std::size_t i = 0; i < indicators.size(); i += dimension()) {
    SOTTO_TRY(auto answer, search(indicators.subspan(i, dimension()), k, filter));
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace sotto::serving
