// PrivRec (Wang et al. 2021): every round M devices train a copy of the model on their own rows (REPTILE,
// held to the global model by a proximal term) and return Δ = θ_τ − θ0; θ0 ← θ0 + α3 · mean Δ. A user who
// asks for recommendations fine-tunes on the device. No DP.

#include "recipes/privrec.h"

#include "recipes/interaction_recipe.h"

namespace sotto {
namespace {

class PrivRec final : public InteractionRecipe {
 public:
  PrivRec() : InteractionRecipe({}, MetaLearning::reptile) {}
};

}  // namespace

std::unique_ptr<Recipe> make_privrec() { return std::make_unique<PrivRec>(); }

}  // namespace sotto
