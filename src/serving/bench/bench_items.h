#pragma once
// Items and queries for benchmarks, made anew from a seed in every run.

#include <vector>

#include "base/random.h"
#include "serving/index/row_batch.h"
#include "serving/projection.h"

namespace sotto::serving {

// News as encoders see them: vectors around topics, of differing length; directions are means of topics.
// Isotropic: no structure at all. Alike: all items equal. Nearly alike: they differ in the last bits only, so
// that single precision can rule nothing out.
enum class BenchWorld { clustered, isotropic, alike, nearly_alike };

class BenchItems {
 public:
  BenchItems(BenchWorld world, std::size_t dimension);

  // Vectors of items [first, first + count).
  RowBatch vectors(std::size_t first, std::size_t count) const;
  // Means of groups of topics (clustered), or random.
  std::vector<float> directions(std::size_t count) const;

 private:
  BenchWorld world_;
  std::size_t dimension_;
  std::vector<float> topics_;
};

// Coefficients that are non-negative and sum to 1: an attention after noise.
std::vector<float> bench_mixture(std::size_t basis, RandomSource& random);
// The vector they stand for.
std::vector<float> mixed_direction(const Projection& basis, std::span<const float> mixture);

}  // namespace sotto::serving
