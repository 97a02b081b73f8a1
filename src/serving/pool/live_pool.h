#pragma once
// Everything the server recommends from: the durable catalogue and the indexes of the current model, kept in
// step, and those of the model before it, so that devices with an older pack are answered while they fetch
// the new one.
//
// Safe from any number of threads. Changes (put, remove, expire, replace_model) wait for one another, except
// that replace_model() encodes the pool beside them; queries wait for none of them.

#include <atomic>
#include <functional>

#include "device/pack/device_pack.h"
#include "serving/pool/model_pool.h"

namespace sotto::serving {

class LivePool {
 public:
  struct Settings {
    Catalogue::Settings catalogue;
    std::int64_t max_age_seconds = 0;  // items older than this leave at maintain(); 0: they stay
  };
  static Result<std::unique_ptr<LivePool>> open(const fs::path& folder,
                                                std::shared_ptr<const ServingModel> model,
                                                const Settings& settings);

  // Encoded, durable and searchable when it returns.
  Status put(std::vector<CatalogueItem> items);
  // How many there were.
  Result<std::size_t> remove(std::span<const std::string> ids);
  // Expiry and compaction, as far as they are due. now: seconds since 1970.
  Status maintain(std::int64_t now);
  // Afterwards queries of both versions are answered, and those of any earlier one are not.
  Status replace_model(std::shared_ptr<const ServingModel> model);

  std::shared_ptr<const ModelPool> current() const { return models_.take()->front(); }
  // The pool of that version; null when it is neither the current nor the one before.
  std::shared_ptr<const ModelPool> of_version(std::string_view version) const;
  const Catalogue& catalogue() const { return *catalogue_; }
  std::uint64_t changes() const { return changes_; }  // grows with every change

 private:
  using Models = std::vector<std::shared_ptr<ModelPool>>;  // the current first
  LivePool(std::unique_ptr<Catalogue> catalogue, const std::shared_ptr<ModelPool>& first,
           const Settings& settings)
      : settings_(settings),
        catalogue_(std::move(catalogue)),
        models_(std::make_shared<const Models>(1, first)) {}
  Status expire(std::int64_t published_before);
  Status follow(const CatalogueChange& change, std::vector<std::vector<std::vector<float>>> vectors_by_model);

  const Settings settings_;
  std::unique_ptr<Catalogue> catalogue_;
  std::mutex changing_, replacing_;
  Published<Models> models_;
  std::atomic<std::uint64_t> changes_{0};
};

// Between the pack that devices have and the pool that the server searches: one file describes both.

// What the server needs of a pack; its items do not matter.
Result<std::shared_ptr<const ServingModel>> model_of(
    const device::DevicePack& pack, double average_share, std::shared_ptr<const ItemEncoder> encoder,
    privacy::ServingMechanisms mechanisms = privacy::serving_mechanisms());

// The pack with the live items in place of its own, those that are wanted (none said: all). An error when its
// model is not being served.
Result<device::DevicePack> with_live_items(device::DevicePack pack, const LivePool& pool,
                                           const std::function<bool(ItemNumber)>& wanted = {});

}  // namespace sotto::serving
