#include "serving/bench/bench_items.h"

#include <cmath>

#include "base/distributions.h"
#include "base/thread_pool.h"

namespace sotto::serving {

namespace {

constexpr std::uint64_t seed = 20240229;
constexpr std::size_t topic_count = 256;

// Near enough to a normal variable, from one word: the sum of its four quarters.
float roughly_normal(RandomSource& random) {
  const std::uint64_t word = random();
  const auto sum =
      static_cast<float>((word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48));
  return (sum - 131070.0F) * (1.7320508F / 65536.0F);
}

void fill_normal(std::span<float> values, float scale, RandomSource& random) {
  for (float& value : values) value = scale * roughly_normal(random);
}

}  // namespace

BenchItems::BenchItems(BenchWorld world, std::size_t dimension)
    : world_(world), dimension_(dimension), topics_(topic_count * dimension) {
  SeededRandom random(seed, Purpose::test);
  fill_normal(topics_, 1 / std::sqrt(static_cast<float>(dimension)), random);
}

RowBatch BenchItems::vectors(std::size_t first, std::size_t count) const {
  RowBatch rows;
  rows.dimension = dimension_;
  rows.items.resize(count);
  rows.tags.resize(count);
  rows.values.resize(count * dimension_);
  parallel_for(count, 512, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto item = static_cast<ItemNumber>(first + i);
      rows.items[i] = item;
      const bool alike = world_ == BenchWorld::alike || world_ == BenchWorld::nearly_alike;
      SeededRandom random(seed, Purpose::test, 1, alike ? 0 : item);
      const std::span<float> values = std::span(rows.values).subspan(i * dimension_, dimension_);
      const bool clustered = world_ == BenchWorld::clustered;
      fill_normal(values, (clustered ? 0.5F : 1.0F) / std::sqrt(static_cast<float>(dimension_)), random);
      if (world_ == BenchWorld::nearly_alike) {
        SeededRandom own(seed, Purpose::test, 3, item);
        for (float& value : values) value *= 1 + static_cast<float>(uniform_below(own, 4)) * 1e-7F;
      }
      if (!clustered) continue;
      const float* topic = topics_.data() + uniform_below(random, topic_count) * dimension_;
      const auto length = static_cast<float>(std::exp(0.2 * normal(random)));
      for (std::size_t d = 0; d < dimension_; ++d) values[d] = length * (values[d] + topic[d]);
    }
  });
  return rows;
}

std::vector<float> BenchItems::directions(std::size_t count) const {
  std::vector<float> directions(count * dimension_);
  if (world_ != BenchWorld::clustered) {
    SeededRandom random(seed, Purpose::test, 2);
    fill_normal(directions, 1 / std::sqrt(static_cast<float>(dimension_)), random);
    return directions;
  }
  for (std::size_t topic = 0; topic < topic_count; ++topic) {
    float* mean = directions.data() + topic % count * dimension_;
    for (std::size_t d = 0; d < dimension_; ++d) {
      mean[d] += topics_[topic * dimension_ + d] * static_cast<float>(count) / topic_count;
    }
  }
  return directions;
}

std::vector<float> bench_mixture(std::size_t basis, RandomSource& random) {
  std::vector<float> mixture(basis);
  double sum = 0;
  for (float& weight : mixture) sum += weight = static_cast<float>(exponential(random));
  for (float& weight : mixture) weight = static_cast<float>(weight / sum);
  return mixture;
}

std::vector<float> mixed_direction(const Projection& basis, std::span<const float> mixture) {
  std::vector<float> mixed(basis.dimension());
  for (std::size_t i = 0; i < mixture.size(); ++i) {
    for (std::size_t d = 0; d < mixed.size(); ++d) mixed[d] += mixture[i] * basis.direction(i)[d];
  }
  return mixed;
}

}  // namespace sotto::serving
