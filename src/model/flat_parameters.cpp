#include "model/flat_parameters.h"

namespace sotto::model {

FlatParameters::FlatParameters(torch::nn::Module& module) {
  std::vector<torch::Tensor> trainable;
  std::int64_t total = 0;
  for (auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    entries_.push_back({item.key(), total, item.value().numel()});
    trainable.push_back(item.value());
    total += item.value().numel();
  }
  TORCH_CHECK(total > 0, "the module has no trainable parameter");
  const auto options = trainable.front().options().requires_grad(false);
  values_ = torch::empty({total}, options);
  gradients_ = torch::zeros({total}, options);
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < trainable.size(); ++i) {
    torch::Tensor view = values_.narrow(0, entries_[i].offset, entries_[i].size).view(trainable[i].sizes());
    view.copy_(trainable[i]);
    trainable[i].set_data(view);
    trainable[i].mutable_grad() =
        gradients_.narrow(0, entries_[i].offset, entries_[i].size).view(view.sizes());
  }
}

std::int64_t FlatParameters::offset_of(std::string_view name) const {
  for (const Entry& entry : entries_)
    if (entry.name == name) return entry.offset;
  TORCH_CHECK(false, "the model has no trainable parameter ", std::string(name));
}

std::string FlatParameters::layout() const {
  std::string text;
  for (const auto& entry : entries_) text += entry.name + ":" + std::to_string(entry.size) + " ";
  return text;
}

}  // namespace sotto::model
