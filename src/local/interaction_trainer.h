#pragma once
// PrivRec's training on a device (REPTILE): local epochs on a copy of the network, held to the global one by
// a proximal term; what the steps have taken away from the parameters is the direction. The same steps on the
// device alone are its fine-tuning, by which it then ranks.

#include "local/models/interaction_network.h"

namespace sotto::local {

struct InteractionTrainerSettings {
  NetworkSizes sizes;
  StepSettings steps;
  double learning_rate = 1, proximal = 0;
  std::string proximal_norm = "squared";  // or "paper": unsquared, gradient 0 at the start
  std::int64_t max_rows = 10'000;         // latest rows that a device trains on
  std::int64_t tuning_epochs = 0;         // before it ranks; 0: by the parameters as they are
  double tuning_rate = 0.1;
  EventUse events = {.reads_rows = true};
};

// Fields and numbers of them: "7,21,18". Empty: none.
Result<std::vector<std::int64_t>> parse_values(std::string_view text);

class InteractionTrainer final : public LocalTrainer {
 public:
  explicit InteractionTrainer(InteractionTrainerSettings settings)
      : settings_(std::move(settings)), network_(settings_.sizes) {}

  const Layout& layout() const override { return network_.layout(); }
  EventUse reads() const override { return settings_.events; }
  // The loss is that of the first step, times all examples: a mean of what was there before anything was
  // learned.
  Result<LocalUpdate> train(const RoundInputs& inputs, const OwnEvents& own, RandomSource& draws,
                            const Cancelled& cancelled) const override;

  Result<std::vector<float>> rank(const RoundInputs& inputs, const OwnEvents& own,
                                  const RankingQuestion& question, RandomSource& draws,
                                  const Cancelled& cancelled) const override;

  // The device's own parameters after so many epochs on all its rows; never sent.
  Result<std::vector<float>> fine_tuned(const RoundInputs& inputs, const OwnEvents& own, std::int64_t epochs,
                                        double learning_rate, RandomSource& draws,
                                        const Cancelled& cancelled) const;
  // Logits of all items by own parameters, in the situation of one of the reader's rows (0 where the network
  // reads no situations). The reader's positives are remembered.
  Result<std::vector<float>> scores(std::span<const float> parameters, const RoundInputs& inputs,
                                    const OwnEvents& own, std::size_t situation) const;

 private:
  struct Outcome {
    std::vector<float> parameters;
    double first_loss = 0;
    std::uint64_t examples = 0;
  };
  Result<Outcome> descend(const RoundInputs& inputs, const OwnEvents& own, const StepSettings& steps,
                          double learning_rate, RandomSource& draws, const Cancelled& cancelled) const;

  InteractionTrainerSettings settings_;
  InteractionNetwork network_;
};

}  // namespace sotto::local
