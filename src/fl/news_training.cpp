#include "fl/news_training.h"

#include <algorithm>
#include <limits>

#include "base/distributions.h"

namespace sotto::fl {

namespace {

bool click_and_non_clicks(const data::Impression& impression, std::uint32_t clicked_position,
                          std::size_t negatives, RandomSource& random,
                          std::vector<data::ItemId>& candidates) {
  if (!data::sample_negatives(impression, negatives, random, candidates)) return false;
  candidates.insert(candidates.begin(), impression.shown[clicked_position]);
  return true;
}

}  // namespace

NewsTraining::NewsTraining(const data::Dataset& dataset, const TrainingData& data,
                           const TrainingDataSettings& settings, model::RankingModel& model,
                           model::FlatParameters& parameters, std::uint64_t seed, model::Precision precision)
    : dataset_(dataset),
      data_(data),
      settings_(settings),
      model_(model),
      parameters_(parameters),
      seed_(seed),
      precision_(precision),
      choose_(&click_and_non_clicks) {}

double weight_of_sample(Weighting weighting, std::uint64_t samples) {
  switch (weighting) {
    case Weighting::samples:
      return 1;
    case Weighting::paper:
      return static_cast<double>(samples);
    case Weighting::users:
      return 1 / static_cast<double>(samples);
  }
  return 1;
}

model::RankingBatch NewsTraining::empty_batch() const {
  return model::RankingBatch(static_cast<std::size_t>(settings_.negatives) + 1,
                             static_cast<std::size_t>(settings_.max_history));
}

void NewsTraining::add_sample(model::RankingBatch& batch, const data::TrainingSample& sample,
                              RandomSource& random, float weight) const {
  const data::Impression impression = dataset_.impression(sample.impression);
  std::vector<data::ItemId> candidates;
  if (!choose_(impression, sample.clicked_position, static_cast<std::size_t>(settings_.negatives), random,
               candidates))
    return;
  batch.add(impression.history, candidates, weight, impression.user);
}

void NewsTraining::add_user(model::RankingBatch& batch, std::uint32_t round, data::UserId user,
                            float weight) const {
  SeededRandom random(seed_, Purpose::negative_sampling, round, user);
  for (const data::TrainingSample& sample : data_.of(user)) add_sample(batch, sample, random, weight);
}

LocalGradient NewsTraining::backward(const model::RankingBatch& batch, model::Pass pass) {
  parameters_.zero_gradients();
  torch::Tensor loss;
  {
    const model::PrecisionRegion region(precision_);
    loss = batch.loss(model_, pass);
  }
  loss.backward();
  return {parameters_.gradients(), loss.item<double>(), batch.samples()};
}

model::RankingBatch NewsTraining::batch_of(std::uint32_t round, std::span<const data::UserId> users,
                                           Weighting weighting) const {
  model::RankingBatch batch = empty_batch();
  for (const data::UserId user : users)
    add_user(batch, round, user, static_cast<float>(weight_of_sample(weighting, samples_of(user))));
  return batch;
}

model::RankingBatch NewsTraining::batch_apart(std::uint32_t round,
                                              std::span<const data::UserId> users) const {
  model::RankingBatch batch = empty_batch();
  for (const data::UserId user : users) {
    batch.begin_user(model::Pass::train(seed_, round, user + 1).seed);
    add_user(batch, round, user, 1);
  }
  return batch;
}

LocalGradient NewsTraining::cohort_gradient(std::uint32_t round, std::span<const data::UserId> users,
                                            Weighting weighting) {
  return backward(batch_of(round, users, weighting), model::Pass::train(seed_, round));
}

LocalGradient NewsTraining::user_gradient(std::uint32_t round, data::UserId user) {
  model::RankingBatch batch = empty_batch();
  add_user(batch, round, user, 1);
  return backward(batch, model::Pass::train(seed_, round, user + 1));
}

namespace {

// Enough for large products, little beside what else a round holds. More does not make the CPU faster; a card
// has more memory, and every chunk costs it hundreds of launches.
std::int64_t memory_budget(const model::FlatParameters& parameters) {
  return std::int64_t{parameters.values().is_cuda() ? 8 : 1} << 30;
}

}  // namespace

std::size_t NewsTraining::users_at_once(std::span<const data::UserId> users,
                                        std::int64_t bytes_per_parameter) const {
  const std::int64_t budget = memory_budget(parameters_);
  std::int64_t bytes = 0;
  std::size_t count = 0;
  for (const data::UserId user : users) {
    std::int64_t items = 0;
    for (const data::TrainingSample& sample : data_.of(user)) {
      const auto history = static_cast<std::int64_t>(dataset_.impression(sample.impression).history.size());
      items = std::max(items, std::min(history, settings_.max_history));
    }
    items += static_cast<std::int64_t>(samples_of(user)) * (settings_.negatives + 1);
    bytes += bytes_per_parameter * parameters_.size() + model_.bytes_per_item() * items;
    if (count > 0 && bytes > budget) break;
    ++count;
  }
  return count;
}

Result<std::vector<double>> NewsTraining::backward_apart(const model::RankingBatch& batch,
                                                         model::UserParameters& own) {
  parameters_.zero_gradients();
  const model::UserBatch users = batch.users(own);
  model::Pass pass{true, 0, &users};
  torch::Tensor losses;
  {
    const model::PrecisionRegion region(precision_);
    losses = batch.losses(model_, pass);
  }
  losses.sum().backward();
  if (own.something_was_shared())
    return failed(
        "this model cannot give every user its own gradient: one of its layers does not tell users apart");
  return batch.by_user(losses);
}

Status NewsTraining::each_block(std::uint32_t round, std::span<const data::UserId> users,
                                const std::function<Status(const UpdateBlock&)>& take) {
  while (!users.empty()) {
    const auto chunk = users.first(users_at_once(users, sizeof(float)));
    users = users.subspan(chunk.size());
    model::UserParameters own(parameters_, static_cast<std::int64_t>(chunk.size()),
                              model::UserParameters::Weights::shared);
    const model::RankingBatch batch = batch_apart(round, chunk);
    SOTTO_TRY(const auto losses, backward_apart(batch, own));
    const auto samples = batch.samples_by_user();
    SOTTO_CHECK(take({chunk, own.gradients(), losses, samples}));
  }
  return {};
}

Status NewsTraining::user_gradients(std::uint32_t round, std::span<const data::UserId> users,
                                    const EachUser& each) {
  return each_block(round, users, [&](const UpdateBlock& block) -> Status {
    for (std::size_t i = 0; i < block.users.size(); ++i)
      SOTTO_CHECK(each(block.users[i],
                       {block.directions[static_cast<std::int64_t>(i)], block.losses[i], block.samples[i]}));
    return {};
  });
}

Status NewsTraining::each_update(std::uint32_t round, std::span<const data::UserId> users,
                                 const std::function<Status(const UserUpdate&)>& take) {
  return user_gradients(round, users, [&](data::UserId user, const LocalGradient& own) {
    return take({user, own.gradient, own.loss, own.samples});
  });
}

LocalGradient NewsTraining::batch_gradient(std::uint32_t round,
                                           std::span<const data::TrainingSample> samples) {
  model::RankingBatch batch = empty_batch();
  SeededRandom random(seed_, Purpose::negative_sampling, round);
  for (const data::TrainingSample& sample : samples) add_sample(batch, sample, random, 1);
  return backward(batch, model::Pass::train(seed_, round));
}

namespace {

// One user's way through its samples, a batch at a time, shuffled anew every epoch.
class LocalSteps {
 public:
  LocalSteps(std::vector<data::TrainingSample> samples, const LocalEpochs& local, const SeededRandom& order)
      : samples_(std::move(samples)),
        batch_(static_cast<std::size_t>(local.batch)),
        left_(local.epochs),
        order_(order) {}

