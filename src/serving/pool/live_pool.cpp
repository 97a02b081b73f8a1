#include "serving/pool/live_pool.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace sotto::serving {

namespace {

constexpr std::size_t encoded_at_once = 1024;

// What is in `to` and not in `from`, and the other way round. Both ascend by number.
CatalogueChange difference(std::span<const StoredItemPtr> from, std::span<const StoredItemPtr> to) {
  const auto before = [](const StoredItemPtr& left, const StoredItemPtr& right) {
    return left->number < right->number;
  };
  CatalogueChange change;
  std::set_difference(to.begin(), to.end(), from.begin(), from.end(), std::back_inserter(change.added),
                      before);
  std::vector<StoredItemPtr> gone;
  std::set_difference(from.begin(), from.end(), to.begin(), to.end(), std::back_inserter(gone), before);
  change.removed.reserve(gone.size());
  for (const StoredItemPtr& item : gone) change.removed.push_back(item->number);
  return change;
}

// Everything that is added in the change, encoded piece by piece and entered at once.
Status encode_and_follow(ModelPool& pool, const CatalogueChange& change) {
  std::vector<std::vector<float>> vectors;
  for (std::size_t first = 0; first < change.added.size(); first += encoded_at_once) {
    std::vector<CatalogueItem> piece;
    const std::size_t end = std::min(first + encoded_at_once, change.added.size());
    piece.reserve(end - first);
    for (std::size_t i = first; i < end; ++i) piece.push_back(change.added[i]->item);
    SOTTO_TRY(auto encoded, pool.vectors_of(piece));
    std::move(encoded.begin(), encoded.end(), std::back_inserter(vectors));
  }
  return pool.follow(change, std::move(vectors));
}

}  // namespace

Result<std::unique_ptr<LivePool>> LivePool::open(const fs::path& folder,
                                                 std::shared_ptr<const ServingModel> model,
                                                 const Settings& settings) {
  SOTTO_TRY(auto catalogue, Catalogue::open(folder, settings.catalogue));
  SOTTO_TRY(std::shared_ptr<ModelPool> first, ModelPool::create(std::move(model)));
  SOTTO_CHECK(encode_and_follow(*first, {{}, catalogue->all()}));
  return std::unique_ptr<LivePool>(new LivePool(std::move(catalogue), first, settings));
}

Status LivePool::follow(const CatalogueChange& change,
                        std::vector<std::vector<std::vector<float>>> vectors_by_model) {
  const auto models = models_.take();
  for (std::size_t i = 0; i < models->size(); ++i) {
    SOTTO_CHECK((*models)[i]->follow(change, std::move(vectors_by_model[i])));
  }
  ++changes_;
  return {};
}

Status LivePool::put(std::vector<CatalogueItem> items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (auto good = check_item(items[i]); !good) {
      return tl::unexpected(std::move(good).error().in(fmt::format("item {}", i)));
    }
  }
  const std::lock_guard changing(changing_);
  auto models = models_.take();
  std::vector<std::vector<std::vector<float>>> vectors;
  for (const auto& model : *models) {
    auto encoded = model->vectors_of(items);
    if (!encoded && vectors.empty()) return tl::unexpected(std::move(encoded).error());
    if (!encoded) {
      // The model before can no longer read articles: it leaves, and its devices fetch the new pack.
      models_.replace(std::make_shared<const Models>(1, models->front()));
      models = models_.take();
      break;
    }
    vectors.push_back(std::move(*encoded));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].vector = vectors.front()[i];
    items[i].encoded_by = models->front()->model().version();
  }
  SOTTO_TRY(const auto change, catalogue_->put(std::move(items)));
  return follow(change, std::move(vectors));
}

Result<std::size_t> LivePool::remove(std::span<const std::string> ids) {
  const std::lock_guard changing(changing_);
  SOTTO_TRY(const auto change, catalogue_->remove(ids));
  if (!change.removed.empty()) {
    SOTTO_CHECK(follow(change, std::vector<std::vector<std::vector<float>>>(models_.take()->size())));
  }
  return change.removed.size();
}

