#pragma once
// A recipe is one system of the literature, or our own, as a short list of shared parts. It declares its
// settings in one table, says what it guarantees, and trains a run.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/settings.h"
#include "data/dataset.h"
#include "fl/interaction_data.h"
#include "fl/remote_rounds.h"
#include "fl/round_engine.h"
#include "metrics/held_out_report.h"
#include "metrics/ranking.h"
#include "model/news/ranking_model.h"
#include "privacy/accounting/datasheet.h"
#include "privacy/noise/noise_origin.h"
#include "recipes/setting_conditions.h"
#include "recipes/trained_factors.h"
#include "recipes/trained_news.h"

namespace sotto::recipes {

// Metrics of a model on impressions of a data set, reading at most `max_history` clicks per user. Given by
// the caller: evaluation stands above the recipes. What it answers after an interrupt means nothing.
using Evaluate = std::function<metrics::MeanImpressionMetrics(
    model::RankingModel& model, const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
    std::size_t max_history)>;

// One private answer per query: which of so many public prototypes the reader resembles, by k-ary randomised
// response.
struct PrototypeQuery {
  double epsilon = 0;
  std::size_t prototypes = 0;
};
// The same when the server ranks by such answers alone. Prototypes and averages are made from the items.
using EvaluateServed = std::function<Result<metrics::MeanImpressionMetrics>(
    model::RankingModel& model, const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
    std::size_t max_history, const PrototypeQuery& query, std::uint64_t seed)>;

// The same for interaction data: `score` calls back with the scores of all items for every test user.
using ScoreTestUsers = std::function<void(const fl::TakeScores& take)>;
using EvaluateHeldOut = std::function<metrics::HeldOutReport(
    const data::Dataset& dataset, const fl::InteractionData& data, const ScoreTestUsers& score)>;

// Impressions or interactions, by the data a recipe trains on.
using TestMetrics = std::variant<metrics::MeanImpressionMetrics, metrics::HeldOutReport>;

struct RunRequest {
  const data::Dataset& dataset;
  fs::path run;  // an existing folder; the recipe writes its files here
  std::uint64_t seed = 1;
  std::string device = "cpu";
  bool resume = false;
  Evaluate evaluate = {};  // of test impressions
  fl::Observe observe = {};
  EvaluateHeldOut evaluate_held_out = {};
  EvaluateServed evaluate_served = {};
  // Noise follows from the seed: a simulation, for which no ε holds. Otherwise it is secret, and the seed
  // fixes data order, initial weights and cohorts that anybody may know.
  bool reproducible = false;
  Evaluate validate = {};              // of validation impressions, between rounds; empty: evaluate
  fl::Begin begin = {};                // before the first round
  std::function<void()> trained = {};  // after the last one, before anything is tested
  // The data set is a catalogue without users: nobody trains here, and nothing is tested.
  bool catalogue_only = false;
  // Where devices are not simulated, over a catalogue alone: the recipe's own budget is not asked for,
  // because the campaign has one. Must outlive the run.
  const fl::RemoteRounds* remote = nullptr;
  std::uint64_t devices = 0;  // that a campaign is drafted for, where their number decides about sizes
  std::uint64_t test_impressions = 0;  // tests on so many, drawn by a fixed seed (run_data.h); 0: all

  // Of noise, of rounding where it matters to an ε, and of cohorts whose secrecy an ε counts on.
  privacy::NoiseOrigin noise() const {
    return reproducible ? privacy::NoiseOrigin::reproducible(seed) : privacy::NoiseOrigin::secret();
  }
  // cpu, or cuda where libtorch sees one.
  Result<torch::Device> compute_device() const;
};

struct TrainOutcome {
  fl::RunSummary summary;
  metrics::MeanImpressionMetrics test;             // of recipes that train on impressions
  std::optional<metrics::HeldOutReport> held_out;  // of recipes that train on interactions
  // Where the device ranks (test), what the server would make of private answers alone.
  std::optional<metrics::MeanImpressionMetrics> served;
  std::int64_t parameters = 0;
  std::uint64_t training_users = 0, training_samples = 0;
  std::uint64_t bytes_down = 0, bytes_up = 0;        // per client and round
  std::optional<privacy::PrivacyDatasheet> privacy;  // of recipes with differential privacy
};

// Says which recipes devices train, where one is asked for that they do not.
tl::unexpected<Error> not_on_devices();

class Recipe {
 public:
  virtual ~Recipe() = default;
  virtual void bind(SettingsTable& table) = 0;
  // Whether training under these settings promises every user an epsilon. It then sees the public part of a
  // data set and users' own rows alone (run_data.h).
  virtual bool promises_epsilon() const { return false; }
  // Which of its settings are read only where another has some value, beyond those of the shared parts.
  virtual std::vector<SettingCondition> conditions() const { return {}; }
  virtual Result<TrainOutcome> train(const RunRequest& request) = 0;
  // What devices train of it, over the catalogue of the request: their side of simulated rounds with
  // updates=device, and of a campaign, whose versions train() makes when the request is remote. Refused where
  // there is no such side.
  virtual Result<fl::DeviceTask> device_task(const RunRequest& /*request*/) { return not_on_devices(); }
  // Test metrics of the best parameters of a finished (or interrupted) run, possibly on other data.
  virtual Result<TestMetrics> evaluate(const RunRequest& request) = 0;
  // The model of such a run with its best parameters. Refuses where no news model was trained.
  virtual Result<TrainedNews> open(const RunRequest& request);
  // The vectors of such a run that devices rank items by; none where it has a news model instead, or nothing
  // that a device could rank by.
  virtual Result<std::optional<TrainedFactors>> open_factors(const RunRequest& request);
};

// Declares the settings of a recipe in an empty table. Which there are, and their defaults, depend on the
// model, the mode and the variant where a recipe has a choice of them: those that the assignments (key=value)
// or the TOML file name last, unless empty.
Status bind_settings(Recipe& recipe, SettingsTable& table, const std::vector<std::string>& assignments,
                     const fs::path& toml = {});

struct RecipeEntry {
  std::string_view name, summary;
  std::string_view guarantee;  // what holds against whom, in full sentences
  bool differentially_private;
  std::unique_ptr<Recipe> (*make)();
  bool on_devices = false;  // it has a device_task(), and local::find_trainer() knows it
};

// The one table of all recipes.
std::span<const RecipeEntry> recipes();
// An unknown name suggests the nearest one.
Result<const RecipeEntry*> find_recipe(std::string_view name);

}  // namespace sotto::recipes
