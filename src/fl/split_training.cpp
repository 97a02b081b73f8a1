#include "fl/split_training.h"

#include <algorithm>

#include "model/tensor.h"

namespace sotto::fl {

using torch::Tensor;

Result<SplitTraining> SplitTraining::create(NewsTraining& training, model::RankingModel& model) {
  auto* towers = dynamic_cast<model::NewsRecommender*>(&model);
  if (!towers || towers->first_user_parameter().empty())
    return bad_input(
        "this model cannot be split between server and devices: choose one of fednewsrec, nrms, naml, ebnr, "
        "plm-nr");
  return SplitTraining(training, *towers, training.parameters().offset_of(towers->first_user_parameter()));
}

std::string SplitTraining::user_layout() const {
  const std::string& layout = training_.parameters().layout();
  return layout.substr(layout.find(std::string(model_.first_user_parameter()) + ":"));
}

std::vector<data::ItemId> SplitTraining::items_of(std::uint32_t round, data::UserId user) const {
  const model::RankingBatch batch = training_.batch_of(round, {&user, 1});
  std::vector<data::ItemId> items = batch.items();
  std::sort(items.begin(), items.end());
  return items;
}

Tensor SplitTraining::infer(std::span<const data::ItemId> items) {
  const torch::NoGradGuard no_grad;
  model::Pass pass = model::Pass::evaluation();
  return model_.encode_items(items, pass);
}

Status SplitTraining::devices(std::uint32_t round, std::span<const data::UserId> users,
                              std::span<const data::ItemId> items, const Tensor& vectors,
                              const Tensor& user_encoder, const EachDevice& each) {
  model::FlatParameters& parameters = training_.parameters();
  const model::RankingBatch batch = training_.batch_apart(round, users);
  model::UserParameters own(parameters, static_cast<std::int64_t>(users.size()),
                            model::UserParameters::Weights::shared, first_);
  const model::UserBatch owners = batch.users(own);
  std::vector<std::int64_t> rows;
  for (const data::ItemId item : batch.items()) {
    const auto found = std::lower_bound(items.begin(), items.end(), item);
    if (found == items.end() || *found != item)
      return failed("a device needs item {}, which was not sent", item);
    rows.push_back(found - items.begin());
  }
  Tensor read = vectors.index_select(0, model::index_tensor(rows, vectors.device())).set_requires_grad(true);
  parameters.zero_gradients();

  // The model computes with what devices receive, and gets its own weights back.
  Tensor place = this->user_encoder();
  const Tensor kept = place.clone();
  place.copy_(user_encoder);
  const model::ScoreRequest request = batch.request();
  model::Pass pass{true, 0, &owners};
  const Tensor users_vectors = model_.encode_users(read, request.histories, pass);
  const Tensor losses =
      batch.losses_of(model::dot_pairs(read, request.pair_item, users_vectors, request.pair_history));
  losses.sum().backward();
  place.copy_(kept);

  const auto by_user = batch.by_user(losses);
  const auto samples = batch.samples_by_user();
  for (std::size_t u = 0; u < users.size(); ++u) {
    const std::int64_t first = owners.items->offsets[u], count = owners.items->offsets[u + 1] - first;
    SOTTO_CHECK(each(
        users[u],
        {own.gradients()[static_cast<std::int64_t>(u)],
         std::span(batch.items()).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
         read.grad().narrow(0, first, count), by_user[u], samples[u]}));
  }
  return {};
}

void write_device_update(const DeviceGradients& own, std::span<const data::ItemId> items, Tensor& update) {
  const std::int64_t columns = own.vectors.size(1),
                     of_vectors = static_cast<std::int64_t>(items.size()) * columns;
  std::vector<std::int64_t> rows;
  for (const data::ItemId item : own.items)
    rows.push_back(std::lower_bound(items.begin(), items.end(), item) - items.begin());
  update.zero_();
  update.slice(0, 0, of_vectors)
      .view({-1, columns})
      .index_copy_(0, model::index_tensor(rows, update.device()), own.vectors.to(update.device()));
  update.slice(0, of_vectors).copy_(own.user_encoder);
}

Tensor SplitTraining::whole_gradient(std::span<const data::ItemId> items, const Tensor& update) {
  model::FlatParameters& parameters = training_.parameters();
  const Tensor given = update.to(parameters.values().device());
  const std::int64_t of_vectors = given.numel() - user_size();
  parameters.zero_gradients();
  model::Pass pass = model::Pass::evaluation();
  const Tensor again = model_.encode_items(items, pass);
  again.backward(given.slice(0, 0, of_vectors).view(again.sizes()));
  parameters.gradients().slice(0, first_).copy_(given.slice(0, of_vectors));
  return parameters.gradients();
}

}  // namespace sotto::fl
