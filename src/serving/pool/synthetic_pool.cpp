#include "serving/pool/synthetic_pool.h"

#include <array>
#include <cmath>

#include "base/distributions.h"
#include "base/thread_pool.h"

namespace sotto::serving {

namespace {

constexpr std::uint64_t seed = 20240229;
constexpr std::size_t topic_count = 256;

// Of the pool.
constexpr std::size_t dimension = 64;
constexpr std::size_t basis_vectors = 5;
constexpr std::size_t prototypes = 64;
constexpr std::size_t items_at_once = 65'536;
constexpr std::array topics = {"culture", "economy", "politics", "science", "sports", "weather"};

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

SyntheticItems::SyntheticItems(SyntheticWorld world, std::size_t dimension)
    : world_(world), dimension_(dimension), topics_(topic_count * dimension) {
  SeededRandom random(seed, Purpose::test);
  fill_normal(topics_, 1 / std::sqrt(static_cast<float>(dimension)), random);
}

RowBatch SyntheticItems::vectors(std::size_t first, std::size_t count) const {
  RowBatch rows;
  rows.dimension = dimension_;
  rows.items.resize(count);
  rows.tags.resize(count);
  rows.values.resize(count * dimension_);
  parallel_for(count, 512, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto item = static_cast<ItemNumber>(first + i);
      rows.items[i] = item;
      const bool alike = world_ == SyntheticWorld::alike || world_ == SyntheticWorld::nearly_alike;
      SeededRandom random(seed, Purpose::test, 1, alike ? 0 : item);
      const std::span<float> values = std::span(rows.values).subspan(i * dimension_, dimension_);
      const bool clustered = world_ == SyntheticWorld::clustered;
      fill_normal(values, (clustered ? 0.5F : 1.0F) / std::sqrt(static_cast<float>(dimension_)), random);
      if (world_ == SyntheticWorld::nearly_alike) {
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

std::vector<float> SyntheticItems::directions(std::size_t count) const {
  std::vector<float> directions(count * dimension_);
  if (world_ != SyntheticWorld::clustered) {
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

std::vector<float> synthetic_mixture(std::size_t basis, RandomSource& random) {
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

Result<device::DevicePack> synthetic_pack() {
  const SyntheticItems source(SyntheticWorld::clustered, dimension);
  device::DevicePack pack;
  pack.dimension = dimension;
  pack.user_model = {"mean", 0, 0, 50, {}};
  SOTTO_TRY(pack.basis,
            device::PackTensor::from_floats("basis", {basis_vectors, dimension},
                                            source.directions(basis_vectors), device::NumberForm::f32));
  SOTTO_TRY(pack.prototypes,
            device::PackTensor::from_floats("prototypes", {prototypes, dimension},
                                            source.directions(prototypes), device::NumberForm::f32));
  pack.average_user = source.directions(1);
  pack.anonymous.resize(dimension);
  pack.categories.assign(topics.begin(), topics.end());
  SOTTO_TRY(pack.items, device::make_items({}, dimension));
  SOTTO_TRY(pack.model, device::model_name(pack));
  return pack;
}

Status fill_with_synthetic_items(LivePool& pool, std::size_t count, std::int64_t now, std::int64_t seconds) {
  const SyntheticItems source(SyntheticWorld::clustered, dimension);
  const std::string version = pool.current()->model().version();
  for (std::size_t first = 0; first < count; first += items_at_once) {
    const RowBatch vectors = source.vectors(first, std::min(items_at_once, count - first));
    std::vector<CatalogueItem> items(vectors.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::size_t number = first + i;
      const auto age = static_cast<std::int64_t>(number * 7919 % static_cast<std::size_t>(seconds));
      items[i].id = fmt::format("item-{}", number);
      items[i].title = fmt::format("Made-up article {}", number);
      items[i].category = topics[number % topics.size()];
      items[i].language = "en";
      items[i].published = now - age;
      items[i].vector.assign(vectors.row(i).begin(), vectors.row(i).end());
      items[i].encoded_by = version;
    }
    SOTTO_CHECK(pool.put(std::move(items)));
  }
  return {};
}

}  // namespace sotto::serving
