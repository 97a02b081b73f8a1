// NPA (Wu et al. 2019): attention queries made from the user's own vector choose the words of a title and the
// clicks of a history, so an item has another vector for every reader.
//   query = tanh(Dense(relu(Dense(own vector))));  weights = softmax(row . query)

#include "model/news/news_models.h"
#include "model/news/news_parts.h"

namespace sotto::model {
namespace {

using torch::Tensor;

// [U, user size] -> [U, out]
class PreferenceQuery final : public torch::nn::Module {
 public:
  PreferenceQuery(std::int64_t in, std::int64_t hidden, std::int64_t out)
      : preference_(register_module("preference", std::make_shared<Dense>(in, hidden))),
        query_(register_module("query", std::make_shared<Dense>(hidden, out))) {}
  Tensor forward(const Tensor& own) { return query_->forward(preference_->forward(own).relu()).tanh(); }

 private:
  std::shared_ptr<Dense> preference_, query_;
};

// Weights softmax(row . query of its segment) within each segment: [W, D] -> [N, D]. readers: [N], row
// numbers of `queries`.
Tensor personal_pool(const Tensor& rows, const Segments& segments, const Tensor& queries,
                     const std::vector<std::int64_t>& readers) {
  std::vector<std::int64_t> reader_of_row;
  for (std::size_t n = 0; n < readers.size(); ++n)
    reader_of_row.insert(reader_of_row.end(),
                         static_cast<std::size_t>(segments.offsets()[n + 1] - segments.offsets()[n]),
                         readers[n]);
  return ragged_pool((rows * gather_rows(queries, std::move(reader_of_row))).sum(-1), rows, segments);
}

class NpaModel final : public RankingModel {
 public:
  explicit NpaModel(const ModelInputs& inputs)
      : shape_(inputs.shape),
        items_(inputs.items),
        words_(register_words(*this, inputs)),
        convolution_(register_module("convolution", std::make_shared<WordConvolution>(
                                                        shape_.word_size, shape_.filters, shape_.weights()))),
        own_(register_module("own", std::make_shared<UserVectors>(inputs, shape_.user_size))),
        word_query_(register_module(
            "word_query",
            std::make_shared<PreferenceQuery>(shape_.user_size, shape_.pooling_size, shape_.filters))),
        click_query_(register_module(
            "click_query",
            std::make_shared<PreferenceQuery>(shape_.user_size, shape_.pooling_size, shape_.filters))) {}

  Tensor scores(const ScoreRequest& request, Pass& pass) override {
    const auto [words, titles] = text_rows(words_, items_->titles, request.items, pass);
    const Tensor features =
        dropout(convolution_->forward(dropout(words, shape_.dropout, pass), titles), shape_.dropout, pass);
    const Tensor own = own_->forward(request.histories, pass);
    const Tensor word_queries = word_query_->forward(own), click_queries = click_query_->forward(own);

    // Every click for its reader, then every candidate for its reader.
    const Histories& histories = request.histories;
    std::vector<std::int64_t> items = histories.rows, readers;
    for (std::size_t u = 0; u < histories.size(); ++u)
      readers.insert(readers.end(), static_cast<std::size_t>(histories.offsets[u + 1] - histories.offsets[u]),
                     static_cast<std::int64_t>(u));
    items.insert(items.end(), request.pair_item.begin(), request.pair_item.end());
    readers.insert(readers.end(), request.pair_history.begin(), request.pair_history.end());
    const Tensor vectors = personal_vectors(features, titles, items, word_queries, readers);

    const auto clicked = static_cast<std::int64_t>(histories.rows.size());
    Histories personal = histories;
    for (std::int64_t i = 0; i < clicked; ++i) personal.rows[i] = i;
    const auto [rows, clicks] = clicks_of(vectors.slice(0, 0, clicked), personal, pass);
    std::vector<std::int64_t> everybody(histories.size());
    for (std::size_t u = 0; u < everybody.size(); ++u) everybody[u] = static_cast<std::int64_t>(u);
    const Tensor users = personal_pool(dropout(rows, shape_.dropout, pass), clicks, click_queries, everybody);
    return (vectors.slice(0, clicked) *
            gather_rows(users, {request.pair_history.begin(), request.pair_history.end()}))
        .sum(-1);
  }

 private:
  // Vectors of items[k] (segments of `features`) for readers[k]: [K, filters].
  static Tensor personal_vectors(const Tensor& features, const Segments& titles,
                                 const std::vector<std::int64_t>& items, const Tensor& queries,
                                 const std::vector<std::int64_t>& readers) {
    std::vector<std::int64_t> rows, offsets = {0};
    for (const std::int64_t item : items) {
      for (std::int64_t row = titles.offsets()[item]; row < titles.offsets()[item + 1]; ++row)
        rows.push_back(row);
      offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
    return personal_pool(gather_rows(features, std::move(rows)), Segments(std::move(offsets)), queries,
                         readers);
  }

  NewsShape shape_;
  std::shared_ptr<const ItemFeatures> items_;
  Tensor words_;
  std::shared_ptr<WordConvolution> convolution_;
  std::shared_ptr<UserVectors> own_;
  std::shared_ptr<PreferenceQuery> word_query_, click_query_;
};

}  // namespace

std::shared_ptr<RankingModel> make_npa(const ModelInputs& inputs) {
  return std::make_shared<NpaModel>(inputs);
}

}  // namespace sotto::model
