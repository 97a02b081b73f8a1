#pragma once
// A pool of made-up items, to try the server out and to load it.

#include "device/pack/device_pack.h"
#include "serving/pool/live_pool.h"

namespace sotto::serving {

// A pack of basis vectors and prototypes over clustered items. The user model is the mean of clicks.
Result<DevicePack> synthetic_pack();
// Items 0 .. count-1 with the vectors that belong to it, published in the `seconds` before `now`.
Status fill_with_synthetic_items(LivePool& pool, std::size_t count, std::int64_t now, std::int64_t seconds);

}  // namespace sotto::serving
