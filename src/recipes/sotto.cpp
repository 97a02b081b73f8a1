// The flagship. Items are public: their vectors come from the catalogue's words and cost no privacy. Readers
// train what is left, some two hundred numbers of the user model, under user-level distributed noise; so few
// that the noise hardly matters. The tail of the iterates is averaged, no round is chosen. A device adds a
// vector of its own and ranks by itself, or tells the server which public prototype it resembles.
// noise=none: the same training without clipping and noise, to compare with.

#include "recipes/sotto.h"

#include "fl/tail_average.h"
#include "recipes/sotto_parts.h"
#include "recipes/sound_rounds.h"

namespace sotto {
namespace {

class Sotto final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.rounds = 30;
    engine_.bind(table);
    own_.bind(table);
    optimiser_.optimiser = "sgd";  // Adam would make steps as large where there is only noise
    optimiser_.learning_rate = 1;
    optimiser_.momentum = 0.9;
    optimiser_.bind(table);
    private_.bind(table);
    news_.model = "catalogue";
    news_.data.validation_impressions = 0;
    news_.data.negatives = 20;
    news_.bind(table);
    news_.wrap = &with_personal_vectors;
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_CHECK(own_.check(private_));
    SOTTO_TRY(auto run, NewsRun::prepare(news_, request));
    const std::int64_t cohort = own_.cohort_of(run.data().users.size());
    SOTTO_TRY(auto sampler, CohortSampler::create(run.data().users, cohort, request.seed));
    SOTTO_TRY(auto steps, make_optimiser(optimiser_, run.parameters().values()));
    const auto rounds = static_cast<std::uint32_t>(engine_.rounds);
    TailAverage optimiser(std::move(steps), run.parameters().values(), rounds / 2, rounds);
    TrainOutcome outcome;
    if (own_.noise == "none") {
      FederatedSettings plain;
      plain.cohort = cohort;
      FederatedSource source(plain, std::move(sampler), {}, run.training());
      SOTTO_TRY(outcome, run.train(source, optimiser, engine_));
    } else {
      SOTTO_TRY(auto private_rounds, SoundRounds::begin(private_, run, std::move(sampler), engine_, request));
      SOTTO_TRY(outcome, run.train(private_rounds.source(), optimiser, engine_));
      outcome.privacy = own_.beside(private_rounds.datasheet("sotto"));
    }
    SOTTO_CHECK(own_.measure(run, request, news_.data, outcome));
    return outcome;
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, NewsRun::prepare(news_, request));
    // What is handed on is the shared model: no reader's impressions are looked at for it.
    if (request.take_news) return run.evaluate_best();
    return own_.measure_adapted(run, request, news_.data);
  }

 private:
  EngineSettings engine_;
  SottoSettings own_;
  OptimiserSettings optimiser_;
  PrivateTrainingSettings private_;
  NewsSettings news_;
};

}  // namespace

std::unique_ptr<Recipe> make_sotto() { return std::make_unique<Sotto>(); }

}  // namespace sotto
