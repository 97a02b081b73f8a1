#pragma once
// Which mechanisms, sizes and ε the serving table holds, and how many readers it looks at.

#include "base/settings.h"
#include "eval/experiments/serving/serving_mechanism.h"

namespace sotto::private_serving {

struct ServingPlan {
  SceneSettings scene;
  std::int64_t pool_queries = 1000;
  std::int64_t answer = 500;

  static ServingPlan full() { return {}; }
  static ServingPlan quick();
  void bind(SettingsTable& table);
  // The average user and the true vector first, then every mechanism by ε.
  std::vector<MechanismChoice> choices(bool quick) const;
};

}  // namespace sotto::private_serving
