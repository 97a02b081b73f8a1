#pragma once
// A newsroom small enough to train on in a test, and jobs on it.

#include "data/newsroom/newsroom.h"
#include "eval/training_run.h"
#include "test_paths.h"

namespace sotto::eval::testing {

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
    job.reproducible = true;
    return job;
  }
  Result<recipes::TrainOutcome> train(const TrainJob& job) const { return train_run(job, dataset, {}); }

  TempFolder data, runs;
  data::Dataset dataset;

 private:
  data::Dataset generate(std::int64_t readers) const {
    data::NewsroomSettings settings;
    settings.users = readers, settings.news = 200, settings.days = 3, settings.seed = 3;
    if (const auto made = data::generate_newsroom(settings, data / "news"); !made)
      throw std::runtime_error(made.error().message);
    return data::Dataset::open(data / "news").value();
  }
};

inline std::string refusal(const Result<recipes::TrainOutcome>& outcome) {
  return outcome ? "nothing was refused" : outcome.error().message;
}

}  // namespace sotto::eval::testing
