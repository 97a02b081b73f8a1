#pragma once
// What all recipes over news models share: text, word vectors, model, training data, and the way through the
// round engine to test metrics.

#include <functional>
#include <memory>

#include "fl/plain_means.h"
#include "fl/private_training.h"
#include "fl/training_data.h"
#include "model/bert/bert_text.h"
#include "model/news/model_registry.h"
#include "privacy/accounting/account.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "recipes/device_training.h"
#include "text/vocabulary.h"

namespace sotto::recipes {

struct NewsSettings {
  std::string model = "fednewsrec";
  text::TextSettings text;
  model::NewsShape shape;
  model::BertSettings bert;
  fl::TrainingDataSettings data;
  std::string glove;
  double word_scale = 0.1;
  std::string precision = "fp32";
  std::int64_t max_abstract_words = 50, vector_size = 64;
  // Whether an item follows those of the catalogue that has the padding token for its only word.
  bool anonymous_item = false;
  // Puts something of a recipe's own around the model; empty: the model as it is.
  std::function<std::shared_ptr<model::RankingModel>(std::shared_ptr<model::RankingModel>)> wrap;
  // Where private recipes start: NRMS whose word vectors train, and no round is chosen on users' impressions.
  static NewsSettings private_nrms();
  // The settings that `model` reads.
  void bind(SettingsTable& table);
  // The same behind a choice of the model (bind_settings).
  void bind_with_choice(SettingsTable& table);
};

// Refuses models that hold something of every user's own, or encode items for every user anew, with advice.
Status check_federated(const NewsSettings& settings);

class NewsRun;
// What devices train of a run, made where it is needed.
using MakeTask = std::function<Result<fl::DeviceTask>(NewsRun& run)>;

// Everything is built from (data, settings, seed). Movable; refers to the request's data set.
class NewsRun {
 public:
  // Builds the vocabulary, or loads the one a resumed or finished run has written.
  static Result<NewsRun> prepare(const NewsSettings& settings, const RunRequest& request);

  const fl::TrainingData& data() const { return *data_; }
  fl::NewsTraining& training() { return *training_; }
  model::RankingModel& model() { return *model_; }
  model::FlatParameters& parameters() { return *parameters_; }
  std::uint64_t dimension() const { return static_cast<std::uint64_t>(parameters_->size()); }
  const data::Catalogue& catalogue() const { return request_.dataset.catalogue(); }

  Result<TrainOutcome> train(fl::UpdateSource& source, const fl::OptimiserSettings& optimiser,
                             const fl::EngineSettings& engine);
  Result<TrainOutcome> train(fl::UpdateSource& source, fl::ServerOptimiser& optimiser,
                             const fl::EngineSettings& engine);
  // On the sound path, where devices fetch and train the whole model; the page about it is in the outcome.
  // Refuses a run whose best round would be chosen on users' impressions. task: of the devices' code, where
  // the budget's updates are theirs.
  Result<TrainOutcome> train_soundly(const fl::PrivateTrainingSettings& budget, fl::CohortSampler sampler,
                                     fl::ServerOptimiser& optimiser, const fl::EngineSettings& engine,
                                     const std::string& recipe, const MakeTask& task);
  // Versions of a campaign whose devices are elsewhere (RunRequest::remote) and train the whole model.
  Result<TrainOutcome> train_remotely(const fl::PrivateTrainingSettings& budget,
                                      fl::ServerOptimiser& optimiser, const fl::EngineSettings& engine,
                                      const MakeTask& task);

  // What devices train of the whole model, with the items as they read them.
  enum class ItemsAs { vectors, titles };
  Result<fl::DeviceTask> task_of_whole_model(std::string recipe, LocalSettingsList&& local, ItemsAs items);
  // How they take examples: for every recipe over impressions.
  LocalSettingsList local_examples() const;
  // The sizes of models that read titles.
  void add_title_sizes(LocalSettingsList& local) const;

  // [all items, D], on the CPU. Refuses a model that is not of two towers.
  Result<torch::Tensor> item_vectors();

  Status load_best();
  metrics::MeanImpressionMetrics measure_test();  // of the parameters as they are now
  TrainedNews trained() const;                    // likewise

 private:
  NewsRun(const NewsSettings& settings, const RunRequest& request) : settings_(settings), request_(request) {}
  metrics::MeanImpressionMetrics measure(const Evaluate& evaluate,
                                         const std::vector<std::uint32_t>& impressions);

  const NewsSettings& settings_;
  const RunRequest& request_;
  std::unique_ptr<fl::TrainingData> data_;
  std::shared_ptr<model::RankingModel> model_;
  std::shared_ptr<model::ItemFeatures> items_;
  torch::Tensor words_;  // as the model was given them; undefined for models without word vectors
  ReadItems read_;
  std::unique_ptr<model::FlatParameters> parameters_;
  std::unique_ptr<fl::NewsTraining> training_;
};

// A recipe over a news model: how a stored run is measured and opened is the same for all.
class NewsRecipe : public Recipe {
 public:
  Result<TestMetrics> evaluate(const RunRequest& request) override;
  Result<TrainedNews> open(const RunRequest& request) final;
  Result<fl::DeviceTask> device_task(const RunRequest& request) final;

 protected:
  explicit NewsRecipe(NewsSettings news) : news_(std::move(news)) {}
  // Of a prepared run; refused unless a recipe has one.
  virtual Result<fl::DeviceTask> task_of(NewsRun& run);
  MakeTask task() {
    return [this](NewsRun& run) { return task_of(run); };
  }
  // Before training, measuring and opening alike.
  virtual Result<NewsRun> prepare(const RunRequest& request) { return NewsRun::prepare(news_, request); }

  fl::EngineSettings engine_;
  NewsSettings news_;
};

// For systems as printed whose devices upload noised updates one by one.

// What a mechanism that is used `times` times really gives.
Result<privacy::Guarantee> really_holds(const privacy::MechanismStatement& statement, std::uint64_t times);
// One upload in every round, and nothing beside it. Recipe, mechanism and claim are the caller's to name.
Result<privacy::PrivacyDatasheet> sheet_of_single_uploads(const privacy::MechanismStatement& statement,
                                                          std::int64_t rounds);

}  // namespace sotto::recipes
