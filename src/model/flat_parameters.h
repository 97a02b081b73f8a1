#pragma once
// All trainable parameters of a module as one flat vector, and their gradients as another. The module's own
// tensors become views into them, so updates, clipping, aggregation, optimisers and checkpoints work on plain
// vectors and nothing is ever gathered or scattered.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/tensor.h"

namespace sotto::model {

// Owns the flat storage; the module must outlive calls but not this object. Not thread-safe.
class FlatParameters {
 public:
  explicit FlatParameters(torch::nn::Module& module);

  torch::Tensor& values() { return values_; }  // [P]
  const torch::Tensor& values() const { return values_; }
  torch::Tensor& gradients() { return gradients_; }  // [P], what backward() accumulates into
  std::int64_t size() const { return values_.numel(); }
  void zero_gradients() { gradients_.zero_(); }

  struct Entry {
    std::string name;
    std::int64_t offset, size;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  // Where a parameter begins; throws for a name that is not there.
  std::int64_t offset_of(std::string_view name) const;
  // Names and sizes as one line: two models with the same layout can exchange parameters.
  std::string layout() const;

 private:
  torch::Tensor values_, gradients_;
  std::vector<Entry> entries_;
};

}  // namespace sotto::model
