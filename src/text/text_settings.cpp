#include "text/text_settings.h"

#include "base/settings.h"

namespace sotto {

void TextSettings::bind(SettingsTable& table) {
  table.add("lower_case", tokenizer.lower_case, "Turn words into lower case");
  table.add("keep_punctuation", tokenizer.keep_punctuation, "Keep punctuation marks as words");
  table.add("split_hyphens", tokenizer.split_hyphens, "Split words at hyphens");
  table.add("split_clitics", tokenizer.split_clitics, "Split off 's, n't and the like as words of their own");
  table.add("min_word_count", vocabulary.min_count, {1, 1'000'000'000},
            "Rarer words become the unknown word");
  table.add("max_vocabulary", vocabulary.max_size, {0, 100'000'000},
            "Number of words kept, most frequent first; 0 keeps all");
  table.add("max_words", max_words, {1, 100'000}, "Words of a title that are read");
}

}  // namespace sotto
