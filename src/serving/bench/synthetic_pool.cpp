#include "serving/bench/synthetic_pool.h"

#include <array>

#include "serving/bench/bench_items.h"

namespace sotto::serving {

namespace {

constexpr std::size_t dimension = 64;
constexpr std::size_t basis_vectors = 5;
constexpr std::size_t prototypes = 64;
constexpr std::size_t items_at_once = 65'536;
constexpr const char* version = "synthetic-1";
constexpr std::array topics = {"culture", "economy", "politics", "science", "sports", "weather"};

}  // namespace

Result<DevicePack> synthetic_pack() {
  const BenchItems source(BenchWorld::clustered, dimension);
  DevicePack pack;
  pack.model = version;
  pack.dimension = dimension;
  pack.user_model = {"mean", 0, 0, 50, {}};
  SOTTO_TRY(pack.basis, PackTensor::from_floats("basis", {basis_vectors, dimension},
                                                source.directions(basis_vectors), NumberForm::f32));
  SOTTO_TRY(pack.prototypes, PackTensor::from_floats("prototypes", {prototypes, dimension},
                                                     source.directions(prototypes), NumberForm::f32));
  pack.average_user = source.directions(1);
  pack.anonymous.resize(dimension);
  pack.categories.assign(topics.begin(), topics.end());
  SOTTO_TRY(pack.items, make_items({}, dimension));
  return pack;
}

Status fill_with_synthetic_items(LivePool& pool, std::size_t count, std::int64_t now, std::int64_t seconds) {
  const BenchItems source(BenchWorld::clustered, dimension);
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
