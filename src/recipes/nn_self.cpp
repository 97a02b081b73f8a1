// NN-SELF (Chen et al. 2018, as PrivRec compares with it): MAML with its second-order term. Every device cuts
// its rows in two, takes one step on the first half and returns the gradient of the loss on the second half
// through that step. The model and its inputs are PrivRec's. No DP.

#include "recipes/nn_self.h"

#include "recipes/interaction_recipe.h"

namespace sotto {
namespace {

class NnSelf final : public InteractionRecipe {
 public:
  NnSelf() : InteractionRecipe({}, MetaLearning::maml) {}
};

}  // namespace

std::unique_ptr<Recipe> make_nn_self() { return std::make_unique<NnSelf>(); }

}  // namespace sotto
