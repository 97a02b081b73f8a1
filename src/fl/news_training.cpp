#include "fl/news_training.h"

#include "base/distributions.h"

namespace sotto {

NewsTraining::NewsTraining(const Dataset& dataset, const TrainingData& data,
                           const TrainingDataSettings& settings, RankingModel& model,
                           FlatParameters& parameters, std::uint64_t seed)
    : dataset_(dataset),
      data_(data),
      settings_(settings),
      model_(model),
      parameters_(parameters),
      seed_(seed) {}

RankingBatch NewsTraining::empty_batch() const {
  return RankingBatch(static_cast<std::size_t>(settings_.negatives) + 1,
                      static_cast<std::size_t>(settings_.max_history));
}

void NewsTraining::add_sample(RankingBatch& batch, const TrainingSample& sample, RandomSource& random,
                              float weight) {
  const Impression impression = dataset_.impression(sample.impression);
  std::vector<ItemId> negatives;
  if (!sample_negatives(impression, static_cast<std::size_t>(settings_.negatives), random, negatives)) return;
  negatives.insert(negatives.begin(), impression.shown[sample.clicked_position]);
  batch.add(impression.history, negatives, weight, impression.user);
}

void NewsTraining::add_user(RankingBatch& batch, std::uint32_t round, UserId user, float weight) {
  SeededRandom random(seed_, Purpose::negative_sampling, round, user);
  for (const TrainingSample& sample : data_.of(user)) add_sample(batch, sample, random, weight);
}

LocalGradient NewsTraining::backward(const RankingBatch& batch, Pass pass) {
  parameters_.zero_gradients();
  const torch::Tensor loss = batch.loss(model_, pass);
  loss.backward();
  return {parameters_.gradients(), loss.item<double>(), batch.samples()};
}

LocalGradient NewsTraining::cohort_gradient(std::uint32_t round, std::span<const UserId> users,
                                            Weighting weighting) {
  RankingBatch batch = empty_batch();
  for (const UserId user : users)
    add_user(batch, round, user, weighting == Weighting::paper ? static_cast<float>(samples_of(user)) : 1.0F);
  return backward(batch, Pass::train(seed_, round));
}

LocalGradient NewsTraining::user_gradient(std::uint32_t round, UserId user) {
  RankingBatch batch = empty_batch();
  add_user(batch, round, user, 1);
  return backward(batch, Pass::train(seed_, round, user + 1));
}

LocalGradient NewsTraining::batch_gradient(std::uint32_t round, std::span<const TrainingSample> samples) {
  RankingBatch batch = empty_batch();
  SeededRandom random(seed_, Purpose::negative_sampling, round);
  for (const TrainingSample& sample : samples) add_sample(batch, sample, random, 1);
  return backward(batch, Pass::train(seed_, round));
}

LocalGradient NewsTraining::user_epochs(std::uint32_t round, UserId user, const LocalEpochs& local) {
  torch::NoGradGuard no_grad;
  const torch::Tensor start = parameters_.values().clone();
  SeededRandom negatives(seed_, Purpose::negative_sampling, round, user),
      order(seed_, Purpose::batch_order, round, user);
  Pass pass = Pass::train(seed_, round, user + 1);
  LocalGradient total;
  std::vector<TrainingSample> samples = data_.of(user);
  for (std::int64_t epoch = 0; epoch < local.epochs; ++epoch) {
    shuffle(std::span(samples), order);
    for (std::size_t first = 0; first < samples.size(); first += static_cast<std::size_t>(local.batch)) {
      RankingBatch batch = empty_batch();
      for (std::size_t i = first; i < std::min(samples.size(), first + static_cast<std::size_t>(local.batch));
           ++i)
        add_sample(batch, samples[i], negatives, 1);
      LocalGradient step;
      {
        torch::AutoGradMode with_grad(true);
        step = backward(batch, Pass{true, pass.next_seed()});
      }
      parameters_.values().sub_(step.gradient, local.learning_rate / static_cast<double>(step.samples));
      if (epoch == 0) total.loss += step.loss;
    }
  }
  total.samples = samples.size();
  total.gradient = start - parameters_.values();
  parameters_.values().copy_(start);
  return total;
}

}  // namespace sotto
