#pragma once
// The editions of the blind database that are being served: the newest, and the one before it for devices
// that have its guide. Made in the background from the live items; between two, new items travel in the
// device pack and removed ones are named there.
//
// A pool that is not larger than a guide would be is not asked about at all: it travels whole in the pack,
// and devices rank it by themselves.
//
// Rebuilding is for one owner's thread; taking an edition is safe from any.

#include <atomic>
#include <memory>
#include <thread>

#include "serving/blind/edition.h"
#include "serving/index/published.h"
#include "serving/pool/live_pool.h"

namespace sotto {
class SettingsTable;
}

namespace sotto::serving {

struct BlindSettings {
  bool enabled = false;
  std::int64_t refresh_bytes = 1 << 20;  // of one refresh of a device, up and down
  std::int64_t hint_bytes = 64 << 20;
  std::int64_t probes = 0;             // of a refresh; 0: chosen by the size of the pool
  std::int64_t whole_bytes = 8 << 20;  // pools of at most so many bytes travel whole
  // Another edition is made when this share of the live items is not in the newest, or gone from it.
  double stale_share = 0.05;
  std::int64_t rebuild_seconds = 600;  // at least, between two

  void bind(SettingsTable& table);
  blind::ShapeBudget budget() const;
};

class BlindPool {
 public:
  explicit BlindPool(const BlindSettings& settings) : settings_(settings) {}
  ~BlindPool();
  BlindPool(const BlindPool&) = delete;
  BlindPool& operator=(const BlindPool&) = delete;

  // Starts an edition in the background when one is due, and takes over the one that was finished: true when
  // there is a new one. Where the pool has become small enough to travel whole, true when editions have
  // ended. An error of making one is told once.
  Result<bool> rebuild_if_due(const LivePool& pool, std::int64_t now);  // seconds since 1970
  // Whether the pack needs no edition beside it.
  bool travels_whole(const LivePool& pool) const;

  // Null: there is none with this version.
  std::shared_ptr<const BlindEdition> of_version(std::string_view version) const;
  std::shared_ptr<const BlindEdition> newest() const;

 private:
  using Editions = std::vector<std::shared_ptr<const BlindEdition>>;  // the newest first
  using Made = Result<std::shared_ptr<const BlindEdition>>;
  void take_over(std::shared_ptr<const BlindEdition> edition, std::int64_t now);
  bool is_stale(const LivePool& pool) const;

  const BlindSettings settings_;
  Published<Editions> editions_{std::make_shared<const Editions>()};
  std::int64_t made_at_ = 0;
  std::thread maker_;
  std::atomic<bool> finished_{false};
  std::optional<Made> made_;  // by the maker, once finished_
};

// The items of the current model with their vectors.
BlindItems blind_items(const LivePool& pool);

// The pack for devices that ask blindly: names the newest edition's guide, holds the live items that are not
// in it, and names those that are gone. Without an edition of its model: the whole pool, and no guide.
Result<device::DevicePack> with_blind_items(device::DevicePack pack, const LivePool& pool,
                                            const BlindPool& blind);

}  // namespace sotto::serving
