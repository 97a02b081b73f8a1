#include "model/news/news_shape.h"

#include <algorithm>

namespace sotto {

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

std::int64_t KnownUsers::row(UserId user) const {
  const auto found = std::lower_bound(users.begin(), users.end(), user);
  return found != users.end() && *found == user ? found - users.begin()
                                                : static_cast<std::int64_t>(users.size());
}

}  // namespace sotto
