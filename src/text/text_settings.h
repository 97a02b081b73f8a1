#pragma once
// Everything about text that a run can set, in one table.

#include <cstdint>

#include "text/vocabulary.h"
#include "text/word_tokenizer.h"

namespace sotto {

class SettingsTable;

struct TextSettings {
  WordTokenizerSettings tokenizer;
  VocabularySettings vocabulary;
  std::int64_t max_words = 30;  // per title

  // The table refers to this object, which must outlive it.
  void bind(SettingsTable& table);
};

}  // namespace sotto
