// DKN (Wang et al. 2018). News: a convolution over words and, as a second channel, the vectors of the
// entities they name (mapped by tanh), maximum over the title. User: attention of the candidate over the
// clicks. Score: two dense layers over user and candidate. Entities stand at the words of their label; the
// paper's third channel, the mean of an entity's neighbours in the knowledge graph, is not in the data.

#include "model/news/news_models.h"
#include "model/news/news_parts.h"

namespace sotto::model {
namespace {

using torch::Tensor;

class DknModel final : public RankingModel {
 public:
  explicit DknModel(const ModelInputs& inputs)
      : shape_(inputs.shape),
        items_(inputs.items),
        words_(register_words(*this, inputs)),
        entities_(register_entities(*this, inputs)),
        entity_map_(
            register_module("entity_map", std::make_shared<Dense>(entities_.size(1), shape_.word_size))),
        title_(register_module("title",
                               std::make_shared<WindowConvolutions>(2 * shape_.word_size, shape_.filters))),
        attention_(register_module("attention", std::make_shared<CandidateAttention>(
                                                    shape_.filters, shape_.filters, shape_.pooling_size))),
        hidden_(register_module("hidden", std::make_shared<Dense>(2 * shape_.filters, shape_.pooling_size))),
        score_(register_module("score", std::make_shared<Dense>(shape_.pooling_size, 1))) {}

  Tensor scores(const ScoreRequest& request, Pass& pass) override {
    const Tensor items = dropout(encode_items(request.items, pass), shape_.dropout, pass);
    const Tensor users = attention_->forward(clicks_of(items, request.histories, pass), items, request);
    const Tensor candidates = gather_rows(items, {request.pair_item.begin(), request.pair_item.end()});
    return score_->forward(hidden_->forward(torch::cat({users, candidates}, 1)).relu()).squeeze(1);
  }

 private:
  Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) {
    std::vector<std::int32_t> words, entities;
    std::vector<std::int64_t> offsets = {0};
    const LinkedText& text = items_->linked_titles;
    for (const data::ItemId item : items) {
      words.insert(words.end(), text.words.begin() + text.offsets[item],
                   text.words.begin() + text.offsets[item + 1]);
      entities.insert(entities.end(), text.entities.begin() + text.offsets[item],
                      text.entities.begin() + text.offsets[item + 1]);
      offsets.push_back(static_cast<std::int64_t>(words.size()));
    }
    // A row without an entity stays zero through the map: only rows with one are mapped.
    const Tensor known = rows_or_zero(entity_map_->forward(entities_in(entities)).tanh(), numbered(entities));
    const Tensor both = torch::cat({rows_or_zero(words_, words), known}, 1);
    return title_->forward(dropout(both, shape_.dropout, pass), Segments(std::move(offsets)));
  }

  Tensor entities_in(const std::vector<std::int32_t>& entities) const {
    std::vector<std::int64_t> rows;
    for (const std::int32_t entity : entities)
      if (entity != LinkedText::none) rows.push_back(entity);
    return gather_rows(entities_, std::move(rows));
  }
  // 0, 1, 2, ... for rows with an entity, none for the others.
  static std::vector<std::int32_t> numbered(const std::vector<std::int32_t>& entities) {
    std::vector<std::int32_t> numbers;
    std::int32_t next = 0;
    for (const std::int32_t entity : entities)
      numbers.push_back(entity == LinkedText::none ? LinkedText::none : next++);
    return numbers;
  }

  NewsShape shape_;
  std::shared_ptr<const ItemFeatures> items_;
  Tensor words_, entities_;
  std::shared_ptr<Dense> entity_map_;
  std::shared_ptr<WindowConvolutions> title_;
  std::shared_ptr<CandidateAttention> attention_;
  std::shared_ptr<Dense> hidden_, score_;
};

}  // namespace

std::shared_ptr<RankingModel> make_dkn(const ModelInputs& inputs) {
  return std::make_shared<DknModel>(inputs);
}

}  // namespace sotto::model
