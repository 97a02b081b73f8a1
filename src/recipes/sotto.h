#pragma once
// The flagship: item vectors from the public catalogue, a small user model trained under user-level noise.

#include "recipes/recipe.h"

namespace sotto {

std::unique_ptr<Recipe> make_sotto();

}  // namespace sotto
