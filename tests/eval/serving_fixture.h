#pragma once
// Items and readers drawn from normal distributions, for tests of serving.

#include "eval/experiments/serving/serving_scene.h"
#include "publish/normal_rows.h"

namespace sotto::eval::private_serving::testing {

using publish::testing::normal_rows;

inline ServingScene normal_scene(std::size_t items = 400, std::size_t readers = 2000) {
  ServingScene scene;
  scene.items = publish::testing::normal_items(items);
  scene.readers = publish::testing::normal_readers(readers);
  return scene;
}

}  // namespace sotto::eval::private_serving::testing
