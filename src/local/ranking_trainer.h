#pragma once
// The news papers' training on a device: the gradient of −log softmax(scores)[click], summed over clicks.
// Small pieces of the examples pass through the model one after another, so that memory stays bounded and
// training can be stopped between them.

#include <memory>

#include "local/local_trainer.h"
#include "local/ranking_model.h"

namespace sotto::local {

class RankingTrainer final : public LocalTrainer {
 public:
  RankingTrainer(std::unique_ptr<const RankingModel> model, ExampleSettings settings)
      : model_(std::move(model)), settings_(settings) {}

  const Layout& layout() const override { return model_->layout(); }
  Result<LocalUpdate> train(const RoundInputs& inputs, const OwnEvents& own, RandomSource& draws,
                            const Cancelled& cancelled) const override;

 private:
  // How many of the first examples pass together.
  std::size_t examples_at_once(std::span<const RankingExample> examples) const;
  void add(const RoundInputs& inputs, std::span<const RankingExample> examples, RandomSource& draws,
           LocalUpdate& update) const;

  std::unique_ptr<const RankingModel> model_;
  ExampleSettings settings_;
};

// Refuses sizes and rows that are not the inputs', and numbers that are not finite.
Status check_inputs(const Layout& layout, const RoundInputs& inputs, const OwnEvents& own);

}  // namespace sotto::local
