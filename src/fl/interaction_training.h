#pragma once
// Updates of users on interaction data: REPTILE (differences of weights after local steps) or MAML. Cohorts
// are trained in chunks of copies that fit the memory given.

#include "fl/copy_training.h"
#include "fl/interaction_tasks.h"
#include "fl/user_updates.h"
#include "model/flat_parameters.h"

namespace sotto {

enum class MetaLearning { reptile, maml };

struct MeanUpdate {
  torch::Tensor direction;  // [P]
  double loss = 0;          // mean over users
  std::uint64_t samples = 0;
};

// Refers to everything it is given.
class InteractionTraining final : public UserUpdates {
 public:
  InteractionTraining(const InteractionData& data, const TabularInputs& inputs, InteractionTasks tasks,
                      const TabularModel& model, FlatParameters& parameters, const CopySettings& settings,
                      MetaLearning method);

  // Mean over the users of what each_update() hands out, without ever laying out a single user's.
  MeanUpdate mean_update(std::uint32_t round, std::span<const UserId> users);
  Status each_update(std::uint32_t round, std::span<const UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override;
  const torch::Tensor& values() const { return parameters_.values(); }

  // Scores of all items for a test user in the situation of one of its rows, after fine-tuning on its support
  // rows.
  void score_test_users(std::int64_t tuning_epochs, double tuning_rate, const TakeScores& take) const;

 private:
  using ChunkUse =
      std::function<Status(std::span<const TabularTask>, const TabularChunk&, const TrainedCopies&)>;
  Status in_chunks(std::span<const TabularTask> tasks, const ChunkUse& use) const;
  std::size_t chunk_end(std::span<const TabularTask> tasks, std::size_t begin) const;
  TabularTask task_of(std::uint32_t round, UserId user) const;
  void score_one(std::size_t test_user, const TabularParts& parts, const TakeScores& take) const;

  const InteractionData& data_;
  const TabularInputs& inputs_;
  InteractionTasks tasks_;
  const TabularModel& model_;
  FlatParameters& parameters_;
  CopySettings settings_;
  MetaLearning method_;
};

}  // namespace sotto
