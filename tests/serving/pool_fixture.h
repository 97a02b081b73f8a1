#pragma once
// A small model, an encoder that needs no training, and articles.

#include <string>

#include "base/distributions.h"
#include "serving/pool/live_pool.h"

namespace sotto::serving::pool_test {

constexpr std::size_t dimension = 8;
constexpr std::size_t basis_vectors = 3;
constexpr std::size_t prototypes = 4;

inline std::vector<float> random_vector(std::uint64_t seed, std::size_t size = dimension) {
  SeededRandom random(seed, Purpose::test);
  std::vector<float> vector(size);
  for (float& value : vector) value = static_cast<float>(normal(random));
  return vector;
}

// A vector that depends on the title and on the model's version alone.
class TitleEncoder final : public ItemEncoder {
 public:
  explicit TitleEncoder(std::string version) : version_(std::move(version)) {}
  std::vector<float> vector_of(const std::string& title) const {
    return random_vector(std::hash<std::string>()(title + version_));
  }
  Result<std::vector<std::vector<float>>> encode(std::span<const CatalogueItem> items) const override {
    std::vector<std::vector<float>> vectors;
    for (const CatalogueItem& item : items) vectors.push_back(vector_of(item.title));
    return vectors;
  }

 private:
  std::string version_;
};

inline ServingModel::Parts parts(const std::string& version) {
  ServingModel::Parts parts;
  parts.version = version;
  parts.dimension = dimension;
  parts.basis = random_vector(std::hash<std::string>()(version), basis_vectors * dimension);
  parts.prototypes = random_vector(std::hash<std::string>()(version) + 1, prototypes * dimension);
  parts.average_user = random_vector(7);
  parts.encoder = std::make_shared<TitleEncoder>(version);
  return parts;
}

inline std::shared_ptr<const ServingModel> model(const std::string& version) {
  return ServingModel::create(parts(version)).value();
}

inline CatalogueItem article(int number, std::int64_t published = 1000) {
  const std::string name = std::to_string(number);
  CatalogueItem item;
  item.id = "n" + name;
  item.title = "title " + name;
  item.category = number % 2 == 0 ? "sports" : "politics";
  item.language = "en";
  item.published = published;
  return item;
}

inline std::vector<CatalogueItem> articles(int first, int count) {
  std::vector<CatalogueItem> items;
  for (int i = first; i < first + count; ++i) items.push_back(article(i));
  return items;
}

inline std::unique_ptr<LivePool> open(const fs::path& folder,
                                      std::shared_ptr<const ServingModel> with = model("v1"),
                                      std::int64_t max_age_seconds = 0) {
  LivePool::Settings settings;
  settings.catalogue.durability = Durability::process_end;
  settings.max_age_seconds = max_age_seconds;
  auto pool = LivePool::open(folder, std::move(with), settings);
  if (!pool) throw std::runtime_error(pool.error().message);
  return std::move(*pool);
}

inline PoolQuery mixture(std::vector<float> coefficients, std::uint32_t count = 5) {
  PoolQuery query;
  query.coefficients = std::move(coefficients);
  query.count = count;
  return query;
}

inline std::vector<std::string> ids_of(const LivePool& pool, const std::vector<ScoredItem>& found) {
  std::vector<std::string> ids;
  for (const auto& item : pool.catalogue().find(found)) ids.push_back(item ? item->item.id : "gone");
  return ids;
}

}  // namespace sotto::serving::pool_test
