#pragma once
// Split training (Efficient-FedRec): the news encoder stays on the server, which sends item vectors; a device
// trains the user encoder on them and returns gradients of the user encoder and of the vectors it read. The
// server carries the vectors' gradients back through the news encoder. Without dropout in the news encoder
// the sum of all this is exactly the gradient of the whole model.
//
// Letters: M items, D size of a vector, P parameters of which the last Q are the user encoder's.

#include <functional>
#include <span>
#include <vector>

#include "fl/news_training.h"
#include "model/news/news_recommender.h"

namespace sotto::fl {

// What one device computes, summed over its clicks. Valid during the call it is handed to.
struct DeviceGradients {
  torch::Tensor user_encoder;           // [Q]
  std::span<const data::ItemId> items;  // those it read
  torch::Tensor vectors;                // [items, D]
  double loss = 0;
  std::uint64_t samples = 0;
};
// What a device uploads, as one vector [M D + Q] over the given items (ascending): zero where it read
// nothing.
void write_device_update(const DeviceGradients& own, std::span<const data::ItemId> items,
                         torch::Tensor& update);

using EachDevice = std::function<Status(data::UserId user, const DeviceGradients& own)>;

// Refers to the training and its model; not thread-safe.
class SplitTraining {
 public:
  // Refuses models whose towers cannot be told apart.
  static Result<SplitTraining> create(NewsTraining& training, model::RankingModel& model);

  std::int64_t vector_size() const { return model_.vector_size(); }
  std::int64_t user_size() const { return training_.parameters().size() - first_; }  // Q
  std::string user_layout() const;  // of the user encoder, as FlatParameters has it
  // What a device reads in a round, ascending: its history and the items it is shown.
  std::vector<data::ItemId> items_of(std::uint32_t round, data::UserId user) const;
  // Vectors of the items as the server infers them now: [M, D].
  torch::Tensor infer(std::span<const data::ItemId> items);

  // items: ascending, all that any of the users reads; vectors [M, D] and the user encoder [Q] as devices
  // receive them.
  Status devices(std::uint32_t round, std::span<const data::UserId> users,
                 std::span<const data::ItemId> items, const torch::Tensor& vectors,
                 const torch::Tensor& user_encoder, const EachDevice& each);
  // Numbers in the update of a device for so many items: M D + Q.
  std::uint64_t dimension(std::uint64_t items) const {
    return items * static_cast<std::uint64_t>(vector_size()) + static_cast<std::uint64_t>(user_size());
  }
  // The gradient of the whole model [P] from an update [M D + Q]. A view that the next call overwrites.
  torch::Tensor whole_gradient(std::span<const data::ItemId> items, const torch::Tensor& update);
  torch::Tensor user_encoder() { return training_.parameters().values().slice(0, first_); }
  NewsTraining& training() { return training_; }

 private:
  SplitTraining(NewsTraining& training, model::NewsRecommender& model, std::int64_t first)
      : training_(training), model_(model), first_(first) {}
  NewsTraining& training_;
  model::NewsRecommender& model_;
  std::int64_t first_;
};

}  // namespace sotto::fl
