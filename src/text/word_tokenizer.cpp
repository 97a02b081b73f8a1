#include "text/word_tokenizer.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/unicode.h"

namespace sotto::text {

namespace {

// Typographic variants to the ASCII characters that word vectors know.
char32_t fold(char32_t c) {
  if (c >= 0xFF01 && c <= 0xFF5E) return c - 0xFEE0;  // full-width
  switch (c) {
    case 0x2018:
    case 0x2019:
    case 0x201A:
    case 0x201B:
    case 0x2032:
    case 0xB4:
    case 0x2BC:
      return '\'';
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x201F:
    case 0x2033:
    case 0xAB:
    case 0xBB:
      return '"';
    case 0x2010:
    case 0x2011:
    case 0x2212:
      return '-';
    default:
      return c;
  }
}

void normalise(std::string_view text, bool lower, std::u32string& out) {
  out.clear();
  for (std::size_t position = 0; position < text.size();) {
    char32_t c = fold(decode_utf8(text, position));
    if (c < 0x80) {
      out.push_back(lower ? lower_case(c) : c);
      continue;
    }
    const CharacterClass kind = classify(c);
    if (kind == CharacterClass::ignored) continue;
    if (kind == CharacterClass::mark && !out.empty()) {
      if (const char32_t composed = compose(out.back(), c); composed != 0) {
        out.back() = composed;
        continue;
      }
    }
    if (c == 0x2026) {
      out.append(U"...");
    } else if (c == 0x2013 || c == 0x2014 || c == 0x2015) {  // dashes
      out.append(U"--");
    } else {
      out.push_back(lower ? lower_case(c) : c);
    }
  }
}

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

bool is_word_character(char32_t c) {
  const CharacterClass kind = classify(c);
  return kind == CharacterClass::letter || kind == CharacterClass::digit || kind == CharacterClass::mark;
}

// Letters are compared without case, so that the rule also holds when lower-casing is off.
bool ends_with(std::u32string_view word, std::u32string_view small_suffix) {
  if (word.size() < small_suffix.size()) return false;
  return std::equal(small_suffix.begin(), small_suffix.end(),
                    word.end() - static_cast<std::ptrdiff_t>(small_suffix.size()),
                    [](char32_t a, char32_t b) { return a == lower_case(b); });
}

// Where the clitic at the end of the word begins; word.size() when there is none.
std::size_t clitic_begin(std::u32string_view word) {
  static constexpr std::u32string_view clitics[] = {U"n't", U"'s", U"'m", U"'d", U"'re", U"'ve", U"'ll"};
  for (const std::u32string_view clitic : clitics) {
    if (word.size() > clitic.size() && ends_with(word, clitic)) return word.size() - clitic.size();
  }
  return word.size();
}

// True for "u.s", "a.m", "e.g": single letters between dots.
bool is_dotted_abbreviation(std::u32string_view word) {
  if (word.size() < 3 || word.size() % 2 == 0) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool fits = i % 2 == 1 ? word[i] == '.' : classify(word[i]) == CharacterClass::letter;
    if (!fits) return false;
  }
  return true;
}

class Scanner {
 public:
  Scanner(std::u32string_view text, const WordTokenizerSettings& settings)
      : text_(text), settings_(settings) {}

  // Calls emit(token) for every token in order.
  template <class Emit>
  void run(Emit emit) {
    while (position_ < text_.size()) {
      switch (classify(text_[position_])) {
        case CharacterClass::space:
        case CharacterClass::ignored:
          ++position_;
          break;
        case CharacterClass::ideograph:
          emit(text_.substr(position_++, 1));
          break;
        case CharacterClass::punctuation:
          scan_punctuation(emit);
          break;
        case CharacterClass::letter:
        case CharacterClass::digit:
        case CharacterClass::mark:
          scan_word(emit);
          break;
      }
    }
  }

 private:
  char32_t at(std::size_t index) const { return index < text_.size() ? text_[index] : U' '; }

  // Whether the punctuation at `index`, which follows a word character, holds a word together.
  bool joins(std::size_t index) const {
    const char32_t c = at(index), before = at(index - 1), after = at(index + 1);
    if (!is_word_character(after)) return false;
    switch (c) {
      case '.':
      case '&':
      case '\'':
      case '_':
        return true;
      case '-':
        return !settings_.split_hyphens;
      case ',':
      case ':':
        return is_digit(before) && is_digit(after);
      default:
        return false;
    }
  }

  template <class Emit>
  void scan_word(Emit& emit) {
    const std::size_t begin = position_;
    while (position_ < text_.size() && (is_word_character(text_[position_]) || joins(position_))) ++position_;
    std::u32string_view word = text_.substr(begin, position_ - begin);
    if (at(position_) == '.' && is_dotted_abbreviation(word)) {
      ++position_;
      word = text_.substr(begin, position_ - begin);
    }
    const std::size_t split = settings_.split_clitics ? clitic_begin(word) : word.size();
    emit(word.substr(0, split));
    if (split < word.size()) emit(word.substr(split));
  }

  template <class Emit>
  void scan_punctuation(Emit& emit) {
    const std::size_t begin = position_;
    const char32_t c = text_[position_++];
    if (c == '.' || c == '-') {
      while (at(position_) == c) ++position_;
    }
    if (!settings_.keep_punctuation) return;
    std::u32string_view token = text_.substr(begin, position_ - begin);
    if (c == '.' && token.size() > 1) token = U"...";
    if (c == '-' && token.size() > 1) token = U"--";
    emit(token);
  }

  std::u32string_view text_;
  const WordTokenizerSettings& settings_;
  std::size_t position_ = 0;
};

}  // namespace

void WordTokenizer::tokenize(std::string_view text, Tokens& tokens) const {
  tokens.bytes_.clear();
  tokens.ends_.clear();
  normalise(text, settings_.lower_case, tokens.characters_);
  Scanner(tokens.characters_, settings_).run([&](std::u32string_view token) {
    for (const char32_t c : token) append_utf8(c, tokens.bytes_);
    tokens.ends_.push_back(tokens.bytes_.size());
  });
}

std::vector<std::string> WordTokenizer::tokenize(std::string_view text) const {
  Tokens tokens;
  tokenize(text, tokens);
  std::vector<std::string> words;
  words.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) words.emplace_back(tokens[i]);
  return words;
}

}  // namespace sotto::text
