#pragma once
// Updates of users on interaction data: REPTILE (differences of weights after local steps) or MAML. Cohorts
// are trained in chunks of copies that fit the memory given.

#include "base/random.h"
#include "fl/copy_training.h"
#include "fl/interaction_data.h"
#include "fl/round_update.h"
#include "model/flat_parameters.h"
#include "model/interactions/tabular_batch.h"

namespace sotto::fl {

// What one device trains on in one round, drawn from its own rows: which of its positives it remembers and
// which it predicts, the negatives beside them, and how these are cut into local steps: as devices draw it
// (local/interaction_steps.h).
struct TaskSettings {
  std::string labels = "sampled";
  std::int64_t negatives = 10, local_epochs = 1, local_batch = 64, local_steps = 1;
  void bind(SettingsTable& table);
  void bind_local_epochs(SettingsTable& table);  // where devices train a copy of the model (REPTILE)
};

// Immutable, safe to share between threads. Draws are addressed by (seed, round, user).
class InteractionTasks {
 public:
  // Refers to the data set and to `inputs`. labels=ratings is refused for data without negative ratings.
  static Result<InteractionTasks> create(const data::Dataset& dataset, const InteractionData& data,
                                         const model::TabularInputs& inputs, const TaskSettings& settings,
                                         std::uint64_t seed);

  // Local epochs of a training user.
  model::TabularTask training(std::uint32_t round, const UserRows& rows) const;
  // MAML: one step on a random half of the rows (support) and one on the other half (query). A user with one
  // positive has it in both.
  model::TabularTask halves(std::uint32_t round, const UserRows& rows) const;
  // Fine-tuning of a test user on its support rows.
  model::TabularTask tuning(const UserRows& support, std::int64_t epochs) const;
  // What the device of a user remembers when it scores: its positive items.
  std::vector<data::ItemId> remembered(const UserRows& support) const;

 private:
  InteractionTasks(const data::Dataset& dataset, const model::TabularInputs& inputs,
                   const TaskSettings& settings, std::uint64_t seed)
      : dataset_(dataset), inputs_(inputs), settings_(settings), seed_(seed) {}
  model::TabularTask draw(const UserRows& rows, std::int64_t epochs, std::int64_t most_steps,
                          RandomSource& random) const;

  const data::Dataset& dataset_;
  const model::TabularInputs& inputs_;
  TaskSettings settings_;
  std::uint64_t seed_;
};

enum class MetaLearning { reptile, maml };

struct MeanUpdate {
  torch::Tensor direction;  // [P]
  double loss = 0;          // mean over users
  std::uint64_t samples = 0;
};

// Refers to everything it is given.
class InteractionTraining final : public UserUpdates {
 public:
  InteractionTraining(const InteractionData& data, const model::TabularInputs& inputs, InteractionTasks tasks,
                      const model::TabularModel& model, model::FlatParameters& parameters,
                      const CopySettings& settings, MetaLearning method);

  // Mean over the users of what each_update() hands out, without ever laying out a single user's.
  MeanUpdate mean_update(std::uint32_t round, std::span<const data::UserId> users);
  Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override;
  // The same as they are laid out, in blocks of at most block_bytes.
  Status each_block(std::uint32_t round, std::span<const data::UserId> users,
                    const std::function<Status(const UpdateBlock&)>& take) override;
  const torch::Tensor& values() const { return parameters_.values(); }

  // Scores of all items for a test user in the situation of one of its rows, after fine-tuning on its support
  // rows.
  void score_test_users(std::int64_t tuning_epochs, double tuning_rate, const TakeScores& take) const;

 private:
  using ChunkUse = std::function<Status(std::span<const model::TabularTask>, const model::TabularChunk&,
                                        const TrainedCopies&)>;
  Status in_chunks(std::span<const model::TabularTask> tasks, const ChunkUse& use) const;
  std::size_t chunk_end(std::span<const model::TabularTask> tasks, std::size_t begin) const;
  model::TabularTask task_of(std::uint32_t round, data::UserId user) const;
  void score_one(std::size_t test_user, const model::TabularParts& parts, const TakeScores& take) const;

  const InteractionData& data_;
  const model::TabularInputs& inputs_;
  InteractionTasks tasks_;
  const model::TabularModel& model_;
  model::FlatParameters& parameters_;
  CopySettings settings_;
  MetaLearning method_;
};

}  // namespace sotto::fl
