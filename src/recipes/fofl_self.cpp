// FOFL-SELF (Jalalirad et al. 2019, as PrivRec compares with it): REPTILE without side information. The model
// knows items by vectors of their own and users by what their device remembers; nothing is held to the global
// model. No DP.

#include "recipes/fofl_self.h"

#include "recipes/interaction_recipe.h"

namespace sotto {
namespace {

class FoflSelf final : public InteractionRecipe {
 public:
  FoflSelf() : InteractionRecipe(defaults(), MetaLearning::reptile) {}

 private:
  static InteractionRunSettings defaults() {
    InteractionRunSettings start;
    start.inputs = "ids";
    start.copies.proximal = 0;
    return start;
  }
};

}  // namespace

std::unique_ptr<Recipe> make_fofl_self() { return std::make_unique<FoflSelf>(); }

}  // namespace sotto
