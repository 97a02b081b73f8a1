// PrivRec-CEN: PrivRec's model trained in one place, every user a task. A step takes the gradient of all rows
// of a batch of users at the shared parameters; there are no copies and no local steps. Collects all data.

#include "recipes/privrec_cen.h"

#include "recipes/interaction_recipe.h"

namespace sotto {
namespace {

class PrivRecCen final : public InteractionRecipe {
 public:
  PrivRecCen() : InteractionRecipe(defaults(), MetaLearning::reptile) {}

 private:
  static InteractionRunSettings defaults() {
    InteractionRunSettings start;
    start.tasks.local_batch = 100000;
    start.copies.local_learning_rate = 1;
    return start;
  }
};

}  // namespace

std::unique_ptr<Recipe> make_privrec_cen() { return std::make_unique<PrivRecCen>(); }

}  // namespace sotto
