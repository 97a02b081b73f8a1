#include "recipes/interaction_run.h"

#include <fmt/format.h>

#include "fl/device_updates.h"
#include "recipes/run_data.h"

namespace sotto::recipes {

Result<fl::InteractionData> tested_interactions(const RunRequest& request,
                                                const fl::InteractionSettings& settings) {
  SOTTO_TRY(auto data, fl::prepare_interactions(request.dataset, settings, request.seed));
  keep_drawn_tests(data.test, request);
  return data;
}

Result<TrainOutcome> train_to_last_round(const RunRequest& request, model::FlatParameters& parameters,
                                         fl::UpdateSource& source,
                                         const fl::OptimiserSettings& optimiser_settings,
                                         const fl::EngineSettings& engine_settings,
                                         const MeasureTest& measure) {
  SOTTO_TRY(const auto optimiser, fl::make_optimiser(optimiser_settings, parameters.values()));
  fl::RoundEngine engine(engine_settings, request.run, parameters, source, *optimiser);
  TrainOutcome outcome;
  SOTTO_TRY(outcome.summary, engine.run(request.resume, {}, request.observe, request.begin));
  if (request.trained) request.trained();
  if (!outcome.summary.interrupted) {
    const TestMetrics test = measure();
    if (const auto* held_out = std::get_if<metrics::HeldOutReport>(&test)) outcome.held_out = *held_out;
    if (const auto* impressions = std::get_if<metrics::MeanImpressionMetrics>(&test))
      outcome.test = *impressions;
  }
  outcome.parameters = parameters.size();
  if (!outcome.summary.rounds.empty()) {
    outcome.bytes_down = outcome.summary.rounds.back().bytes_down;
    outcome.bytes_up = outcome.summary.rounds.back().bytes_up;
  }
  return outcome;
}

Status load_last_round(const RunRequest& request, model::FlatParameters& parameters) {
  SOTTO_TRY(const auto last, fl::load_checkpoint(request.run / "best.sotto", parameters.layout()));
  torch::NoGradGuard no_grad;
  parameters.values().copy_(last.parameters);
  return {};
}

Result<TestMetrics> measure_last_round(const RunRequest& request, model::FlatParameters& parameters,
                                       const MeasureTest& measure) {
  SOTTO_CHECK(load_last_round(request, parameters));
  return measure();  // may train: devices tune before they are tested
}

InteractionRunSettings InteractionRunSettings::reptile() {
  InteractionRunSettings settings;
  settings.cohort = 30;
  settings.tasks.local_epochs = 20;
  settings.tasks.local_steps = 0;
  settings.copies.local_learning_rate = 0.1;
  settings.copies.proximal = 0.01;
  settings.copies.proximal_norm = "paper";
  settings.tuning_epochs = 5;
  return settings;
}

InteractionRunSettings InteractionRunSettings::printed() {
  InteractionRunSettings settings = reptile();
  settings.inputs = "paper";
  settings.tasks.labels = "ratings";
  return settings;
}

std::vector<SettingCondition> InteractionRunSettings::conditions() const {
  std::vector<SettingCondition> conditions;
  if (tasks.local_steps != 1) return conditions;
  conditions.push_back({"local_epochs", "local_steps", {"0"}});
  // The term's gradient at the start is zero.
  if (tuning_epochs == 0) conditions.push_back({"proximal", "local_steps", {"0"}});
  return conditions;
}

void InteractionRunSettings::bind(SettingsTable& table, UserLearning learning) {
  table
      .add_choice("inputs", inputs, {"rich", "ids", "paper", "leaking"},
                  "What the model reads: rich: what the device remembers, item vectors and features; ids: "
                  "without features; paper: features alone; leaking: also cnt, the answer (Frappe)")
      .add("cohort", cohort, {1, 10000000}, "Users per round (M)")
      .add("tuning_epochs", tuning_epochs, {0, 10000},
           "Epochs of fine-tuning on a test user's device before it is evaluated")
      .add("tuning_rate", tuning_rate, {1e-9, 1e6}, "Step size of fine-tuning");
  data.bind(table);
  shape.bind(table);
  tasks.bind(table);
  copies.bind(table);
  if (learning != UserLearning::reptile) return;
  tasks.bind_local_epochs(table);
  copies.bind_proximal(table);
}

Result<InteractionRun> InteractionRun::prepare(const InteractionRunSettings& settings,
                                               const RunRequest& request, fl::MetaLearning method) {
  InteractionRun run(settings, request);
  SOTTO_TRY(const auto device, request.compute_device());
  run.data_ = std::make_unique<fl::InteractionData>();
  if (!request.catalogue_only) {
    SOTTO_TRY(*run.data_, tested_interactions(request, settings.data));
  }
  SOTTO_TRY(auto inputs, model::build_tabular_inputs(request.dataset, model::input_choice(settings.inputs)));
  run.inputs_ = std::make_unique<model::TabularInputs>(std::move(inputs));
  torch::manual_seed(request.seed);
  run.model_ = std::make_shared<model::TabularModel>(settings.shape, *run.inputs_);
  run.model_->to(device);
  run.parameters_ = std::make_unique<model::FlatParameters>(*run.model_);
  if (request.catalogue_only) return run;
  SOTTO_TRY(auto tasks, fl::InteractionTasks::create(request.dataset, *run.data_, *run.inputs_,
                                                     settings.tasks, request.seed));
  run.training_ = std::make_unique<fl::InteractionTraining>(
      *run.data_, *run.inputs_, std::move(tasks), *run.model_, *run.parameters_, settings.copies, method);
  return run;
}

Result<fl::CohortSampler> InteractionRun::sampler() const {
  return fl::CohortSampler::create(data_->users, settings_.cohort, request_.seed);
}

Result<fl::CohortSampler> InteractionRun::secret_sampler() const {
  return fl::CohortSampler::create(data_->users, settings_.cohort, request_.noise());
}

TestMetrics InteractionRun::measure() const {
  return request_.evaluate_held_out(request_.dataset, *data_, [this](const fl::TakeScores& take) {
    training_->score_test_users(settings_.tuning_epochs, settings_.tuning_rate, take);
  });
}

Result<TrainOutcome> InteractionRun::train(fl::UpdateSource& source, const fl::OptimiserSettings& optimiser,
                                           const fl::EngineSettings& engine) {
  SOTTO_TRY(auto outcome, train_to_last_round(request_, *parameters_, source, optimiser, engine,
                                              [this] { return measure(); }));
  outcome.training_users = data_->users.size();
  outcome.training_samples = data_->row_count();
  return outcome;
}

Result<TrainOutcome> InteractionRun::train_soundly(const fl::PrivateTrainingSettings& budget,
                                                   fl::CohortSampler sampler,
                                                   const fl::OptimiserSettings& optimiser,
                                                   const fl::EngineSettings& engine,
                                                   const std::string& recipe) {
  SOTTO_CHECK(check_may_train_privately(request_.dataset));
  const auto shape = fl::shape_of(dimension(), sampler, engine.rounds);
  SOTTO_TRY(auto rounds, fl::SoundRounds::begin(budget, shape, request_.run));
  fl::WholeModelFold fold(rounds.plan(), parameters_->values());
  std::unique_ptr<fl::DeviceUpdates> on_devices;
  if (budget.on_devices()) {
    SOTTO_TRY(auto task, device_task(recipe));
    SOTTO_TRY(on_devices, fl::DeviceUpdates::create(std::move(task), fold,
                                                    fl::rows_on_devices(request_.dataset, *data_, *inputs_),
                                                    request_.seed));
  }
  fl::UserUpdates* updates = training_.get();
  if (on_devices) updates = on_devices.get();
  SOTTO_TRY(auto* source,
            rounds.through(fold, *updates, std::move(sampler), request_.noise(), request_.seed));
  SOTTO_TRY(auto outcome, train(*source, optimiser, engine));
  outcome.privacy = rounds.datasheet(recipe);
  return outcome;
}

Result<TrainOutcome> InteractionRun::train_remotely(const fl::BoundRule& rule,
                                                    const fl::OptimiserSettings& optimiser_settings,
                                                    const fl::EngineSettings& engine,
                                                    const std::string& recipe) {
  SOTTO_TRY(const auto task, device_task(recipe));
  SOTTO_TRY(const auto optimiser, fl::make_optimiser(optimiser_settings, parameters_->values()));
  fl::WholeModelFold fold(request_.remote->plans.front(), parameters_->values());
  return recipes::train_remotely(request_, task, *parameters_, fold, *optimiser, engine, rule);
}

namespace {

// The names of a feature's values, as everybody may know them.
std::vector<fl::NamedValues> named(const std::vector<model::TabularField>& fields,
                                   const data::Features& features) {
  std::vector<fl::NamedValues> named;
  for (const auto& field : fields) {
    named.push_back({field.name, {}});
    const data::StringColumn& names = features.find_categorical(field.name)->names;
    for (std::size_t i = 0; i < names.size(); ++i) named.back().values.emplace_back(names[i]);
  }
  return named;
}

}  // namespace

Result<fl::DeviceTask> InteractionRun::device_task(const std::string& recipe) const {
  if (inputs_->choice == model::InputChoice::leaking)
    return bad_input("inputs=leaking reads the answer, which no device has: use rich, ids or paper");
  std::vector<std::string> values;
  for (std::size_t f = 0; f < inputs_->field_count(); ++f)
    values.push_back(std::to_string(inputs_->values_of(f)));
  LocalSettingsList local;
  local.add("inputs", settings_.inputs)
      .add("catalogue", inputs_->items)
      .add("field_values", fmt::format("{}", fmt::join(values, ",")))
      .add("user_fields", static_cast<std::int64_t>(inputs_->user.size()))
      .add("context_fields", static_cast<std::int64_t>(inputs_->context.size()))
      .add("embedding", settings_.shape.embedding)
      .add("hidden", settings_.shape.hidden)
      .add("layers", settings_.shape.layers)
      .add("labels", settings_.tasks.labels)
      .add("negatives", settings_.tasks.negatives)
      .add("local_batch", settings_.tasks.local_batch)
      .add("local_epochs", settings_.tasks.local_epochs)
      .add("local_steps", settings_.tasks.local_steps)
      .add("local_learning_rate", settings_.copies.local_learning_rate)
      .add("proximal", settings_.copies.proximal)
      .add("proximal_norm", settings_.copies.proximal_norm)
      .add("tuning_epochs", settings_.tuning_epochs)
      .add("tuning_rate", settings_.tuning_rate)
      .add("positive_above", settings_.data.positive_above)
      .add("rows", settings_.data.rows);
  fl::DeviceTask task =
      task_over(request_.dataset.catalogue(), recipe, std::move(local), parameters_->layout());
  task.item_fields = inputs_->item;
  task.reader_fields = named(inputs_->user, request_.dataset.user_features());
  task.situation_fields = named(inputs_->context, request_.dataset.interactions().context);
  return task;
}

Result<std::optional<TrainedFactors>> InteractionRun::factors_of_best() {
  if (!model_->remembers())
    return bad_input(
        "{} reads features of users and situations alone (inputs={}), which no device pack carries. Train it "
        "with "
        "inputs=rich or ids, or dp-svd at the same epsilon",
        request_.run.string(), settings_.inputs);
  SOTTO_CHECK(load_last_round(request_, *parameters_));
  const auto form = model_->linear_form(*inputs_);
  const auto on_cpu = [](const torch::Tensor& tensor) {
    return tensor.to(torch::kCPU, torch::kFloat32).contiguous();
  };
  const torch::Tensor remembered = on_cpu(form.remembered), scored = on_cpu(form.scored),
                      bias = on_cpu(form.bias);
  // Devices keep eight bits of a row: what a click says and the bias are brought to the size of what ranks
  // it.
  const auto largest = [](const torch::Tensor& tensor) {
    return std::max(tensor.abs().max().item<float>(), 1e-20F);
  };
  const float size = largest(scored), click_scale = size / largest(remembered),
              bias_scale = size / largest(bias);
  const auto items = static_cast<std::size_t>(scored.size(0)),
             width = static_cast<std::size_t>(scored.size(1));
  TrainedFactors made;
  made.size = 2 * width + 1;
  for (std::size_t item = 0; item < items; ++item) {
    const float* click = remembered.data_ptr<float>() + item * width;
    const float* ranked = scored.data_ptr<float>() + item * width;
    for (std::size_t i = 0; i < width; ++i) made.items.push_back(click_scale * click[i]);
    made.items.insert(made.items.end(), ranked, ranked + width);
    made.items.push_back(bias_scale * bias.data_ptr<float>()[item]);
  }
  made.mix.assign(made.size * made.size, 0);
  for (std::size_t i = 0; i < width; ++i) made.mix[i * made.size + width + i] = 1 / click_scale;
  made.constant.assign(made.size, 0);
  made.constant.back() = 1 / bias_scale;
  made.unseen_item.assign(made.size, 0);
  made.unseen_item.back() = bias_scale * bias.min().item<float>();
  return made;
}

Result<TestMetrics> InteractionRun::evaluate_best() {
  return measure_last_round(request_, *parameters_, [this] { return measure(); });
}

}  // namespace sotto::recipes
