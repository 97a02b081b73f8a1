#pragma once
// Items and readers drawn from normal distributions, for tests of serving.

#include "base/distributions.h"
#include "eval/experiments/serving/public_knowledge.h"
#include "eval/experiments/serving/row_maths.h"

namespace sotto::private_serving::testing {

inline Rows normal_rows(std::size_t count, std::size_t width, std::uint32_t stream, float shift = 0) {
  SeededRandom random(11, Purpose::test, stream);
  Rows rows(count, width);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < width; ++j)
      rows[i][j] = shift + static_cast<float>(normal(random) * (1.0 + static_cast<double>(j)));
  }
  return rows;
}

inline ServingScene normal_scene(std::size_t items = 400, std::size_t readers = 2000) {
  ServingScene scene;
  scene.items = normal_rows(items, 6, 1, 2);
  scene.readers = normal_rows(readers, 6, 2, 0.7F);
  return scene;
}

}  // namespace sotto::private_serving::testing
