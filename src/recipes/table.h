#pragma once
// The makers behind the table of recipes (registry.cpp), each in the file of its system.

#include <memory>

#include "recipes/recipe.h"

namespace sotto::recipes {

std::unique_ptr<Recipe> make_central();
std::unique_ptr<Recipe> make_dp_fedrec();
std::unique_ptr<Recipe> make_dp_privrec();
std::unique_ptr<Recipe> make_dp_svd();
std::unique_ptr<Recipe> make_efficient_fedrec();
std::unique_ptr<Recipe> make_fcf();
std::unique_ptr<Recipe> make_fednewsrec();
std::unique_ptr<Recipe> make_fedrec();
std::unique_ptr<Recipe> make_fofl_self();
std::unique_ptr<Recipe> make_nn_self();
std::unique_ptr<Recipe> make_private_rec();
std::unique_ptr<Recipe> make_privrec();
std::unique_ptr<Recipe> make_privrec_cen();
std::unique_ptr<Recipe> make_sotto();

}  // namespace sotto::recipes
