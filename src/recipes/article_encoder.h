#pragma once
// Vectors of articles that were written after the model was trained: the text is read with the run's own
// vocabulary and put through the run's news model.
//
// Takes the model over: from creation on its items are those of the batch being encoded, and nobody else may
// ask it about items by number. Safe to call from several threads; one batch is encoded at a time.

#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "model/news/news_recommender.h"
#include "recipes/trained_news.h"

namespace sotto {

struct Article {
  std::string_view title, abstract, category, subcategory;
};

class ArticleEncoder {
 public:
  // The model must be two towers.
  static Result<std::unique_ptr<ArticleEncoder>> create(TrainedNews news);

  std::size_t dimension() const { return dimension_; }
  // One vector per article. An article without a word or category the model knows gets the zero vector.
  Result<std::vector<std::vector<float>>> encode(std::span<const Article> articles) const;

 private:
  ArticleEncoder(TrainedNews news, std::shared_ptr<NewsRecommender> towers);

  const TrainedNews news_;
  const std::shared_ptr<NewsRecommender> towers_;
  const std::size_t dimension_;
  std::unordered_map<std::string_view, std::uint32_t> categories_, subcategories_;  // names of news_
  mutable std::mutex mutex_;
};

}  // namespace sotto
