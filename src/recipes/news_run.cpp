#include "recipes/news_run.h"

#include "base/log.h"
#include "text/glove.h"
#include "text/token_matrix.h"

namespace sotto {

void NewsSettings::bind(SettingsTable& table) {
  shape.bind(table);
  data.bind(table);
  text.bind(table);
  table
      .add("glove", glove,
           "File of GloVe word vectors to start from (.txt, .xz, .gz, .zst); empty: random ones")
      .add("word_scale", word_scale, {1e-6, 100.0}, "Standard deviation of random word vectors");
}

namespace {

Result<Vocabulary> vocabulary_of(const NewsSettings& settings, const RunRequest& request,
                                 const WordTokenizer& tokenizer) {
  const fs::path stored = request.run / "vocabulary.sotto";
  if (fs::exists(stored)) return Vocabulary::load(stored);
  const auto& titles = request.dataset.catalogue().titles;
  auto vocabulary = Vocabulary::build(count_words(
                                          titles.size(), [&](std::size_t i) { return titles[i]; }, tokenizer),
                                      settings.text.vocabulary);
  if (vocabulary.size() <= 2)
    return bad_input("the items of {} have no text, which this recipe reads: use data with titles",
                     request.dataset.name());
  SOTTO_CHECK(vocabulary.save(stored));
  return vocabulary;
}

std::shared_ptr<const ItemText> text_of(const NewsSettings& settings, const Dataset& dataset,
                                        const WordTokenizer& tokenizer, const Vocabulary& vocabulary) {
  const auto& titles = dataset.catalogue().titles;
  const TokenMatrix matrix = build_token_matrix(
      titles.size(), [&](std::size_t i) { return titles[i]; }, tokenizer, vocabulary,
      static_cast<std::size_t>(settings.text.max_words));
  auto text = std::make_shared<ItemText>();
  text->offsets.push_back(0);
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    const auto row = matrix.row(i).first(static_cast<std::size_t>(matrix.lengths[i]));
    text->tokens.insert(text->tokens.end(), row.begin(), row.end());
    text->offsets.push_back(static_cast<std::int64_t>(text->tokens.size()));
  }
  return text;
}

Result<torch::Device> device_of(const std::string& name) {
  if (name == "cpu") return torch::Device(torch::kCPU);
  if (name != "cuda") return bad_input("unknown device '{}': cpu or cuda", name);
  if (!torch::cuda::is_available())
    return bad_input("this build of libtorch sees no CUDA device: use --device cpu");
  return torch::Device(torch::kCUDA);
}

}  // namespace

Result<torch::Tensor> NewsRun::word_vectors(const Vocabulary& vocabulary) const {
  const auto rows = static_cast<std::int64_t>(vocabulary.size()), columns = settings_.shape.word_size;
  if (settings_.glove.empty()) {
    if (!settings_.shape.train_words)
      return bad_input(
          "untrained random word vectors mean nothing: give --set glove=FILE or --set train_words=true");
    return torch::randn({rows, columns}) * settings_.word_scale;
  }
  SOTTO_TRY(auto vectors,
            read_glove(settings_.glove, vocabulary, {request_.seed, static_cast<std::size_t>(columns)}));
  info("word vectors: {} of {} words found in {}", vectors.coverage.words_found, vectors.coverage.words,
       settings_.glove);
  return torch::from_blob(vectors.values.data(), {rows, columns}, torch::kFloat32).clone();
}

Result<NewsRun> NewsRun::prepare(const NewsSettings& settings, const RunRequest& request) {
  NewsRun run(settings, request);
  SOTTO_TRY(const auto device, device_of(request.device));
  SOTTO_TRY(auto data, prepare_training_data(request.dataset, settings.data, request.seed));
  run.data_ = std::make_unique<TrainingData>(std::move(data));
  const WordTokenizer tokenizer(settings.text.tokenizer);
  SOTTO_TRY(const auto vocabulary, vocabulary_of(settings, request, tokenizer));

  torch::manual_seed(request.seed);
  SOTTO_TRY(auto words, run.word_vectors(vocabulary));
  run.model_ = std::make_shared<FedNewsRecModel>(settings.shape, std::move(words),
                                                 text_of(settings, request.dataset, tokenizer, vocabulary));
  run.model_->to(device);
  run.parameters_ = std::make_unique<FlatParameters>(*run.model_);
  run.training_ = std::make_unique<NewsTraining>(request.dataset, *run.data_, settings.data, *run.model_,
                                                 *run.parameters_, request.seed);
  return run;
}

MeanImpressionMetrics NewsRun::measure(const std::vector<std::uint32_t>& impressions) {
  return request_.evaluate(*model_, request_.dataset, impressions,
                           static_cast<std::size_t>(settings_.data.max_history));
}

Result<TrainOutcome> NewsRun::train(UpdateSource& source, const OptimiserSettings& optimiser_settings,
                                    const EngineSettings& engine_settings) {
  SOTTO_TRY(const auto optimiser, make_optimiser(optimiser_settings, parameters_->values()));
  RoundEngine engine(engine_settings, request_.run, *parameters_, source, *optimiser);
  Validate validate;
  if (!data_->validation.empty()) validate = [&] { return measure(data_->validation).mean; };
  TrainOutcome outcome;
  SOTTO_TRY(outcome.summary, engine.run(request_.resume, validate, request_.observe));
  // After Ctrl-C the caller wants its prompt back; 'sotto eval' measures the saved run.
  if (!outcome.summary.interrupted) outcome.test = measure(data_->test);
  outcome.parameters = parameters_->size();
  outcome.training_users = data_->users.size();
  outcome.training_samples = data_->sample_count();
  if (!outcome.summary.rounds.empty()) {
    outcome.bytes_down = outcome.summary.rounds.back().bytes_down;
    outcome.bytes_up = outcome.summary.rounds.back().bytes_up;
  }
  return outcome;
}

Result<MeanImpressionMetrics> NewsRun::evaluate_best() {
  SOTTO_TRY(const auto best, load_checkpoint(request_.run / "best.sotto", parameters_->layout()));
  torch::NoGradGuard no_grad;
  parameters_->values().copy_(best.parameters);
  return measure(data_->test);
}

}  // namespace sotto
