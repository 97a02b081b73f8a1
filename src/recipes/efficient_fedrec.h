#pragma once

#include <memory>

#include "recipes/recipe.h"

namespace sotto {

std::unique_ptr<Recipe> make_efficient_fedrec();

}  // namespace sotto