Status LivePool::expire(std::int64_t published_before) {
  const std::lock_guard changing(changing_);
  SOTTO_TRY(const auto change, catalogue_->expire(published_before));
  if (change.removed.empty()) return {};
  return follow(change, std::vector<std::vector<std::vector<float>>>(models_.take()->size()));
}

Status LivePool::maintain(std::int64_t now) {
  Status expired;
  if (settings_.max_age_seconds > 0) expired = expire(now - settings_.max_age_seconds);
  // Also when the disk takes no change: this may be what makes room.
  if (catalogue_->is_compaction_due()) SOTTO_CHECK(catalogue_->compact());
  return expired;
}

Status LivePool::replace_model(std::shared_ptr<const ServingModel> model) {
  const std::lock_guard replacing(replacing_);
  if (of_version(model->version())) return bad_input("model {} is being served already", model->version());
  SOTTO_TRY(std::shared_ptr<ModelPool> next, ModelPool::create(std::move(model)));
  const auto first = catalogue_->all();
  SOTTO_CHECK(encode_and_follow(*next, {{}, first}));
  // The rest, which is little, with changes held up; then everybody sees the new model at once.
  const std::lock_guard changing(changing_);
  SOTTO_CHECK(encode_and_follow(*next, difference(first, catalogue_->all())));
  auto models = std::make_shared<Models>();
  models->push_back(std::move(next));
  models->push_back(models_.take()->front());
  models_.replace(std::move(models));
  ++changes_;
  return {};
}

std::shared_ptr<const ModelPool> LivePool::of_version(std::string_view version) const {
  const auto models = models_.take();
  for (const auto& model : *models) {
    if (model->model().version() == version) return model;
  }
  return nullptr;
}

Result<std::shared_ptr<const ServingModel>> model_of(const device::DevicePack& pack, double average_share,
                                                     std::shared_ptr<const ItemEncoder> encoder,
                                                     privacy::ServingMechanisms mechanisms) {
  ServingModel::Parts parts;
  parts.version = pack.model;
  parts.dimension = pack.dimension;
  parts.basis = pack.basis.floats();
  parts.prototypes = pack.prototypes.floats();
  parts.average_user = pack.average_user;
  parts.average_share = average_share;
  parts.encoder = std::move(encoder);
  parts.mechanisms = mechanisms;
  return ServingModel::create(std::move(parts));
}

Result<device::DevicePack> with_live_items(device::DevicePack pack, const LivePool& pool,
                                           const std::function<bool(ItemNumber)>& wanted) {
  const auto model = pool.of_version(pack.model);
  if (!model) return bad_input("model {} is not being served", pack.model);
  const auto items = pool.catalogue().all();
  std::map<std::string, std::uint16_t> categories, languages;
  for (const StoredItemPtr& item : items) {
    categories.emplace(item->item.category, device::no_category);
    languages.emplace(item->item.language, device::no_language);
  }
  const auto number = [](std::map<std::string, std::uint16_t>& named, std::vector<std::string>& names,
                         std::size_t most) {
    names.clear();
    for (auto& [name, position] : named) {
      if (name.empty()) continue;
      if (names.size() >= most) return false;
      position = static_cast<std::uint16_t>(names.size());
      names.push_back(name);
    }
    return true;
  };
  if (!number(categories, pack.categories, device::no_category) ||
      !number(languages, pack.languages, device::PackLimits::languages))
    return bad_input("a pack cannot name that many categories or languages");
  if (pack.categories.empty()) pack.categories.emplace_back("all");  // a device's ledger needs one
  std::vector<device::PackItem> live;
  for (const StoredItemPtr& item : items) {
    const auto vector = model->vector_of(item->number);
    if (!vector) continue;  // changed meanwhile
    if (wanted && !wanted(item->number)) continue;
    live.push_back({item->item.id, *vector, static_cast<std::uint64_t>(item->item.published),
                    categories.at(item->item.category), languages.at(item->item.language)});
  }
  SOTTO_TRY(pack.items, device::make_items(std::move(live), pack.dimension));
  return pack;
}

}  // namespace sotto::serving
