#pragma once
// The HTML report of 'sotto demo'.

#include <string>
#include <vector>

#include "data/newsroom/newsroom.h"
#include "eval/demo.h"
#include "recipes/recipe.h"

namespace sotto {

struct DemoTraining {
  std::string title, recipe;
  TrainOutcome outcome;
};

std::string demo_report(const DemoResult& result, const std::vector<DemoTraining>& trained,
                        const NewsroomReport& world, const Dataset& dataset);

}  // namespace sotto
