#pragma once
// PrivRec's network (Wang et al., Eq. 1) and its extensions, for many copies of the parameters at once:
//
//   logit(u, i) = W_o ReLU(... ReLU(W_1 x + b_1) ...) + b_o
//   x = [an embedding per categorical feature of user, situation and item; numbers; h ∘ q_i]
//
// With a history (inputs ids and rich) the device adds what it remembers: h = Σ_{j in history} p_j /
// √|history| never leaves it, and logit += h·q_i + c_i + r·log(1 + times i is in the history). The tables p,
// q and c belong to the model and are learned like every other parameter, so that training privately covers
// them.
//
// Letters: U copies, B rows, R rows of a copy's table, D embedding size, H hidden size, N numbers.

#include <string>
#include <vector>

#include "base/settings.h"
#include "model/interactions/tabular_batch.h"
#include "model/tensor.h"

namespace sotto::model {

struct TabularShape {
  std::int64_t embedding = 64, hidden = 32, layers = 4;
  double embedding_scale = 0.1;
  void bind(SettingsTable& table);
};

// Each part [rows, columns] of the whole model, or [U, R, columns] of U copies.
using TabularParts = std::vector<torch::Tensor>;

// The parameters as a module, so that FlatParameters can hold them; forward passes are pure functions of the
// parts they are given. Immutable apart from the parameters; safe to use from several threads that do not
// write them.
class TabularModel final : public torch::nn::Module {
 public:
  // Starts from torch's seeded generator.
  TabularModel(const TabularShape& shape, const TabularInputs& inputs);

  // The parameters themselves, in order.
  const TabularParts& parts() const { return parts_; }
  // One copy per user of the chunk, with the rows it touches; whole parts when they are no tables.
  TabularParts copies(const TabularChunk& chunk) const;
  // Adds `scale` times differences of copies, [U, R, columns], to a flat vector laid out as the parameters.
  void add_differences(const TabularChunk& chunk, const TabularParts& differences, const torch::Tensor& scale,
                       torch::Tensor& flat) const;
  // The differences of `count` copies from the first on, each as such a flat vector: [count, P].
  torch::Tensor differences_of(const TabularChunk& chunk, const TabularParts& differences, std::int64_t first,
                               std::int64_t count) const;
  // Whole parts [1, rows, columns] with the rows of copy u put in.
  TabularParts personal(const TabularChunk& chunk, const TabularParts& copies, std::int64_t u) const;

  torch::Tensor logits(const TabularParts& copies, const TabularBatch& batch) const;  // [U, B]
  // What a device can rank by with one product per item and no network: the logit of an item for somebody who
  // tells no feature and no situation, to first order in what the device remembers,
  //   logit(i) ≈ bias_i + h·scored_i, h = Σ_{j in history} remembered_j / √|history|.
  // Exact without a history. How often the item itself was clicked, which the model counts, is left out. Only
  // for models that remember; `inputs` as it was made with.
  struct LinearForm {
    torch::Tensor remembered, scored;  // [items, D]
    torch::Tensor bias;                // [items]
  };
  LinearForm linear_form(const TabularInputs& inputs) const;
  bool remembers() const { return remembers_; }

  // Σ_b weight · cross-entropy, per copy: [U].
  torch::Tensor losses(const TabularParts& copies, const TabularBatch& batch) const;

 private:
  static constexpr int not_a_table = -1;
  // product: h ∘ q of every row, [U, B, D]; undefined in models that do not remember.
  torch::Tensor logits_with(const TabularParts& copies, const TabularBatch& batch,
                            const torch::Tensor& product) const;
  void add_part(const std::string& name, const torch::Tensor& start, int key_space);

  bool remembers_;
  std::size_t fields_;
  std::int64_t embedding_, layers_;
  TabularParts parts_;
  std::vector<int> key_spaces_;  // by part
};

}  // namespace sotto::model
