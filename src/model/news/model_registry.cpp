#include "model/news/model_registry.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/settings.h"
#include "model/news/fednewsrec_model.h"
#include "model/news/news_models.h"

namespace sotto::model {
namespace {

constexpr FeatureUse title{};
constexpr FeatureUse category_codes{.categories = true};
constexpr FeatureUse abstract{.abstracts = true};
constexpr FeatureUse views{.abstracts = true, .categories = true};
constexpr FeatureUse entities{.entities = true};

std::shared_ptr<RankingModel> make_fednewsrec_model(const ModelInputs& inputs) {
  return std::make_shared<FedNewsRecModel>(inputs);
}

}  // namespace

std::span<const ModelEntry> models() {
  static constexpr std::array entries = {
      ModelEntry{"fednewsrec", "convolution and self-attention over words, long- and short-term user model",
                 title, true, 0,
                 "word_size heads head_size pooling_size recent_clicks interests dropout train_words start",
                 &make_fednewsrec_model},
      ModelEntry{"nrms", "self-attention over words and over clicks", title, true, 0,
                 "word_size heads head_size pooling_size dropout train_words start", &make_nrms},
      ModelEntry{"naml", "title, abstract, category and subcategory as views merged by attention", views,
                 true, 0, "word_size filters category_size pooling_size dropout train_words start",
                 &make_naml},
      ModelEntry{"plm-nr", "BERT over word pieces, self-attention over clicks", title, true, 0,
                 "heads head_size pooling_size dropout start bert bert_memory", &make_plm_nr},
      ModelEntry{"lstur", "GRU over clicks with a vector of the user's own", category_codes, true, 0.5,
                 "word_size filters category_size pooling_size recent_clicks user_mask user_start dropout "
                 "train_words start",
                 &make_lstur},
      ModelEntry{"npa", "attention over words and clicks chosen by the user's own vector", title, false, 0.1,
                 "word_size filters user_size user_mask pooling_size dropout train_words start", &make_npa},
      ModelEntry{"ebnr", "denoising encoder over words, GRU over clicks", abstract, true, 0,
                 "word_size filters recent_clicks word_mask dropout train_words start", &make_ebnr},
      ModelEntry{"dkn", "convolution over words and their entities, attention of the candidate over clicks",
                 entities, false, 0, "word_size filters entity_size pooling_size dropout train_words",
                 &make_dkn},
      ModelEntry{"dan", "convolutions over words and entities, attention over clicks and an LSTM", entities,
                 false, 0, "word_size filters entity_size pooling_size dropout train_words", &make_dan},
      ModelEntry{"dfm", "inception modules over reader, history and candidate", category_codes, false, 0.1,
                 "word_size filters category_size user_size user_mask pooling_size dropout train_words",
                 &make_dfm},
      ModelEntry{"fm", "factorisation machine over words, categories and the user", category_codes, true, 0.1,
                 "word_size user_mask train_words", &make_fm},
      ModelEntry{"catalogue", "vectors of the catalogue's words, a reader in some two hundred numbers",
                 abstract, true, 0, "vector_size", &make_catalogue_model},
  };
  return entries;
}

bool ModelEntry::reads_setting(std::string_view setting) const {
  for (std::size_t first = 0; first < reads.size();) {
    const std::size_t last = std::min(reads.find(' ', first), reads.size());
    if (reads.substr(first, last - first) == setting) return true;
    first = last + 1;
  }
  return false;
}

Result<const ModelEntry*> find_model(std::string_view name) {
  std::vector<std::string> names;
  std::string all;
  for (const auto& entry : models()) {
    if (entry.name == name) return &entry;
    names.emplace_back(entry.name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  if (const auto near = nearest(name, names))
    return bad_input("unknown model '{}'; did you mean '{}'? There are {}", name, *near, all);
  return bad_input("unknown model '{}': there are {}", name, all);
}

}  // namespace sotto::model
