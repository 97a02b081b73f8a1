#pragma once
// Vectors of articles that were written after the model was trained: the text is read with the run's own
// vocabulary and put through the run's news model.
//
// Takes the model over: from creation on its items are those of the batch being encoded, and nobody else may
// ask it about items by number. Safe to call from several threads; one batch is encoded at a time.

#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "model/news/news_recommender.h"
#include "recipes/trained_news.h"
#include "serving/pool/serving_model.h"

namespace sotto::publish {

class ArticleEncoder final : public serving::ItemEncoder {
 public:
  // The model must be two towers.
  static Result<std::shared_ptr<const ArticleEncoder>> create(recipes::TrainedNews news);

  // An article without a word or category the model knows gets the zero vector.
  Result<std::vector<std::vector<float>>> encode(
      std::span<const serving::CatalogueItem> articles) const override;

 private:
  ArticleEncoder(recipes::TrainedNews news, std::shared_ptr<model::NewsRecommender> towers);

  const recipes::TrainedNews news_;
  const std::shared_ptr<model::NewsRecommender> towers_;
  const std::size_t dimension_;
  std::unordered_map<std::string_view, std::uint32_t> categories_, subcategories_;  // names of news_
  mutable std::mutex mutex_;
};

}  // namespace sotto::publish
