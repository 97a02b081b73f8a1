#pragma once
// Made-up items and a pool of them, the same from one seed in every run: to try the server out, to load it
// and to measure searches.

#include <vector>

#include "base/random.h"
#include "device/pack/device_pack.h"
#include "serving/index/item_index.h"
#include "serving/pool/live_pool.h"
#include "serving/pool/serving_model.h"

namespace sotto::serving {

// News as encoders see them: vectors around topics, of differing length; directions are means of topics.
// Isotropic: no structure at all. Alike: all items equal. Nearly alike: they differ in the last bits only, so
// that single precision can rule nothing out.
enum class SyntheticWorld { clustered, isotropic, alike, nearly_alike };

class SyntheticItems {
 public:
  SyntheticItems(SyntheticWorld world, std::size_t dimension);

  // Vectors of items [first, first + count).
  RowBatch vectors(std::size_t first, std::size_t count) const;
  // Means of groups of topics (clustered), or random.
  std::vector<float> directions(std::size_t count) const;

 private:
  SyntheticWorld world_;
  std::size_t dimension_;
  std::vector<float> topics_;
};

// Coefficients that are non-negative and sum to 1: an attention after noise.
std::vector<float> synthetic_mixture(std::size_t basis, RandomSource& random);
// The vector they stand for.
std::vector<float> mixed_direction(const Projection& basis, std::span<const float> mixture);

// A pack of basis vectors and prototypes over clustered items. The user model is the mean of clicks.
Result<device::DevicePack> synthetic_pack();
// Items 0 .. count-1 with the vectors that belong to it, published in the `seconds` before `now`.
Status fill_with_synthetic_items(LivePool& pool, std::size_t count, std::int64_t now, std::int64_t seconds);

}  // namespace sotto::serving
