#pragma once
// A small blind database with made-up entries, and its guide.

#include <stdexcept>

#include "base/random.h"
#include "blind/guide.h"
#include "serving/blind/database.h"

namespace sotto::serving::testing {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

// Entries at random, every item as long as decryption is proved for, nearly.
inline std::vector<std::int8_t> random_entries(const blind::Parameters& parameters, std::uint64_t seed = 1) {
  SeededRandom random(seed, Purpose::test);
  const std::size_t dimension = parameters.shape.dimension;
  std::vector<std::int8_t> entries(parameters.shape.slots() * dimension);
  const double most = static_cast<double>(parameters.item_norm) * parameters.item_norm;
  for (std::size_t slot = 0; slot < parameters.shape.slots(); ++slot) {
    double squares = 0;
    for (std::size_t i = 0; i < dimension; ++i) {
      const auto entry = static_cast<std::int8_t>(static_cast<int>(random() % 15) - 7);
      if (squares + entry * entry > most) break;
      entries[slot * dimension + i] = entry;
      squares += entry * entry;
    }
  }
  return entries;
}

inline blind::Guide guide_of(const BlindDatabase& database, float step = 0.01F) {
  const blind::Shape& shape = database.parameters().shape;
  blind::Guide guide;
  guide.model = "model";
  guide.parameters = database.parameters();
  SeededRandom random(5, Purpose::test);
  for (std::size_t i = 0; i < shape.columns(); ++i)
    guide.centroids.push_back(static_cast<float>(random() % 1000) / 1000 - 0.5F);
  guide.steps.assign(shape.clusters, step);
  for (std::uint32_t slot = 0; slot < shape.slots(); ++slot) {
    guide.ids.push_back("item-" + std::to_string(slot));
    guide.places.push_back(slot);
  }
  guide.hint = must(make_hint(database));
  return guide;
}

}  // namespace sotto::serving::testing
