#pragma once
// BERT's first pass over a text (Devlin et al. 2018, "BasicTokenizer" of the published code): what counts as
// a word before pieces are looked up. In order:
//   clean        U+0000, U+FFFD, broken UTF-8, control and format characters (Cc, Cf) vanish; tab, line ends
//                and all of Zs become spaces
//   ideographs   a word each (the CJK blocks only: kana and Hangul are not among them)
//   lower case   when asked for: full lower case, then NFD without nonspacing marks, per space-separated word
//   punctuation  a word each: all of P* and every ASCII character that is no letter, digit or space
// Nothing is protected from it: "[CLS]" in a text is three words, so that no headline can forge a marker.

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// The words of one text, back to back, with scratch memory: reuse one object over many texts.
class BasicWords {
 public:
  std::size_t size() const { return ends_.size(); }
  std::u32string_view operator[](std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::u32string_view(characters_).substr(begin, ends_[index] - begin);
  }

 private:
  friend class BasicTokenizer;
  std::u32string characters_;
  std::vector<std::size_t> ends_;
  std::u32string word_, lowered_, decomposed_;  // scratch
};

// Immutable: one tokenizer may be used by many threads, each with its own BasicWords.
class BasicTokenizer {
 public:
  explicit BasicTokenizer(bool lower_case) : lower_case_(lower_case) {}

  // Replaces the content of `words`. Any bytes are accepted; no word is empty.
  void tokenize(std::string_view text, BasicWords& words) const;

 private:
  void finish_word(BasicWords& words) const;
  bool lower_case_;
};

}  // namespace sotto
