#include "bench/training/newsroom_models.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <unordered_map>

#include "bench/benchmarks.h"
#include "data/importers/importers.h"
#include "data/newsroom/newsroom.h"
#include "text/vocabulary.h"

namespace sotto::bench {

using torch::Tensor;

namespace {

Status keep_first_histories(const fs::path& behaviors) {
  SOTTO_TRY(const std::string text, read_file(behaviors));
  std::unordered_map<std::string, std::string> first;
  std::string rewritten;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::array<std::string, 5> columns;  // number, user, time, history, impression
    std::istringstream cells(line);
    for (std::string& column : columns) std::getline(cells, column, '\t');
    columns[3] = first.try_emplace(columns[1], columns[3]).first->second;
    rewritten += fmt::format("{}\n", fmt::join(columns, "\t"));
  }
  return write_file_atomically(behaviors, rewritten);
}

}  // namespace

BenchNews::~BenchNews() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Result<std::unique_ptr<BenchNews>> BenchNews::create(std::int64_t users, std::int64_t news,
                                                     BenchHistories histories) {
  constexpr std::uint64_t seed = 1;
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("sotto-bench-{}-{}", ::getpid(), static_cast<int>(histories));
  data::NewsroomSettings newsroom;
  newsroom.users = users, newsroom.news = news, newsroom.seed = seed;
  SOTTO_TRY(const auto report, data::generate_newsroom(newsroom, folder, true));
  (void)report;
  fs::path data = folder;
  if (histories == BenchHistories::one_per_user) {
    for (const char* part : {"train", "dev"})
      SOTTO_CHECK(keep_first_histories(folder / part / "behaviors.tsv"));
    data = folder / "mind";
    SOTTO_TRY(const auto imported, data::import_dataset("mind", folder, data, {}));
    (void)imported;
  }
  SOTTO_TRY(auto dataset, data::Dataset::open(data));
  std::unique_ptr<BenchNews> bench(new BenchNews(folder, std::move(dataset)));
  bench->settings_.validation_impressions = 0;
  SOTTO_TRY(bench->data_, fl::prepare_training_data(bench->dataset_, bench->settings_, seed));

  const text::TextSettings text;
  const text::WordTokenizer tokenizer(text.tokenizer);
  const data::StringColumn titles = bench->dataset_.catalogue().titles;
  const auto vocabulary =
      text::Vocabulary::build(text::count_words(
                                  titles.size(), [&](std::size_t i) { return titles[i]; }, tokenizer),
                              text.vocabulary);
  const model::WordLimits limits{static_cast<std::size_t>(text.max_words), 1};
  model::NewsShape shape;
  shape.dropout = 0;
  torch::manual_seed(seed);
  const model::ModelInputs inputs{
      shape,
      torch::randn({static_cast<std::int64_t>(vocabulary.size()), shape.word_size}) * 0.1,
      std::make_shared<model::ItemFeatures>(
          model::build_item_features(bench->dataset_.catalogue(), {}, tokenizer, vocabulary, limits)),
      {}};
  bench->items_ = inputs.items;
  bench->model_ = std::make_shared<model::FedNewsRecModel>(inputs);
  bench->parameters_ = std::make_unique<model::FlatParameters>(*bench->model_);
  bench->padded_ = std::make_shared<PaddedFedNewsRec>(inputs, *bench->model_, text.max_words,
                                                      bench->settings_.max_history);
  const auto training = [&](model::RankingModel& model) {
    return std::make_unique<fl::NewsTraining>(bench->dataset_, bench->data_, bench->settings_, model,
                                              *bench->parameters_, seed);
  };
  bench->tuned_ = training(*bench->model_);
  bench->straightforward_ = training(*bench->padded_);
  return bench;
}

std::vector<data::UserId> BenchNews::users_with(std::size_t count, std::size_t own) const {
  std::vector<std::pair<std::size_t, data::UserId>> by_distance;
  for (const data::UserId user : data_.users) {
    const std::size_t items = tuned_->batch_of(1, {&user, 1}).items().size();
    by_distance.emplace_back(std::max(items, own) - std::min(items, own), user);
  }
  std::sort(by_distance.begin(), by_distance.end());
  std::vector<data::UserId> users;
  for (const auto& [distance, user] : std::span(by_distance).first(std::min(count, by_distance.size())))
    users.push_back(user);
  return users;
}

double BenchNews::step_operations(std::span<const data::UserId> users) const {
  const model::RankingBatch batch = tuned_->batch_of(0, users);
  const model::NewsShape shape;
  const double in = static_cast<double>(shape.word_size), d = static_cast<double>(shape.attention_size());
  const double pool = static_cast<double>(shape.pooling_size);
  double words = 0, word_pairs = 0, clicks = 0, click_pairs = 0, recent = 0;
  for (const data::ItemId item : batch.items()) {
    const auto length = static_cast<double>(items_->titles.of(item).size());
    words += length, word_pairs += length * length;
  }
  const auto& offsets = batch.histories().offsets;
  for (std::size_t u = 0; u + 1 < offsets.size(); ++u) {
    const double length = std::max<double>(1, static_cast<double>(offsets[u + 1] - offsets[u]));
    clicks += length, click_pairs += length * length;
    recent += std::min(length, static_cast<double>(shape.recent_clicks));
  }
  const double histories = static_cast<double>(batch.histories().size());
  const double convolution = words * 3 * in * d;  // its input needs no gradient: two products, not three
  const double attention = (words + clicks) * d * 3 * d + 2 * (word_pairs + click_pairs) * d;
  const double pooling = (words + clicks + 2 * histories) * d * pool;
  const double recurrence = recent * 6 * d * d;
  return 2 * (2 * convolution + 3 * (attention + pooling + recurrence));
}

double sgemm_rate() {
  constexpr std::int64_t rows = 4096, inner = 900,
                         columns = 400;  // the shape of the largest product of a step
  const Tensor a = torch::randn({rows, inner}), b = torch::randn({inner, columns});
  Tensor c = torch::empty({rows, columns});
  double best = 1e9;
  for (int attempt = 0; attempt < 12; ++attempt) {
    const double start = wall_seconds();
    torch::mm_out(c, a, b);
    best = std::min(best, wall_seconds() - start);
  }
  return 2.0 * rows * inner * columns / best / 1e9;
}

}  // namespace sotto::bench
