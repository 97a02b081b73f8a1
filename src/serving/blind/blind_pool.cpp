#include "serving/blind/blind_pool.h"

#include <algorithm>
#include <unordered_set>

#include "base/settings.h"
#include "base/thread_pool.h"

namespace sotto::serving {

namespace {

// What an item takes in a pack beside its numbers of a byte each: id, time, labels and what surrounds them.
constexpr std::size_t pack_bytes_beside_vector = 33;

}  // namespace

void BlindSettings::bind(SettingsTable& table) {
  table.add("blind", enabled, "Serve encrypted questions: devices download a guide instead of the pool")
      .add("blind_refresh_bytes", refresh_bytes, {1024, 1 << 28},
           "Bytes of one refresh of a device, up and down")
      .add("blind_hint_bytes", hint_bytes, {4096, 1 << 29}, "Bytes of the hint in the guide")
      .add("blind_probes", probes, {0, blind::ShapeLimits::probes},
           "Clusters a refresh asks about; 0: three, and one from 100,000 items on")
      .add("blind_whole_bytes", whole_bytes, {0, 1 << 30},
           "Pools of at most so many bytes travel whole in the pack, and nothing is asked; 0: never")
      .add("blind_stale_share", stale_share, {0, 1},
           "Share of changed items at which the database is made anew")
      .add("blind_rebuild_seconds", rebuild_seconds, {1, 1'000'000}, "Least time between two databases");
}

blind::ShapeBudget BlindSettings::budget() const {
  blind::ShapeBudget budget{static_cast<std::size_t>(refresh_bytes), static_cast<std::size_t>(hint_bytes),
                            std::nullopt};
  if (probes > 0) budget.probes = static_cast<std::uint32_t>(probes);
  return budget;
}

BlindItems blind_items(const LivePool& pool) {
  const auto model = pool.current();
  BlindItems items;
  items.model = model->model().version();
  items.dimension = static_cast<std::uint32_t>(model->model().dimension());
  for (const StoredItemPtr& item : pool.catalogue().all()) {
    const auto vector = model->vector_of(item->number);
    if (!vector) continue;  // changed meanwhile
    items.numbers.push_back(item->number);
    items.ids.push_back(item->item.id);
    items.vectors.insert(items.vectors.end(), vector->begin(), vector->end());
  }
  return items;
}

BlindPool::~BlindPool() {
  if (maker_.joinable()) maker_.join();
}

std::shared_ptr<const BlindEdition> BlindPool::newest() const {
  const auto editions = editions_.take();
  return editions->empty() ? nullptr : editions->front();
}

std::shared_ptr<const BlindEdition> BlindPool::of_version(std::string_view version) const {
  const auto editions = editions_.take();
  for (const auto& edition : *editions)
    if (edition->version() == version) return edition;
  return nullptr;
}

bool BlindPool::is_stale(const LivePool& pool) const {
  const auto edition = newest();
  if (!edition || edition->model() != pool.current()->model().version()) return true;
  const auto live = pool.catalogue().all();
  const auto kept = static_cast<std::size_t>(std::count_if(
      live.begin(), live.end(), [&](const StoredItemPtr& item) { return edition->has(item->number); }));
  const std::size_t changed = (live.size() - kept) + (edition->items().size() - kept);
  return static_cast<double>(changed) >
         settings_.stale_share * static_cast<double>(std::max<std::size_t>(live.size(), 1));
}

void BlindPool::take_over(std::shared_ptr<const BlindEdition> edition, std::int64_t now) {
  made_at_ = now;
  const auto before = editions_.take();
  if (!before->empty() && before->front()->version() == edition->version()) return;
  auto next = std::make_shared<Editions>();
  next->push_back(std::move(edition));
  if (!before->empty()) next->push_back(before->front());
  editions_.replace(std::move(next));
}

bool BlindPool::travels_whole(const LivePool& pool) const {
  const std::size_t per_item = pool.current()->model().dimension() + pack_bytes_beside_vector;
  return pool.catalogue().size() * per_item <= static_cast<std::size_t>(settings_.whole_bytes);
}

Result<bool> BlindPool::rebuild_if_due(const LivePool& pool, std::int64_t now) {
  if (maker_.joinable()) {
    if (!finished_) return false;
    maker_.join();
    finished_ = false;
    const Made made = std::move(*made_);
    made_.reset();
    if (!made) {
      made_at_ = now;  // tried again when the next is due
      return tl::unexpected(made.error());
    }
    take_over(*made, now);
    return true;
  }
  const bool first = newest() == nullptr && made_at_ == 0;
  if (pool.catalogue().size() == 0 || (!first && now < made_at_ + settings_.rebuild_seconds) ||
      !is_stale(pool))
    return false;
  if (travels_whole(pool)) {
    if (newest() == nullptr) return false;
    editions_.replace(std::make_shared<const Editions>());
    made_at_ = now;
    return true;
  }
  maker_ = std::thread([this, items = blind_items(pool)] {
    yield_to_other_threads();
    made_ = BlindEdition::make(items, settings_.budget());
    finished_ = true;
  });
  return false;
}

Result<device::DevicePack> with_blind_items(device::DevicePack pack, const LivePool& pool,
                                            const BlindPool& blind) {
  const auto edition = blind.newest();
  if (!edition || edition->model() != pack.model) return with_live_items(std::move(pack), pool);
  std::unordered_set<ItemNumber> live;
  SOTTO_TRY(pack, with_live_items(std::move(pack), pool, [&](ItemNumber item) {
              live.insert(item);
              return !edition->has(item);
            }));
  pack.blind_guide = edition->version();
  pack.blind_gone.clear();
  for (const auto& [item, place] : edition->items())
    if (!live.contains(item)) pack.blind_gone.push_back(place);
  std::sort(pack.blind_gone.begin(), pack.blind_gone.end());
  return pack;
}

}  // namespace sotto::serving
