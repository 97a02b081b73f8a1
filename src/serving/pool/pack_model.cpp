#include "serving/pool/pack_model.h"

#include <algorithm>
#include <map>

namespace sotto::serving {

Result<std::shared_ptr<const ServingModel>> model_of(const DevicePack& pack, double average_share,
                                                     std::shared_ptr<const ItemEncoder> encoder,
                                                     ServingMechanisms mechanisms) {
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

Result<DevicePack> with_live_items(DevicePack pack, const LivePool& pool) {
  const auto model = pool.of_version(pack.model);
  if (!model) return bad_input("model {} is not being served", pack.model);
  const auto items = pool.catalogue().all();
  std::map<std::string, std::uint16_t> categories;
  for (const StoredItemPtr& item : items) categories.emplace(item->item.category, std::uint16_t{0});
  categories.erase("");
  pack.categories.clear();
  for (auto& [name, position] : categories) {
    if (pack.categories.size() >= kNoCategory) return bad_input("a pack cannot name that many categories");
    position = static_cast<std::uint16_t>(pack.categories.size());
    pack.categories.push_back(name);
  }
  if (pack.categories.empty()) pack.categories.emplace_back("all");  // a device's ledger needs one
  std::vector<PackItem> live;
  for (const StoredItemPtr& item : items) {
    const auto vector = model->vector_of(item->number);
    if (!vector) continue;  // changed meanwhile
    const auto category = categories.find(item->item.category);
    live.push_back({item->item.id, *vector, static_cast<std::uint64_t>(item->item.published),
                    category == categories.end() ? kNoCategory : category->second});
  }
  SOTTO_TRY(pack.items, make_items(std::move(live), pack.dimension));
  return pack;
}

}  // namespace sotto::serving
