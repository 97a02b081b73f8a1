#include "serving/catalogue/catalogue.h"

#include <xxhash.h>

#include <algorithm>
#include <unordered_set>

namespace sotto::serving {

namespace {

bool has_text(const CatalogueItem& item) { return !item.title.empty() || !item.abstract.empty(); }

std::uint64_t text_hash(const CatalogueItem& item) {
  return XXH3_64bits_withSeed(item.abstract.data(), item.abstract.size(),
                              XXH3_64bits(item.title.data(), item.title.size()));
}

}  // namespace

Result<std::unique_ptr<Catalogue>> Catalogue::open(const fs::path& folder, const Settings& settings) {
  std::unique_ptr<Catalogue> catalogue(new Catalogue(settings));
  CatalogueChange ignored;  // nobody follows yet
  const auto replay = [&](CatalogueRecord&& record) -> Status {
    ignored = {};
    if (record.kind == CatalogueRecord::Kind::remove) {
      catalogue->leave(record.item.id, ignored);
      return {};
    }
    SOTTO_TRY(auto item, catalogue->number(std::move(record.item)));
    catalogue->enter(std::move(item), ignored);
    return {};
  };
  SOTTO_TRY(auto store, CatalogueStore::open(folder, settings.durability, replay));
  catalogue->log_bytes_ = store.log_bytes();
  catalogue->store_ = std::make_unique<CatalogueStore>(std::move(store));
  return catalogue;
}

Result<StoredItemPtr> Catalogue::number(CatalogueItem item) {
  const auto category = categories_.find_or_add(item.category);
  const auto language = languages_.find_or_add(item.language);
  if (!category || !language) {
    return bad_input("there are already 65536 {}: use fewer", category ? "languages" : "categories");
  }
  if (next_number_ > std::numeric_limits<ItemNumber>::max()) {
    return failed("all item numbers of this process are used up: restart the server");
  }
  auto stored = std::make_shared<StoredItem>();
  stored->item = std::move(item);
  stored->number = static_cast<ItemNumber>(next_number_++);
  stored->tag = {static_cast<std::uint32_t>(stored->item.published), *category, *language};
  return stored;
}

void Catalogue::enter(StoredItemPtr item, CatalogueChange& change) {
  leave(item->item.id, change);
  by_number_.emplace(item->number, item);
  by_id_.emplace(item->item.id, item);
  if (has_text(item->item)) ++items_by_text_[text_hash(item->item)];
  change.added.push_back(std::move(item));
}

void Catalogue::leave(std::string_view id, CatalogueChange& change) {
  const auto at = by_id_.find(id);
  if (at == by_id_.end()) return;
  const StoredItemPtr item = at->second;  // owns the key until the end
  by_id_.erase(at);
  by_number_.erase(item->number);
  const auto alike = items_by_text_.find(text_hash(item->item));
  if (has_text(item->item) && alike != items_by_text_.end() && --alike->second == 0)
    items_by_text_.erase(alike);
  change.removed.push_back(item->number);
}

Status Catalogue::check(std::span<const CatalogueItem> items) const {
  std::unordered_set<std::string_view> ids;
  for (const CatalogueItem& item : items) {
    if (auto good = check_item(item); !good) {
      return tl::unexpected(std::move(good).error().in(fmt::format("item {}", ids.size())));
    }
    if (!ids.insert(item.id).second) return bad_input("item {} has the id of an earlier one", ids.size());
  }
  return {};
}

Status Catalogue::append(std::span<const std::string> bodies) {
  Status appended = store_->append(bodies);
  const std::lock_guard judging(judging_);
  health_.writing = appended;
  if (!appended) ++health_.failed_changes;
  return appended;
}

CatalogueHealth Catalogue::health() const {
  CatalogueHealth health;
  {
    const std::lock_guard judging(judging_);
    health = health_;
  }
  if (health.writing) return health;
  const std::unique_lock writing(writing_, std::try_to_lock);
  if (!writing) return health;  // a change is finding out
  health.writing = store_->probe();
  const std::lock_guard judging(judging_);
  health_.writing = health.writing;
  return health;
}

Result<CatalogueChange> Catalogue::put(std::vector<CatalogueItem> items) {
  SOTTO_CHECK(check(items));
  const std::lock_guard writing(writing_);
  std::vector<std::string> bodies;
  bodies.reserve(items.size());
  for (const CatalogueItem& item : items) bodies.push_back(encode_put(item));
  std::vector<StoredItemPtr> numbered;
  {
    const std::unique_lock state(state_);
    for (CatalogueItem& item : items) {
      SOTTO_TRY(auto stored, number(std::move(item)));
      numbered.push_back(std::move(stored));
    }
  }
  SOTTO_CHECK(append(bodies));
  CatalogueChange change;
  const std::unique_lock state(state_);
  for (StoredItemPtr& item : numbered) enter(std::move(item), change);
  log_bytes_ = store_->log_bytes();
  return change;
}

Result<CatalogueChange> Catalogue::remove(std::span<const std::string> ids) {
  const std::lock_guard writing(writing_);
  return remove_now(ids);
}

Result<CatalogueChange> Catalogue::remove_now(std::span<const std::string> ids) {
  std::vector<std::string> bodies;
  for (const std::string& id : ids) {
    if (find(id)) bodies.push_back(encode_remove(id));
  }
  CatalogueChange change;
  if (bodies.empty()) return change;
  SOTTO_CHECK(append(bodies));
  const std::unique_lock state(state_);
  for (const std::string& id : ids) leave(id, change);
  log_bytes_ = store_->log_bytes();
  return change;
}

Result<CatalogueChange> Catalogue::expire(std::int64_t published_before) {
  const std::lock_guard writing(writing_);  // an id that is found old stays old until it is gone
  std::vector<std::string> old;
  {
    const std::shared_lock state(state_);
    for (const auto& [id, item] : by_id_) {
      if (item->item.published < published_before) old.emplace_back(id);
    }
  }
  return remove_now(old);
}

bool Catalogue::is_compaction_due() const {
  {
    const std::lock_guard judging(judging_);
    if (!health_.compaction && std::chrono::steady_clock::now() < compact_after_) return false;
  }
  const std::shared_lock state(state_);
  return log_bytes_ > settings_.compact_above;
}

Status Catalogue::compact() {
  const std::lock_guard compacting(compacting_);
  Status compacted = write_compacted();
  const std::lock_guard judging(judging_);
  health_.compaction = compacted;
  if (!compacted) {
    ++health_.failed_compactions;
    compact_after_ = std::chrono::steady_clock::now() + settings_.compact_again;
  }
  return compacted;
}

Status Catalogue::write_compacted() {
  std::uint64_t generation = 0;
  std::vector<StoredItemPtr> alive;
  {
    const std::lock_guard writing(writing_);
    SOTTO_TRY(generation, store_->begin_generation());
    alive = all();
  }
  std::size_t next = 0;
  SOTTO_CHECK(store_->write_snapshot(generation, alive.size(),
                                     [&]() -> const CatalogueItem& { return alive[next++]->item; }));
  const std::lock_guard writing(writing_);
  store_->drop_before(generation);
  const std::unique_lock state(state_);
  log_bytes_ = store_->log_bytes();
  return {};
}

std::size_t Catalogue::size() const {
  const std::shared_lock state(state_);
  return by_id_.size();
}

StoredItemPtr Catalogue::find(std::string_view id) const {
  const std::shared_lock state(state_);
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : at->second;
}

std::vector<StoredItemPtr> Catalogue::find(std::span<const ScoredItem> scored) const {
  std::vector<StoredItemPtr> found;
  found.reserve(scored.size());
  const std::shared_lock state(state_);
  for (const ScoredItem& wanted : scored) {
    const auto at = by_number_.find(wanted.item);
    found.push_back(at == by_number_.end() ? nullptr : at->second);
  }
  return found;
}

std::vector<StoredItemPtr> Catalogue::all() const {
  std::vector<StoredItemPtr> items;
  {
    const std::shared_lock state(state_);
    items.reserve(by_id_.size());
    for (const auto& [id, item] : by_id_) items.push_back(item);
  }
  std::sort(items.begin(), items.end(), [](const StoredItemPtr& left, const StoredItemPtr& right) {
    return left->number < right->number;
  });
  return items;
}

std::size_t Catalogue::count_with_text_of(const CatalogueItem& item) const {
  const std::shared_lock state(state_);
  const auto alike = items_by_text_.find(text_hash(item));
  return alike == items_by_text_.end() || !has_text(item) ? 0 : alike->second;
}

std::optional<std::uint16_t> Catalogue::category_code(std::string_view name) const {
  const std::shared_lock state(state_);
  return categories_.find(name);
}

std::optional<std::uint16_t> Catalogue::language_code(std::string_view name) const {
  const std::shared_lock state(state_);
  return languages_.find(name);
}

}  // namespace sotto::serving
