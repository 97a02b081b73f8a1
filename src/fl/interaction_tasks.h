#pragma once
// What one device trains on in one round, drawn from its own rows: which of its positives it remembers and
// which it predicts, the negatives beside them, and how these are cut into local steps.

#include "base/random.h"
#include "fl/interaction_data.h"
#include "model/interactions/tabular_batch.h"

namespace sotto {

struct TaskSettings {
  std::string labels = "sampled";
  std::int64_t negatives = 10, local_epochs = 1, local_batch = 64, local_steps = 1;
  void bind(SettingsTable& table);
};

// Immutable, safe to share between threads. Draws are addressed by (seed, round, user).
class InteractionTasks {
 public:
  // Refers to the data set and to `inputs`. labels=ratings is refused for data without negative ratings.
  static Result<InteractionTasks> create(const Dataset& dataset, const InteractionData& data,
                                         const TabularInputs& inputs, const TaskSettings& settings,
                                         std::uint64_t seed);

  // Local epochs of a training user.
  TabularTask training(std::uint32_t round, const UserRows& rows) const;
  // MAML: one step on a random half of the rows (support) and one on the other half (query). A user with one
  // positive has it in both.
  TabularTask halves(std::uint32_t round, const UserRows& rows) const;
  // Fine-tuning of a test user on its support rows.
  TabularTask tuning(const UserRows& support, std::int64_t epochs) const;
  // What the device of a user remembers when it scores: its positive items.
  std::vector<ItemId> remembered(const UserRows& support) const;

 private:
  InteractionTasks(const Dataset& dataset, const TabularInputs& inputs, const TaskSettings& settings,
                   std::uint64_t seed)
      : dataset_(dataset), inputs_(inputs), settings_(settings), seed_(seed) {}
  TabularTask draw(const UserRows& rows, std::int64_t epochs, std::int64_t most_steps,
                   RandomSource& random) const;
  // known: items of the user's rows, ascending.
  std::vector<TabularExample> step(std::span<const std::uint64_t> positives,
                                   std::span<const std::uint64_t> negatives, std::span<const ItemId> known,
                                   RandomSource& random) const;
  std::vector<ItemId> known_items(const UserRows& rows) const;

  const Dataset& dataset_;
  const TabularInputs& inputs_;
  TaskSettings settings_;
  std::uint64_t seed_;
};

}  // namespace sotto
