#pragma once
#include <memory>
#include <string>

#include "recipes/recipe.h"

namespace sotto {

// model: a name of models().
std::unique_ptr<Recipe> make_central_news(std::string model);

}  // namespace sotto
