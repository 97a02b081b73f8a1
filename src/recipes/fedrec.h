#pragma once
#include <memory>
#include <string>

#include "recipes/recipe.h"

namespace sotto {

// model: a name of models() that devices can share; a setting changes it.
std::unique_ptr<Recipe> make_fedrec(std::string model);

}  // namespace sotto
