#pragma once
// PrivRec's network and its extensions (model/interactions/tabular_model.h) for one reader, on a tape:
//
//   logit(i) = W_o ReLU(... ReLU(W_1 x + b_1) ...) + b_o
//   x = [an embedding per categorical feature of reader, situation and item; numbers; h ∘ q_i]
//
// With a history h = Σ_{j in history} p_j / √|history|, and logit += h·q_i + c_i + r·log(1 + times i is in
// the history). Parameters are the device's own copy; of a table only the rows that a step touches go on the
// tape.
//
// Letters: B examples of a step, D numbers of an embedding.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "local/local_trainer.h"

namespace sotto::local {

struct NetworkSizes {
  std::int64_t embedding = 64, hidden = 32, layers = 4, items = 0;
  std::string inputs = "rich";  // "ids" and "paper" too, as model::InputChoice says
  // Values of every feature: of the reader, then of the situation, then of items.
  std::vector<std::int64_t> values;
  std::size_t user_fields = 0, context_fields = 0;

  bool remembers() const { return inputs != "paper"; }
  std::size_t item_fields() const { return values.size() - user_fields - context_fields; }
};

// Immutable.
class InteractionNetwork {
 public:
  explicit InteractionNetwork(const NetworkSizes& sizes);
  const Layout& layout() const { return layout_; }
  const NetworkSizes& sizes() const { return sizes_; }
  // Refuses features, codes and items that are not the network's.
  Status check(const RoundInputs& inputs, const OwnEvents& own) const;

  // Takes gradient += of the loss Σ weight · cross-entropy of the examples at `parameters`; returns the loss.
  // gradient: [P], of which only what the step touches is written.
  float add_gradient(std::span<const float> parameters, const RoundInputs& inputs, const OwnEvents& own,
                     std::span<const ItemRow> history, std::span<const InteractionExample> examples,
                     std::span<float> gradient) const;
  // Logits of the examples, labels unread: [B].
  std::vector<float> logits(std::span<const float> parameters, const RoundInputs& inputs,
                            const OwnEvents& own, std::span<const ItemRow> history,
                            std::span<const InteractionExample> examples) const;

 private:
  class Step;
  NetworkSizes sizes_;
  Layout layout_;
  std::vector<std::size_t> offsets_;  // of the parts, in the flat vector
};

}  // namespace sotto::local
