#pragma once
// A generated newsroom and FedNewsRec at the paper's size on it, tuned and as one writes it first, over the
// same weights: what `sotto bench step` and `sotto bench cohort` compare.

#include <memory>

#include "bench/training/padded_fednewsrec.h"
#include "fl/news_training.h"
#include "model/news/fednewsrec_model.h"

namespace sotto::bench {

// growing: every impression with what was read before it, as the newsroom writes it. one_per_user: that of
// the first impression beside all of them, as MIND writes it; a model then reads it once for all of them.
enum class BenchHistories { growing, one_per_user };

class BenchNews {
 public:
  // Data in a temporary folder that goes with the object. Both models without dropout.
  static Result<std::unique_ptr<BenchNews>> create(std::int64_t users, std::int64_t news,
                                                   BenchHistories histories = BenchHistories::growing);
  ~BenchNews();
  BenchNews(const BenchNews&) = delete;
  BenchNews& operator=(const BenchNews&) = delete;

  fl::NewsTraining& tuned() { return *tuned_; }
  fl::NewsTraining& straightforward() { return *straightforward_; }
  model::FlatParameters& parameters() { return *parameters_; }
  // The first `count` training users.
  std::span<const data::UserId> users(std::size_t count) const { return std::span(data_.users).first(count); }
  // The users whose own news (read or shown) are nearest to `own` in number.
  std::vector<data::UserId> users_with(std::size_t count, std::size_t own) const;
  // Floating-point operations of the matrix products of one summed step over the users: no padding counted.
  double step_operations(std::span<const data::UserId> users) const;

 private:
  BenchNews(fs::path folder, data::Dataset dataset)
      : folder_(std::move(folder)), dataset_(std::move(dataset)) {}

  fs::path folder_;
  data::Dataset dataset_;
  fl::TrainingDataSettings settings_;
  fl::TrainingData data_;
  std::shared_ptr<const model::ItemFeatures> items_;
  std::shared_ptr<model::FedNewsRecModel> model_;
  std::shared_ptr<PaddedFedNewsRec> padded_;
  std::unique_ptr<model::FlatParameters> parameters_;
  std::unique_ptr<fl::NewsTraining> tuned_, straightforward_;
};

// GFLOP/s of a large single-precision matrix product with the threads torch has now.
double sgemm_rate();

}  // namespace sotto::bench
