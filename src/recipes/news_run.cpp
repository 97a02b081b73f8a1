#include "recipes/news_run.h"

#include <algorithm>
#include <numeric>

#include "base/log.h"
#include "fl/device_updates.h"
#include "recipes/news_text.h"
#include "recipes/run_data.h"

namespace sotto::recipes {
namespace {

std::string federated_models() {
  std::string names;
  for (const auto& entry : model::models())
    if (entry.federated()) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

}  // namespace

NewsSettings NewsSettings::private_nrms() {
  NewsSettings settings;
  settings.model = "nrms";
  settings.shape.train_words = true;
  settings.data.validation_impressions = 0;
  return settings;
}

void NewsSettings::bind(SettingsTable& table) {
  const auto found = model::find_model(model);
  if (!found) return;  // the run is refused, with advice
  const model::ModelEntry& entry = **found;
  if (entry.user_ids()) shape.user_mask = entry.user_mask;
  shape.bind(table, [&](std::string_view name) { return entry.reads_setting(name); });
  data.bind(table);
  table.add_choice("precision", precision, {"fp32", "bf16"},
                   "Matrix products in training: 32 bits, or 16 on a GPU (mixed precision)");
  text.bind(table);
  if (entry.features.abstracts)
    table.add("max_abstract_words", max_abstract_words, {1, 100'000}, "Words of an abstract that are read");
  if (entry.reads_setting("word_size"))
    table
        .add("glove", glove,
             "File of GloVe word vectors to start from (.txt, .xz, .gz, .zst); empty: random ones")
        .add("word_scale", word_scale, {1e-6, 100.0}, "Standard deviation of random word vectors");
  if (entry.reads_setting("vector_size"))
    table.add("vector_size", vector_size, {1, 4096},
              "Size of the item vectors made from the catalogue's words");
  if (entry.reads_setting("bert")) bert.bind(table);
}

void NewsSettings::bind_with_choice(SettingsTable& table) {
  std::vector<std::string> names;
  for (const auto& entry : model::models()) names.emplace_back(entry.name);
  table.add_choice("model", model, std::move(names), "News model; the settings below are those it reads");
  bind(table);
}

Status check_federated(const NewsSettings& settings) {
  SOTTO_TRY(const auto* entry, model::find_model(settings.model));
  if (entry->federated()) return {};
  return bad_input(
      "{} {}, which devices do not share: choose --set model=NAME among {}, or train it in one place with "
      "central --set model={}",
      entry->name,
      entry->user_ids() ? "keeps a vector of every user's own" : "scores every item anew for every user",
      federated_models(), entry->name);
}

Result<NewsRun> NewsRun::prepare(const NewsSettings& settings, const RunRequest& request) {
  NewsRun run(settings, request);
  SOTTO_TRY(const auto* entry, model::find_model(settings.model));
  SOTTO_TRY(const auto device, request.compute_device());
  SOTTO_TRY(const auto precision, model::precision_on(settings.precision, request.device));
  run.data_ = std::make_unique<fl::TrainingData>();
  if (!request.catalogue_only) {
    SOTTO_TRY(*run.data_, fl::prepare_training_data(request.dataset, settings.data, request.seed));
    keep_drawn_tests(run.data_->test, request);
  }
  torch::manual_seed(request.seed);
  SOTTO_TRY(auto text, read_news_text(settings, request, *entry));
  run.items_ = text.items;
  run.words_ = text.words;
  run.read_ = std::move(text.read);
  model::ModelInputs inputs{settings.shape, std::move(text.words), std::move(text.items),
                            entry->user_ids() ? model::KnownUsers{run.data_->users} : model::KnownUsers{},
                            std::move(text.bert)};
  SOTTO_CHECK(check_learned_codes(request.run, request.dataset, *entry, inputs.known));
  if (entry->features.entities && inputs.items->entity_count == 0)
    info("{} names no entities: {} reads the words alone", request.dataset.name(), entry->name);
  run.model_ = entry->make(inputs);
  if (settings.wrap) run.model_ = settings.wrap(std::move(run.model_));
  run.model_->to(device);
  run.parameters_ = std::make_unique<model::FlatParameters>(*run.model_);
  run.training_ = std::make_unique<fl::NewsTraining>(request.dataset, *run.data_, settings.data, *run.model_,
                                                     *run.parameters_, request.seed, precision);
  return run;
}

metrics::MeanImpressionMetrics NewsRun::measure(const Evaluate& evaluate,
                                                const std::vector<std::uint32_t>& impressions) {
  return evaluate(*model_, request_.dataset, impressions,
                  static_cast<std::size_t>(settings_.data.max_history));
}

TrainedNews NewsRun::trained() const {
  TrainedNews news{.model = model_,
                   .model_name = settings_.model,
                   .shape = settings_.shape,
                   .max_history = static_cast<std::size_t>(settings_.data.max_history),
                   .items = items_,
                   .read = read_,
                   .category_names = {},
                   .subcategory_names = {}};
  const data::Catalogue& catalogue = request_.dataset.catalogue();
  for (std::size_t i = 0; i < catalogue.category_names.size(); ++i)
    news.category_names.emplace_back(catalogue.category_names[i]);
  for (std::size_t i = 0; i < catalogue.subcategory_names.size(); ++i)
    news.subcategory_names.emplace_back(catalogue.subcategory_names[i]);
  return news;
}

Result<TrainOutcome> NewsRun::train(fl::UpdateSource& source, const fl::OptimiserSettings& optimiser_settings,
                                    const fl::EngineSettings& engine_settings) {
  SOTTO_TRY(const auto optimiser, fl::make_optimiser(optimiser_settings, parameters_->values()));
  return train(source, *optimiser, engine_settings);
}

Result<TrainOutcome> NewsRun::train(fl::UpdateSource& source, fl::ServerOptimiser& optimiser,
                                    const fl::EngineSettings& engine_settings) {
  fl::RoundEngine engine(engine_settings, request_.run, *parameters_, source, optimiser);
  fl::Validate validate;
  if (!data_->validation.empty())
    validate = [&] {
      return measure(request_.validate ? request_.validate : request_.evaluate, data_->validation).mean;
    };
  TrainOutcome outcome;
  SOTTO_TRY(outcome.summary, engine.run(request_.resume, validate, request_.observe, request_.begin));
  if (request_.trained) request_.trained();
  // After Ctrl-C the caller wants its prompt back; 'sotto eval' measures the saved run.
  if (!outcome.summary.interrupted) outcome.test = measure_test();
  outcome.parameters = parameters_->size();
  outcome.training_users = data_->users.size();
  outcome.training_samples = data_->sample_count();
  if (!outcome.summary.rounds.empty()) {
    outcome.bytes_down = outcome.summary.rounds.back().bytes_down;
    outcome.bytes_up = outcome.summary.rounds.back().bytes_up;
  }
  return outcome;
}

Status NewsRun::load_best() {
  SOTTO_TRY(const auto best, fl::load_checkpoint(request_.run / "best.sotto", parameters_->layout()));
  torch::NoGradGuard no_grad;
  parameters_->values().copy_(best.parameters);
  return {};
}

metrics::MeanImpressionMetrics NewsRun::measure_test() { return measure(request_.evaluate, data_->test); }

Result<TrainOutcome> NewsRun::train_soundly(const fl::PrivateTrainingSettings& budget,
                                            fl::CohortSampler sampler, fl::ServerOptimiser& optimiser,
                                            const fl::EngineSettings& engine, const std::string& recipe,
                                            const MakeTask& task) {
  SOTTO_CHECK(fl::check_nothing_is_chosen(settings_.data));
  SOTTO_CHECK(check_may_train_privately(request_.dataset));
  const auto shape = fl::shape_of(dimension(), sampler, engine.rounds);
  SOTTO_TRY(auto rounds, fl::SoundRounds::begin(budget, shape, request_.run));
  fl::WholeModelFold fold(rounds.plan(), parameters_->values());
  std::unique_ptr<fl::DeviceUpdates> on_devices;
  if (budget.on_devices()) {
    SOTTO_TRY(auto made, task(*this));
    SOTTO_TRY(on_devices,
              fl::DeviceUpdates::create(std::move(made), fold,
                                        fl::impressions_on_devices(request_.dataset, *data_), request_.seed));
  }
  fl::UserUpdates* updates = training_.get();
  if (on_devices) updates = on_devices.get();
  SOTTO_TRY(auto* source,
            rounds.through(fold, *updates, std::move(sampler), request_.noise(), request_.seed));
  SOTTO_TRY(auto outcome, train(*source, optimiser, engine));
  outcome.privacy = rounds.datasheet(recipe);
  return outcome;
}

Result<TrainOutcome> NewsRun::train_remotely(const fl::PrivateTrainingSettings& budget,
                                             fl::ServerOptimiser& optimiser, const fl::EngineSettings& engine,
                                             const MakeTask& task) {
  SOTTO_TRY(const auto made, task(*this));
  fl::WholeModelFold fold(request_.remote->plans.front(), parameters_->values());
  return recipes::train_remotely(request_, made, *parameters_, fold, optimiser, engine, budget.bound_rule());
}

Result<fl::DeviceTask> NewsRun::task_of_whole_model(std::string recipe, LocalSettingsList&& local,
                                                    ItemsAs items) {
  fl::DeviceTask made =
      task_over(request_.dataset.catalogue(), std::move(recipe), std::move(local), parameters_->layout());
  if (items == ItemsAs::vectors) {
    SOTTO_TRY(made.vectors, item_vectors());
    return made;
  }
  // What a recipe puts behind the catalogue's items no device reads.
  const model::ItemText& titles = items_->titles;
  made.titles.offsets.assign(titles.offsets.begin(),
                             titles.offsets.begin() + static_cast<std::ptrdiff_t>(made.ids.size()) + 1);
  made.titles.tokens.assign(titles.tokens.begin(), titles.tokens.begin() + made.titles.offsets.back());
  if (!settings_.shape.train_words) made.words = words_;
  return made;
}

LocalSettingsList NewsRun::local_examples() const {
  LocalSettingsList local;
  local.add("max_history", settings_.data.max_history).add("negatives", settings_.data.negatives);
  return local;
}

void NewsRun::add_title_sizes(LocalSettingsList& local) const {
  const model::NewsShape& shape = settings_.shape;
  local.add("word_size", shape.word_size)
      .add("heads", shape.heads)
      .add("head_size", shape.head_size)
      .add("pooling_size", shape.pooling_size)
      .add("dropout", shape.dropout)
      .add("train_words", shape.train_words)
      .add("vocabulary", shape.train_words ? words_.size(0) : std::int64_t{0});
}

Result<torch::Tensor> NewsRun::item_vectors() {
  auto* towers = dynamic_cast<model::NewsRecommender*>(model_.get());
  if (towers == nullptr) return bad_input("devices train two-tower models, and {} is none", settings_.model);
  std::vector<data::ItemId> all(request_.dataset.item_count());
  std::iota(all.begin(), all.end(), data::ItemId{0});
  torch::NoGradGuard no_grad;
  model::Pass pass{false, 0};
  return towers->encode_items(all, pass).to(torch::kCPU).contiguous();
}

Result<TestMetrics> NewsRecipe::evaluate(const RunRequest& request) {
  SOTTO_TRY(auto run, prepare(request));
  SOTTO_CHECK(run.load_best());
  return run.measure_test();
}

Result<fl::DeviceTask> NewsRecipe::device_task(const RunRequest& request) {
  SOTTO_TRY(auto run, prepare(request));
  return task_of(run);
}

Result<fl::DeviceTask> NewsRecipe::task_of(NewsRun&) { return not_on_devices(); }

Result<TrainedNews> NewsRecipe::open(const RunRequest& request) {
  SOTTO_TRY(auto run, prepare(request));
  SOTTO_CHECK(run.load_best());
  return run.trained();
}

Result<privacy::Guarantee> really_holds(const privacy::MechanismStatement& statement, std::uint64_t times) {
  privacy::PrivacyEvent all = privacy::drawn_exactly(*statement.holds);  // of the law as printed
  all.count = times;
  return privacy::account({&all, 1}, 0, privacy::Method::pure_composition, privacy::Adversary::server);
}

Result<privacy::PrivacyDatasheet> sheet_of_single_uploads(const privacy::MechanismStatement& statement,
                                                          std::int64_t rounds) {
  SOTTO_TRY(const auto holds, really_holds(statement, static_cast<std::uint64_t>(rounds)));
  privacy::PrivacyDatasheet sheet;
  sheet.mode = "paper";
  sheet.sampling = "the server picks and sees the cohort: nothing is gained by sampling";
  sheet.composition = fmt::format("{} rounds, no cap on participations; pure composition", rounds);
  sheet.unit = holds.unit;
  sheet.adjacency = holds.adjacency;
  sheet.epsilon_server = sheet.epsilon_published = holds.epsilon;
  sheet.server_sees = {"who takes part in which round", "every device's noisy gradient on its own"};
  sheet.not_protected = {statement.why};
  return sheet;
}

}  // namespace sotto::recipes
