#include "fl/device_fold.h"

namespace sotto::fl {

Result<RoundTask> WholeModelFold::open(std::uint32_t) {
  publish();
  return RoundTask{plan_, fetched_.bytes()};
}

Result<torch::Tensor> WholeModelFold::fold(std::uint32_t, const torch::Tensor& mean, const Gathered&) {
  return mean.to(values_.device());
}

Result<std::unique_ptr<local::LocalTrainer>> DeviceTask::trainer() const {
  SOTTO_TRY(auto made, local::find_trainer(recipe, local));
  if (layout != made->layout().text())
    return bad_input("the model trains {}and devices train {}: give the trainer the model's sizes", layout,
                     made->layout().text());
  return made;
}

}  // namespace sotto::fl
