#pragma once
// Between the pack that devices have and the pool that the server searches: one file describes both.

#include "device/pack/device_pack.h"
#include "serving/pool/live_pool.h"

namespace sotto::serving {

// What the server needs of a pack; its items do not matter.
Result<std::shared_ptr<const ServingModel>> model_of(const DevicePack& pack, double average_share,
                                                     std::shared_ptr<const ItemEncoder> encoder,
                                                     ServingMechanisms mechanisms = serving_mechanisms());

// The pack with the live items in place of its own. An error when its model is not being served.
Result<DevicePack> with_live_items(DevicePack pack, const LivePool& pool);

}  // namespace sotto::serving
