#pragma once
// Where a run's BERT comes from: a checkpoint folder with its own WordPiece vocabulary, or a published size
// with random weights, which reads the words of the run's own vocabulary.

#include <memory>
#include <string>

#include "base/settings.h"
#include "model/bert_model.h"
#include "model/item_features.h"
#include "text/wordpiece.h"

namespace sotto {

struct BertSettings {
  std::string folder, size = "tiny", trainable_layers = "auto";
  std::int64_t max_pieces = 30;
  void bind(SettingsTable& table);
  bool pretrained() const { return !folder.empty(); }
};

// The checkpoint, and the titles as its pieces.
struct PretrainedBert {
  std::shared_ptr<BertModel> model;
  ItemText titles;
  WordPiece tokenizer;
};
Result<PretrainedBert> open_pretrained_bert(const BertSettings& settings, const StringColumn& titles);

// Random weights for a vocabulary of `words`, texts of at most `max_words`.
Result<std::shared_ptr<BertModel>> make_random_bert(const BertSettings& settings, std::int64_t words,
                                                    std::int64_t max_words);

// Texts as pieces between [CLS] and [SEP], at most `max_pieces` in all; a text without any word has no
// pieces, not even the markers. Runs on the thread pool; the result does not depend on the number of threads.
ItemText wordpiece_text(const StringColumn& texts, const WordPiece& tokenizer, std::size_t max_pieces);

}  // namespace sotto
