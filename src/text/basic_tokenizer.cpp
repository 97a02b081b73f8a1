#include "text/basic_tokenizer.h"

#include "base/utf8.h"
#include "text/unicode_normal_form.h"

namespace sotto {

namespace {

bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  }
  return unicode_category(c) == UnicodeCategory::punctuation;
}

enum class Cleaned { kept, space, dropped };

Cleaned clean(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r' || c == ' ') return Cleaned::space;
  if (c < 0x80) return c < 0x20 || c == 0x7F ? Cleaned::dropped : Cleaned::kept;
  if (c == replacement_character) return Cleaned::dropped;
  switch (unicode_category(c)) {
    case UnicodeCategory::control:
    case UnicodeCategory::format:
      return Cleaned::dropped;
    case UnicodeCategory::space:
    case UnicodeCategory::line_end:  // survives the published cleaning, but separates words all the same
      return Cleaned::space;
    default:
      return Cleaned::kept;
  }
}

}  // namespace

// Lower-cases the gathered word as a whole (a capital sigma looks at its neighbours), then cuts it at
// punctuation.
void BasicTokenizer::finish_word(BasicWords& words) const {
  if (words.word_.empty()) return;
  std::u32string* word = &words.word_;
  if (lower_case_) {
    words.lowered_.clear();
    words.decomposed_.clear();
    append_lower_case(words.word_, words.lowered_);
    append_decomposed(words.lowered_, words.decomposed_);
    word = &words.decomposed_;
  }
  std::size_t begin = words.characters_.size();
  const auto end_word = [&] {
    if (words.characters_.size() == begin) return;
    begin = words.characters_.size();
    words.ends_.push_back(begin);
  };
  for (const char32_t c : *word) {
    if (lower_case_ && c >= 0x80 && unicode_category(c) == UnicodeCategory::nonspacing_mark) continue;
    const bool alone = is_punctuation(c);
    if (alone) end_word();
    words.characters_.push_back(c);
    if (alone) end_word();
  }
  end_word();
  words.word_.clear();
}

void BasicTokenizer::tokenize(std::string_view text, BasicWords& words) const {
  words.characters_.clear();
  words.ends_.clear();
  words.word_.clear();
  for (std::size_t position = 0; position < text.size();) {
    const char32_t c = decode_utf8(text, position);
    const Cleaned cleaned = clean(c);
    if (cleaned == Cleaned::dropped) continue;
    const bool alone = cleaned == Cleaned::kept && is_ideograph(c);
    if (alone || cleaned == Cleaned::space) finish_word(words);
    if (cleaned == Cleaned::kept) words.word_.push_back(c);
    if (alone) finish_word(words);
  }
  finish_word(words);
}

}  // namespace sotto
