#pragma once
// A newsroom small enough to train on in a test, and jobs on it.

#include "data/newsroom/newsroom.h"
#include "eval/training_run.h"
#include "test_paths.h"

namespace sotto::testing {

struct SmallNewsroom {
  explicit SmallNewsroom(std::int64_t readers = 300) : dataset(generate(readers)) {}

  TrainJob job(const std::string& recipe, const std::string& out, std::int64_t rounds,
               std::vector<std::string> assignments, const std::string& epsilon = "") const {
    TrainJob job;
    job.recipe = recipe;
    job.out = runs / out;
    job.rounds = rounds;
    job.assignments = std::move(assignments);
    job.epsilon = epsilon;
    return job;
  }
  Result<TrainOutcome> train(const TrainJob& job) const { return train_run(job, dataset, {}); }

  TempFolder data, runs;
  Dataset dataset;

 private:
  Dataset generate(std::int64_t readers) const {
    NewsroomSettings settings;
    settings.users = readers, settings.news = 200, settings.days = 3, settings.seed = 3;
    if (const auto made = generate_newsroom(settings, data / "news"); !made)
      throw std::runtime_error(made.error().message);
    return Dataset::open(data / "news").value();
  }
};

inline std::string refusal(const Result<TrainOutcome>& outcome) {
  return outcome ? "nothing was refused" : outcome.error().message;
}

}  // namespace sotto::testing