  // The next batch; empty when all epochs are over.
  std::span<const data::TrainingSample> next() {
    if (first_ >= samples_.size()) {
      if (left_-- <= 0 || samples_.empty()) return {};
      shuffle(std::span(samples_), order_);
      first_ = 0, ++epoch_;
    }
    const auto step = std::span(samples_).subspan(first_, std::min(batch_, samples_.size() - first_));
    first_ += step.size();
    return step;
  }
  bool in_first_epoch() const { return epoch_ == 1; }

 private:
  std::vector<data::TrainingSample> samples_;
  std::size_t batch_, first_ = std::numeric_limits<std::size_t>::max();
  std::int64_t left_, epoch_ = 0;
  SeededRandom order_;
};

}  // namespace

LocalGradient NewsTraining::user_epochs(std::uint32_t round, data::UserId user, const LocalEpochs& local) {
  torch::NoGradGuard no_grad;
  const torch::Tensor start = parameters_.values().clone();
  SeededRandom negatives(seed_, Purpose::negative_sampling, round, user);
  model::Pass pass = model::Pass::train(seed_, round, user + 1);
  LocalSteps steps(data_.of(user), local, SeededRandom(seed_, Purpose::batch_order, round, user));
  LocalGradient total;
  for (auto samples = steps.next(); !samples.empty(); samples = steps.next()) {
    model::RankingBatch batch = empty_batch();
    for (const data::TrainingSample& sample : samples) add_sample(batch, sample, negatives, 1);
    LocalGradient step;
    {
      torch::AutoGradMode with_grad(true);
      step = backward(batch, model::Pass{true, pass.next_seed()});
    }
    parameters_.values().sub_(step.gradient, local.learning_rate / static_cast<double>(step.samples));
    if (steps.in_first_epoch()) total.loss += step.loss, total.samples += step.samples;
  }
  total.gradient = start - parameters_.values();
  parameters_.values().copy_(start);
  return total;
}

Status NewsTraining::users_epochs(std::uint32_t round, std::span<const data::UserId> users,
                                  const LocalEpochs& local, const EachUser& each) {
  while (!users.empty()) {
    const auto chunk = users.first(users_at_once(users, 2 * sizeof(float)));
    users = users.subspan(chunk.size());
    SOTTO_CHECK(epochs_together(round, chunk, local, each));
  }
  return {};
}

Status NewsTraining::epochs_together(std::uint32_t round, std::span<const data::UserId> users,
                                     const LocalEpochs& local, const EachUser& each) {
  const std::size_t count = users.size();
  model::UserParameters own(parameters_, static_cast<std::int64_t>(count),
                            model::UserParameters::Weights::own);
  std::vector<LocalSteps> steps;
  std::vector<SeededRandom> negatives;
  std::vector<model::Pass> passes;
  for (const data::UserId user : users) {
    steps.emplace_back(data_.of(user), local, SeededRandom(seed_, Purpose::batch_order, round, user));
    negatives.emplace_back(seed_, Purpose::negative_sampling, round, user);
    passes.push_back(model::Pass::train(seed_, round, user + 1));
  }
  std::vector<LocalGradient> totals(count);
  while (true) {
    model::RankingBatch batch = empty_batch();
    for (std::size_t i = 0; i < count; ++i) {
      const auto samples = steps[i].next();
      batch.begin_user(samples.empty() ? 0 : passes[i].next_seed());
      for (const data::TrainingSample& sample : samples) add_sample(batch, sample, negatives[i], 1);
    }
    if (batch.samples() == 0) break;
    own.gradients().zero_();
    SOTTO_TRY(const auto losses, backward_apart(batch, own));
    const auto stepped = batch.samples_by_user();
    for (std::size_t i = 0; i < count; ++i) {
      if (stepped[i] == 0) continue;
      const auto row = static_cast<std::int64_t>(i);
      own.values()[row].sub_(own.gradients()[row], local.learning_rate / static_cast<double>(stepped[i]));
      if (steps[i].in_first_epoch()) totals[i].loss += losses[i], totals[i].samples += stepped[i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    totals[i].gradient = parameters_.values() - own.values()[static_cast<std::int64_t>(i)];
    SOTTO_CHECK(each(users[i], totals[i]));
  }
  return {};
}

}  // namespace sotto::fl
