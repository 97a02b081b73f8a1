#pragma once
// Made-up entries of a small blind database.

#include "base/random.h"
#include "serving/blind/database.h"

namespace sotto::serving::testing {

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

}  // namespace sotto::serving::testing
