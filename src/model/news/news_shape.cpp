#include "model/news/news_shape.h"

#include <algorithm>
#include <string>

#include "text/vocabulary.h"

namespace sotto::model {

namespace {

ItemText words_of(const data::StringColumn& texts, const text::WordTokenizer& tokenizer,
                  const text::Vocabulary& vocabulary, std::size_t most) {
  const text::TokenMatrix matrix = text::build_token_matrix(
      texts.size(), [&](std::size_t i) { return texts[i]; }, tokenizer, vocabulary, most);
  ItemText text;
  text.offsets.push_back(0);
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    const auto row = matrix.row(i).first(static_cast<std::size_t>(matrix.lengths[i]));
    text.tokens.insert(text.tokens.end(), row.begin(), row.end());
    text.offsets.push_back(static_cast<std::int64_t>(text.tokens.size()));
  }
  return text;
}

ItemText entities_of(const data::Catalogue& catalogue) {
  ItemText entities;
  entities.offsets.push_back(0);
  for (std::size_t i = 0; i < catalogue.size(); ++i) {
    if (i < catalogue.title_entities.size())
      for (const std::uint32_t entity : catalogue.title_entities[i])
        entities.tokens.push_back(static_cast<std::int32_t>(entity));
    entities.offsets.push_back(static_cast<std::int64_t>(entities.tokens.size()));
  }
  return entities;
}

LinkedText link(const ItemText& titles, const ItemText& entities, const ItemText& labels) {
  LinkedText linked;
  linked.offsets.push_back(0);
  for (data::ItemId item = 0; item < titles.size(); ++item) {
    const auto words = titles.of(item);
    const std::size_t first = linked.words.size();
    linked.words.insert(linked.words.end(), words.begin(), words.end());
    linked.entities.resize(linked.words.size(), LinkedText::none);
    for (const std::int32_t entity : entities.of(item)) {
      const auto label = labels.of(static_cast<data::ItemId>(entity));
      // The unknown word stands for many: it proves nothing.
      const bool known =
          !label.empty() && std::find(label.begin(), label.end(), text::Vocabulary::unknown) == label.end();
      const auto found =
          known ? std::search(words.begin(), words.end(), label.begin(), label.end()) : words.end();
      if (found == words.end()) {
        linked.words.push_back(LinkedText::none);
        linked.entities.push_back(entity);
      } else {
        const auto at =
            linked.entities.begin() + static_cast<std::ptrdiff_t>(first) + (found - words.begin());
        std::fill_n(at, label.size(), entity);
      }
    }
    linked.offsets.push_back(static_cast<std::int64_t>(linked.words.size()));
  }
  return linked;
}

std::vector<std::int32_t> codes_of(std::span<const std::uint32_t> codes, std::size_t items) {
  std::vector<std::int32_t> copied(items, 0);
  std::copy_n(codes.begin(), std::min(codes.size(), items), copied.begin());
  return copied;
}

}  // namespace

ItemFeatures build_item_features(const data::Catalogue& catalogue, const FeatureUse& use,
                                 const text::WordTokenizer& tokenizer, const text::Vocabulary& vocabulary,
                                 const WordLimits& limits) {
  ItemFeatures features;
  features.titles = words_of(catalogue.titles, tokenizer, vocabulary, limits.title);
  if (use.abstracts)
    features.abstracts = words_of(catalogue.abstracts, tokenizer, vocabulary, limits.abstract);
  if (use.categories) {
    features.categories = codes_of(catalogue.categories, catalogue.size());
    features.subcategories = codes_of(catalogue.subcategories, catalogue.size());
    features.category_count = static_cast<std::int64_t>(catalogue.category_names.size());
    features.subcategory_count = static_cast<std::int64_t>(catalogue.subcategory_names.size());
  }
  if (use.entities) {
    features.entity_count = static_cast<std::int64_t>(catalogue.entity_ids.size());
    features.title_entities = entities_of(catalogue);
    features.linked_titles = link(features.titles, features.title_entities,
                                  words_of(catalogue.entity_labels, tokenizer, vocabulary, limits.title));
    if (catalogue.entity_dimension > 0 && features.entity_count > 0)
      features.entity_vectors =
          torch::tensor(at::ArrayRef<float>(catalogue.entity_vectors.data(), catalogue.entity_vectors.size()))
              .view({features.entity_count, catalogue.entity_dimension});
  }
  return features;
}

void NewsShape::bind(SettingsTable& table, const std::function<bool(std::string_view)>& reads) {
  const auto size = [&](const char* name, std::int64_t& target, std::int64_t most, const char* help) {
    if (reads(name)) table.add(name, target, {1, most}, help);
  };
  const auto rate = [&](const char* name, double& target, const char* help) {
    if (reads(name)) table.add(name, target, {0.0, 0.95}, help);
  };
  size("word_size", word_size, 4096, "Size of a word vector");
  size("heads", heads, 256, "Attention heads of the news and user models");
  size("head_size", head_size, 512, "Size of one head; heads x head_size is the size of a news vector");
  size("filters", filters, 4096, "Filters of the news encoder: the size of what it makes of a text");
  size("pooling_size", pooling_size, 4096, "Hidden size of attention pooling and of scoring layers");
  size("recent_clicks", recent_clicks, 1000, "Clicks read by the recurrent user model");
  size("category_size", category_size, 4096, "Size of category and subcategory vectors");
  size("entity_size", entity_size, 4096, "Size of learned entity vectors, where the data has none");
  size("user_size", user_size, 4096, "Size of a user's own vector");
  size("bert_memory", bert_memory, 1 << 20,
       "MiB that activations of BERT may take; beyond, they are computed again for the backward pass");
  rate("user_mask", user_mask, "Share of training histories read as an unknown user's");
  if (reads("user_start"))
    table.add_choice("user_start", user_start, {"ini", "con"},
                     "The user's own vector starts the recurrent user model, or stands beside its result");
  if (reads("interests"))
    table.add_choice("interests", interests, {"both", "long", "short"},
                     "Parts of the user model: long-term interests, short-term interests, or both");
  rate("word_mask", word_mask, "Share of words hidden from the news encoder in training");
  rate("dropout", dropout, "Dropout rate before each layer");
  if (reads("train_words")) table.add("train_words", train_words, "Train the word vectors too");
  if (reads("start"))
    table.add_choice("start", start, {"glorot", "identity"},
                     "Weights before training: as in the papers, or near maps that keep similarity");
}

std::int64_t KnownUsers::row(data::UserId user) const {
  const auto found = std::lower_bound(users.begin(), users.end(), user);
  return found != users.end() && *found == user ? found - users.begin()
                                                : static_cast<std::int64_t>(users.size());
}

}  // namespace sotto::model
