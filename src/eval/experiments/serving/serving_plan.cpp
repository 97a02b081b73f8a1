#include "eval/experiments/serving/serving_plan.h"

#include <limits>

namespace sotto::private_serving {

namespace {

struct Sizes {
  Family family;
  std::vector<std::size_t> full, quick;
};

const std::vector<Sizes>& compared() {
  static const std::vector<Sizes> all = {
      {Family::vdp, {0}, {0}},
      {Family::coefficients_paper, {3, 5}, {5}},
      {Family::coefficients_laplace, {3, 5}, {5}},
      {Family::coefficients_gaussian, {3, 5}, {}},
      {Family::prototypes_response, {4, 8, 16, 32, 64, 256, 1024}, {8, 64}},
      {Family::prototypes_pack, {8, 16, 64, 256}, {8, 64}},
      {Family::prototypes_similarity, {8, 16, 64, 256}, {64}},
      {Family::direction_laplace, {1, 2, 4, 8}, {2}},
      {Family::direction_gaussian, {1, 2, 4, 8}, {}},
  };
  return all;
}

}  // namespace

ServingPlan ServingPlan::quick() {
  ServingPlan plan;
  plan.scene.impressions = 1500;
  plan.scene.readers.readers = 3000;
  plan.pool_queries = 150;
  return plan;
}

void ServingPlan::bind(SettingsTable& table) {
  table.add("impressions", scene.impressions, {10, 100000000}, "Test impressions to look at")
      .add("pool_queries", pool_queries, {1, 100000000}, "Of these, how many also rank the whole pool")
      .add("answer", answer, {10, 1000000}, "Items a server returns for the device to rank again")
      .add("readers", scene.readers.readers, {100, 10000000}, "Simulated readers")
      .add("groups", scene.readers.groups, {2, 100000}, "Groups of items that interests are drawn from")
      .add("demand_epsilon", scene.readers.demand_epsilon, {0.0, 1000.0},
           "Budget of the one release of the demand per group; 0: none, items count alike");
}

std::vector<MechanismChoice> ServingPlan::choices(bool quick) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> epsilons =
      quick ? std::vector<double>{0.1, 1, 5, 10, infinity}
            : std::vector<double>{0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, infinity};
  std::vector<MechanismChoice> choices = {{Family::average_user, 0, 0}, {Family::exact, 0, infinity}};
  for (const Sizes& sizes : compared()) {
    for (const std::size_t size : quick ? sizes.quick : sizes.full) {
      for (const double epsilon : epsilons) choices.push_back({sizes.family, size, epsilon});
    }
  }
  return choices;
}

}  // namespace sotto::private_serving
