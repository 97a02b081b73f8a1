#pragma once
// Which impressions train, validate and test a run, and the click samples of every training user.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "data/splits.h"

namespace sotto::fl {

struct TrainingDataSettings {
  std::int64_t negatives = 4, max_history = 50, validation_impressions = 1000;
  double user_share = 1.0;
  std::string validation = "random";
  void bind(SettingsTable& table);
};

struct TrainingData {
  std::vector<data::UserId> users;                         // with at least one sample, ascending
  std::vector<std::vector<data::TrainingSample>> samples;  // by position in `users`
  std::vector<std::uint32_t> validation, test;             // impression numbers

  std::uint64_t sample_count() const;
  // The samples of a user of `users`.
  const std::vector<data::TrainingSample>& of(data::UserId user) const;
};

// Validation: the data's own validation split (a seeded sample of it when larger than asked), else that many
// training impressions, held out of training: a seeded sample of them, or the latest. Training users: a
// seeded `user_share` of those with samples.
Result<TrainingData> prepare_training_data(const data::Dataset& dataset, const TrainingDataSettings& settings,
                                           std::uint64_t seed);

}  // namespace sotto::fl
