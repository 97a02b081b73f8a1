#include "publish/user_model_of.h"

#include "model/news/model_registry.h"

namespace sotto::publish {

Result<std::string> user_model_kind(const std::string& model) {
  if (model == "nrms" || model == "plm-nr") return std::string("nrms");
  if (model == "naml" || model == "fednewsrec" || model == "catalogue") return model;
  SOTTO_TRY(const auto* entry, model::find_model(model));
  const char* why = entry->user_ids()
                        ? "it keeps a vector of every reader's own, which a server must not ask for"
                    : !entry->two_towers ? "it reads a reader anew for every item, so items have no vectors"
                                         : "devices do not know its user side";
  return bad_input(
      "a run of {} cannot be served: {}. With the same recipe and budget train --set model=nrms, plm-nr, "
      "naml or "
      "fednewsrec; 'sotto' trains catalogue",
      model, why);
}

Result<device::PackTensor> tensor_of(std::string name, const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  std::vector<std::uint32_t> shape;
  for (const std::int64_t size : values.sizes()) shape.push_back(static_cast<std::uint32_t>(size));
  return device::PackTensor::from_floats(std::move(name), std::move(shape),
                                         {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                                         device::NumberForm::f32);
}

Result<device::PackUserModel> user_model_of(const recipes::TrainedNews& news,
                                            const model::NewsRecommender& towers) {
  device::PackUserModel made;
  SOTTO_TRY(made.kind, user_model_kind(news.model_name));
  const bool attends = made.kind == "nrms" || made.kind == "fednewsrec";
  if (attends) made.heads = static_cast<std::uint32_t>(news.shape.heads);
  if (made.kind == "fednewsrec") made.recent_clicks = static_cast<std::uint32_t>(news.shape.recent_clicks);
  made.max_history = static_cast<std::uint32_t>(news.max_history);
  bool users = false;  // the user side is registered last
  for (const auto& parameter : towers.named_parameters()) {
    users = users || parameter.key() == towers.first_user_parameter();
    if (!users) continue;
    SOTTO_TRY(auto weights, tensor_of(parameter.key(), parameter.value()));
    made.weights.push_back(std::move(weights));
  }
  return made;
}

}  // namespace sotto::publish
