#include "model/news/item_features.h"

#include <algorithm>
#include <string>

#include "text/token_matrix.h"

namespace sotto {
namespace {

ItemText words_of(const StringColumn& texts, const WordTokenizer& tokenizer, const Vocabulary& vocabulary,
                  std::size_t most) {
  const TokenMatrix matrix = build_token_matrix(
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

ItemText entities_of(const Catalogue& catalogue) {
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
  for (ItemId item = 0; item < titles.size(); ++item) {
    const auto words = titles.of(item);
    const std::size_t first = linked.words.size();
    linked.words.insert(linked.words.end(), words.begin(), words.end());
    linked.entities.resize(linked.words.size(), LinkedText::none);
    for (const std::int32_t entity : entities.of(item)) {
      const auto label = labels.of(static_cast<ItemId>(entity));
      // The unknown word stands for many: it proves nothing.
      const bool known =
          !label.empty() && std::find(label.begin(), label.end(), Vocabulary::unknown) == label.end();
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

ItemFeatures build_item_features(const Catalogue& catalogue, const FeatureUse& use,
                                 const WordTokenizer& tokenizer, const Vocabulary& vocabulary,
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

}  // namespace sotto
