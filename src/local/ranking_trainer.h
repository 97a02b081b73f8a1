#pragma once
// The news papers' training on a device: the gradient of −log softmax(scores)[click], summed over clicks.
// Items are encoded once, then examples pass through the user model, then what they say about the items
// passes back through the item encoder, each in pieces of bounded size: memory does not grow with the
// reader's history, and training can be stopped between pieces.

#include <memory>

#include "local/local_trainer.h"
#include "local/ranking_model.h"

namespace sotto::local {

class RankingTrainer final : public LocalTrainer {
 public:
  RankingTrainer(std::unique_ptr<const RankingModel> model, ExampleSettings settings)
      : model_(std::move(model)), settings_(settings) {}

  const Layout& layout() const override { return model_->layout(); }
  std::size_t dimension(std::size_t items, std::uint64_t round) const override;
  Result<LocalUpdate> train(const RoundInputs& inputs, const OwnEvents& own, RandomSource& draws,
                            const Cancelled& cancelled) const override;
  Result<std::vector<float>> rank(const RoundInputs& inputs, const OwnEvents& own,
                                  const RankingQuestion& question, RandomSource& draws,
                                  const Cancelled& cancelled) const override;

 private:
  std::unique_ptr<const RankingModel> model_;
  ExampleSettings settings_;
};

}  // namespace sotto::local
