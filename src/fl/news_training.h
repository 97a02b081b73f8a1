#pragma once
// Gradients of the news papers' loss for users of a data set: summed over a cohort in one batch; each user's
// own, many users in one batch; or one user alone, the readable reference. All draw the same negatives.

#include <cstdint>
#include <functional>
#include <span>

#include "fl/round_update.h"
#include "fl/training_data.h"
#include "model/flat_parameters.h"
#include "model/news/ranking_model.h"
#include "model/recompute.h"

namespace sotto::fl {

struct LocalGradient {
  torch::Tensor gradient;  // [P], summed over the samples; a view that the next call overwrites
  double loss = 0;         // summed
  std::uint64_t samples = 0;
};

// How users are weighted in the mean of a round.
enum class Weighting {
  samples,  // sum of gradients / number of samples: every click counts once
  paper,    // FedNewsRec: gradients are sums over a user's clicks and are weighted by the number of clicks
            // again
  users,    // PrivateRec: the mean over users of each user's mean over its clicks
};
// What one sample of a user with so many counts in the sum over the cohort.
double weight_of_sample(Weighting weighting, std::uint64_t samples);

struct LocalEpochs {
  std::int64_t epochs = 0;  // 0: one gradient, no local steps
  std::int64_t batch = 16;
  double learning_rate = 0.05;
};

// Chooses what a sample ranks: fills `candidates` with the item that counts as clicked and `negatives`
// others, drawing from `random`. False: the sample is left out.
using ChooseCandidates =
    std::function<bool(const data::Impression& impression, std::uint32_t clicked_position,
                       std::size_t negatives, RandomSource& random, std::vector<data::ItemId>& candidates)>;

// Told about each user of a cohort, in order; an error stops the round. The gradient is valid during the
// call.
using EachUser = std::function<Status(data::UserId user, const LocalGradient& own)>;

// Refers to everything it is given; not thread-safe (it computes on the model itself).
class NewsTraining final : public UserUpdates {
 public:
  NewsTraining(const data::Dataset& dataset, const TrainingData& data, const TrainingDataSettings& settings,
               model::RankingModel& model, model::FlatParameters& parameters, std::uint64_t seed,
               model::Precision precision = model::Precision::fp32);

  // Instead of the click and items of the same impression that were not clicked.
  void choose_candidates(ChooseCandidates choose) { choose_ = std::move(choose); }

  // Sum over the users of weight * gradient, in one batch.
  LocalGradient cohort_gradient(std::uint32_t round, std::span<const data::UserId> users,
                                Weighting weighting);
  // Each user's own gradient, or the outcome of its own local epochs: many users at once, as many as fit the
  // memory. Nothing a user gets depends on who else is in the cohort.
  Status user_gradients(std::uint32_t round, std::span<const data::UserId> users, const EachUser& each);
  Status users_epochs(std::uint32_t round, std::span<const data::UserId> users, const LocalEpochs& local,
                      const EachUser& each);
  // One user's own gradient.
  LocalGradient user_gradient(std::uint32_t round, data::UserId user);
  // The same for many, one after another.
  Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override;
  // user_gradients() as they are computed, side by side.
  Status each_block(std::uint32_t round, std::span<const data::UserId> users,
                    const std::function<Status(const UpdateBlock&)>& take) override;
  // One user trains its own copy: gradient holds (start - end) weights. The model is left as it was.
  LocalGradient user_epochs(std::uint32_t round, data::UserId user, const LocalEpochs& local);
  // Gradient of samples chosen by the caller (central training).
  LocalGradient batch_gradient(std::uint32_t round, std::span<const data::TrainingSample> samples);

  // The batch of a cohort's summed gradient.
  model::RankingBatch batch_of(std::uint32_t round, std::span<const data::UserId> users,
                               Weighting weighting = Weighting::samples) const;
  // The same with users told apart, each drawing as it would alone.
  model::RankingBatch batch_apart(std::uint32_t round, std::span<const data::UserId> users) const;
  std::uint64_t samples_of(data::UserId user) const { return data_.of(user).size(); }
  model::FlatParameters& parameters() { return parameters_; }

 private:
  // Negatives come from (seed, round, user): the same whether a user is computed alone or in a cohort.
  void add_user(model::RankingBatch& batch, std::uint32_t round, data::UserId user, float weight) const;
  void add_sample(model::RankingBatch& batch, const data::TrainingSample& sample, RandomSource& random,
                  float weight) const;
  LocalGradient backward(const model::RankingBatch& batch, model::Pass pass);
  // Fills the gradients of a batch that tells users apart; returns each one's loss.
  Result<std::vector<double>> backward_apart(const model::RankingBatch& batch, model::UserParameters& own);
  Status epochs_together(std::uint32_t round, std::span<const data::UserId> users, const LocalEpochs& local,
                         const EachUser& each);
  // How many of the first users fit the memory together.
  std::size_t users_at_once(std::span<const data::UserId> users, std::int64_t bytes_per_parameter) const;
  model::RankingBatch empty_batch() const;

  const data::Dataset& dataset_;
  const TrainingData& data_;
  const TrainingDataSettings& settings_;
  model::RankingModel& model_;
  model::FlatParameters& parameters_;
  std::uint64_t seed_;
  model::Precision precision_;
  ChooseCandidates choose_;
};

}  // namespace sotto::fl
