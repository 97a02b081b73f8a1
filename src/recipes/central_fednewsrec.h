#pragma once
#include <memory>

#include "recipes/recipe.h"

namespace sotto {

std::unique_ptr<Recipe> make_central_fednewsrec();

}  // namespace sotto
