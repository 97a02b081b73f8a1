#pragma once
// What all recipes over news models share: text, word vectors, model, training data, and the way through the
// round engine to test metrics.

#include <memory>

#include "fl/federated_source.h"
#include "fl/training_data.h"
#include "model/fednewsrec_model.h"
#include "recipes/recipe.h"
#include "text/text_settings.h"
#include "text/vocabulary.h"

namespace sotto {

struct NewsSettings {
  TextSettings text;
  FedNewsRecShape shape;
  TrainingDataSettings data;
  std::string glove;
  double word_scale = 0.1;
  void bind(SettingsTable& table);
};

// Everything is built from (data, settings, seed). Movable; refers to the request's data set.
class NewsRun {
 public:
  // Builds the vocabulary, or loads the one a resumed or finished run has written.
  static Result<NewsRun> prepare(const NewsSettings& settings, const RunRequest& request);

  const TrainingData& data() const { return *data_; }
  NewsTraining& training() { return *training_; }
  FlatParameters& parameters() { return *parameters_; }
  std::uint64_t dimension() const { return static_cast<std::uint64_t>(parameters_->size()); }

  Result<TrainOutcome> train(UpdateSource& source, const OptimiserSettings& optimiser,
                             const EngineSettings& engine);
  Result<MeanImpressionMetrics> evaluate_best();

 private:
  NewsRun(const NewsSettings& settings, const RunRequest& request) : settings_(settings), request_(request) {}
  Result<torch::Tensor> word_vectors(const Vocabulary& vocabulary) const;
  MeanImpressionMetrics measure(const std::vector<std::uint32_t>& impressions);

  const NewsSettings& settings_;
  const RunRequest& request_;
  std::unique_ptr<TrainingData> data_;
  std::shared_ptr<FedNewsRecModel> model_;
  std::unique_ptr<FlatParameters> parameters_;
  std::unique_ptr<NewsTraining> training_;
};

}  // namespace sotto
