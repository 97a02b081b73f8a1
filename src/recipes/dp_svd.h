#pragma once

#include <memory>

#include "recipes/recipe.h"

namespace sotto {

std::unique_ptr<Recipe> make_dp_svd();

}  // namespace sotto
