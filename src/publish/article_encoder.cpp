#include "publish/article_encoder.h"

#include <numeric>

namespace sotto::publish {
namespace {

// Owns what a Catalogue of texts refers to.
class TextColumn {
 public:
  void add(std::string_view text) {
    bytes_.append(text);
    offsets_.push_back(bytes_.size());
  }
  data::StringColumn column() const { return {offsets_, bytes_}; }

 private:
  std::vector<std::uint64_t> offsets_ = {0};
  std::string bytes_;
};

std::unordered_map<std::string_view, std::uint32_t> codes_of(const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, std::uint32_t> codes;
  for (std::size_t code = 0; code < names.size(); ++code)
    codes.emplace(names[code], static_cast<std::uint32_t>(code));
  return codes;
}

std::uint32_t code_of(const std::unordered_map<std::string_view, std::uint32_t>& codes,
                      std::string_view name) {
  const auto found = codes.find(name);
  return found == codes.end() ? 0 : found->second;
}

TextColumn column_of(const std::vector<std::string>& names) {
  TextColumn column;
  for (const std::string& name : names) column.add(name);
  return column;
}

}  // namespace

Result<std::shared_ptr<const ArticleEncoder>> ArticleEncoder::create(recipes::TrainedNews news) {
  auto towers = std::dynamic_pointer_cast<model::NewsRecommender>(news.model);
  if (!towers)
    return bad_input("{} scores every item anew for every reader: its items have no vectors of their own",
                     news.model_name);
  return std::shared_ptr<const ArticleEncoder>(new ArticleEncoder(std::move(news), std::move(towers)));
}

ArticleEncoder::ArticleEncoder(recipes::TrainedNews news, std::shared_ptr<model::NewsRecommender> towers)
    : news_(std::move(news)),
      towers_(std::move(towers)),
      dimension_(static_cast<std::size_t>(towers_->vector_size())),
      categories_(codes_of(news_.category_names)),
      subcategories_(codes_of(news_.subcategory_names)) {}

Result<std::vector<std::vector<float>>> ArticleEncoder::encode(
    std::span<const serving::CatalogueItem> articles) const {
  if (articles.empty()) return std::vector<std::vector<float>>();
  TextColumn ids, titles, abstracts;
  std::vector<std::uint32_t> categories, subcategories;
  for (const serving::CatalogueItem& article : articles) {
    ids.add("");
    titles.add(article.title);
    abstracts.add(article.abstract);
    categories.push_back(code_of(categories_, article.category));
    subcategories.push_back(code_of(subcategories_, article.subcategory));
  }
  const TextColumn category_names = column_of(news_.category_names),
                   subcategory_names = column_of(news_.subcategory_names);
  data::Catalogue catalogue;
  catalogue.ids = ids.column();
  catalogue.titles = titles.column();
  catalogue.abstracts = abstracts.column();
  catalogue.category_names = category_names.column();
  catalogue.subcategory_names = subcategory_names.column();
  catalogue.categories = categories;
  catalogue.subcategories = subcategories;
  std::vector<data::ItemId> numbers(articles.size());
  std::iota(numbers.begin(), numbers.end(), data::ItemId{0});

  const std::lock_guard lock(mutex_);
  *news_.items = news_.read(catalogue);
  try {
    torch::NoGradGuard no_grad;
    model::Pass pass = model::Pass::evaluation();
    const torch::Tensor rows =
        towers_->encode_items(numbers, pass).to(torch::kCPU, torch::kFloat32).contiguous();
    const float* values = rows.data_ptr<float>();
    std::vector<std::vector<float>> vectors;
    for (std::size_t i = 0; i < articles.size(); ++i)
      vectors.emplace_back(values + i * dimension_, values + (i + 1) * dimension_);
    return vectors;
  } catch (const c10::Error& error) {
    return failed("the news model could not read {} articles: {}", articles.size(),
                  error.what_without_backtrace());
  }
}

}  // namespace sotto::publish
