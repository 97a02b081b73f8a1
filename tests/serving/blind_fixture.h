#pragma once
// The guide of a small blind database.

#include <stdexcept>

#include "blind/guide.h"
#include "serving/blind/hint.h"
#include "serving/blind_entries.h"

namespace sotto::serving::testing {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
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
