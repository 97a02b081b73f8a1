#pragma once
// Splits text into words and punctuation, close to what the news papers used (Penn Treebank rules), without
// sentence detection. The rules, in order:
//   characters   invalid UTF-8 becomes U+FFFD; zero-width characters vanish; accents written as separate
//   marks
//                are joined with their letter; typographic quotes, apostrophes and full-width forms become
//                ASCII
//   words        runs of letters and digits; kept inside a word when letters or digits stand on both sides:
//                  .  amazon.com, 3.5     &  AT&T     '  O'Brien     -  year-old (option)     _
//                  , :  between digits only: 1,000 and 10:30
//   dotted       single letters with dots keep the last dot: "U.S."
//   clitics      "don't" -> do n't;  's 'm 'd 're 've 'll are words of their own (option)
//   ideographs   one word per Han or kana character
//   punctuation  one token per character, except a run of dots ("..." and "…" -> "...") and of hyphens ("--")
// Lower-casing is on by default.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::text {

struct WordTokenizerSettings {
  bool lower_case = true;
  bool keep_punctuation = true;
  bool split_hyphens = false;
  bool split_clitics = true;
};

// Tokens of one text, back to back. Reuse one object over many texts: after the first few nothing is
// allocated.
class Tokens {
 public:
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::string_view operator[](std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(bytes_).substr(begin, ends_[index] - begin);
  }

 private:
  friend class WordTokenizer;
  std::string bytes_;
  std::vector<std::size_t> ends_;
  std::u32string characters_;  // scratch: the text after normalisation
};

// Immutable: one tokenizer may be used by many threads, each with its own Tokens.
class WordTokenizer {
 public:
  explicit WordTokenizer(WordTokenizerSettings settings = {}) : settings_(settings) {}

  // Replaces the content of `tokens`. Any bytes are accepted; every token is valid UTF-8 and not empty.
  void tokenize(std::string_view text, Tokens& tokens) const;
  std::vector<std::string> tokenize(std::string_view text) const;

  const WordTokenizerSettings& settings() const { return settings_; }

 private:
  WordTokenizerSettings settings_;
};

}  // namespace sotto::text
