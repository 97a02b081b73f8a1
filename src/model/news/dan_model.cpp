// DAN (Zhu et al. 2019). News: convolutions over the words of the title and, in parallel, over the vectors of
// its entities. User: attention of the candidate over the clicks (what) and over the states of an LSTM that
// has read them in order (when), mapped together to the size of a news vector. Score: dot product.

#include "model/layers/recurrent.h"
#include "model/news/news_models.h"
#include "model/news/news_parts.h"

namespace sotto::model {
namespace {

using torch::Tensor;

class DanModel final : public RankingModel {
 public:
  explicit DanModel(const ModelInputs& inputs)
      : shape_(inputs.shape),
        items_(inputs.items),
        words_(register_words(*this, inputs)),
        entities_(register_entities(*this, inputs)),
        title_(register_module("title", std::make_shared<WindowConvolutions>(
                                            shape_.word_size, shape_.filters - shape_.filters / 2))),
        profile_(register_module(
            "profile", std::make_shared<WindowConvolutions>(entities_.size(1), shape_.filters / 2))),
        lstm_(register_module("lstm", std::make_shared<Lstm>(shape_.filters, shape_.filters))),
        interest_(register_module("interest", std::make_shared<CandidateAttention>(
                                                  shape_.filters, shape_.filters, shape_.pooling_size))),
        sequence_(register_module("sequence", std::make_shared<CandidateAttention>(
                                                  shape_.filters, shape_.filters, shape_.pooling_size))),
        user_(register_module("user", std::make_shared<Dense>(2 * shape_.filters, shape_.filters))) {}

  Tensor scores(const ScoreRequest& request, Pass& pass) override {
    const auto [words, titles] = text_rows(words_, items_->titles, request.items, pass);
    const auto [entities, profiles] = text_rows(entities_, items_->title_entities, request.items, pass);
    const Tensor items =
        dropout(torch::cat({title_->forward(dropout(words, shape_.dropout, pass), titles),
                            profile_->forward(dropout(entities, shape_.dropout, pass), profiles)},
                           1),
                shape_.dropout, pass);
    const RaggedRows clicks = clicks_of(items, request.histories, pass);
    const RaggedRows states{lstm_->forward(clicks.rows, clicks.segments), clicks.segments};
    const Tensor users = user_->forward(torch::cat(
        {interest_->forward(clicks, items, request), sequence_->forward(states, items, request)}, 1));
    return (users * gather_rows(items, {request.pair_item.begin(), request.pair_item.end()})).sum(-1);
  }

 private:
  NewsShape shape_;
  std::shared_ptr<const ItemFeatures> items_;
  Tensor words_, entities_;
  std::shared_ptr<WindowConvolutions> title_, profile_;
  std::shared_ptr<Lstm> lstm_;
  std::shared_ptr<CandidateAttention> interest_, sequence_;
  std::shared_ptr<Dense> user_;
};

}  // namespace

std::shared_ptr<RankingModel> make_dan(const ModelInputs& inputs) {
  return std::make_shared<DanModel>(inputs);
}

}  // namespace sotto::model
