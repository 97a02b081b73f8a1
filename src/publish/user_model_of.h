#pragma once
// The user side of a trained news model as devices compute it: its kind, its shape and its weights.

#include "device/pack/device_pack.h"
#include "model/news/news_recommender.h"
#include "recipes/trained_news.h"

namespace sotto::publish {

// The device's name for the user side of a model. Refuses models whose user side devices cannot compute, with
// advice.
Result<std::string> user_model_kind(const std::string& model);

Result<device::PackUserModel> user_model_of(const recipes::TrainedNews& news,
                                            const model::NewsRecommender& towers);

Result<device::PackTensor> tensor_of(std::string name, const torch::Tensor& tensor);

}  // namespace sotto::publish
