#pragma once
// BERT's WordPiece tokenizer as published: words by BasicTokenizer, each cut greedily into the longest
// pieces of vocab.txt; inside a word pieces are written with "##". A word with no such cut, or longer than
// `max_word_characters`, is one [UNK].
// Revisions of the published code differ in two places: dropped are all of C* or only Cc and Cf (here: Cc and
// Cf, so private-use and unassigned characters stay and make a word unknown), and the longest word has 100 or
// 200 characters (here: 100, as in the libraries that most checkpoints are used with).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace sotto::text {

// BERT's first pass over a text (Devlin et al. 2018, "BasicTokenizer" of the published code): what counts as
// a word before pieces are looked up. In order:
//   clean        U+0000, U+FFFD, broken UTF-8, control and format characters (Cc, Cf) vanish; tab, line ends
//                and all of Zs become spaces
//   ideographs   a word each (the CJK blocks only: kana and Hangul are not among them)
//   lower case   when asked for: full lower case, then NFD without nonspacing marks, per space-separated word
//   punctuation  a word each: all of P* and every ASCII character that is no letter, digit or space
// Nothing is protected from it: "[CLS]" in a text is three words, so that no headline can forge a marker.

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

using PieceId = std::int32_t;  // line number in vocab.txt, from 0

struct WordPieceSettings {
  bool lower_case = true;  // "uncased" checkpoints: lower case and no accents
  std::size_t max_word_characters = 100;
};

// Immutable and safe to share between threads; cheap to move.
class WordPiece {
 public:
  // One piece per line, in order. Refuses empty, repeated or not UTF-8 pieces and a vocabulary without [PAD],
  // [UNK], [CLS] or [SEP].
  static Result<WordPiece> load(const fs::path& vocabulary, const WordPieceSettings& settings = {});
  static Result<WordPiece> create(const std::vector<std::string>& pieces,
                                  const WordPieceSettings& settings = {});
  // vocab.txt of a checkpoint folder. Casing is `do_lower_case` of tokenizer_config.json; without that file
  // or key, a vocabulary that has capitals is cased.
  static Result<WordPiece> load_folder(const fs::path& folder);

  WordPiece(WordPiece&&) noexcept;
  WordPiece& operator=(WordPiece&&) noexcept;
  ~WordPiece();

  // Replaces `ids` by the pieces of a text, without markers. Any bytes are accepted.
  void encode(std::string_view text, std::vector<PieceId>& ids, BasicWords& scratch) const;
  std::vector<PieceId> encode(std::string_view text) const;

  // [CLS] pieces [SEP], cut to at most `max_pieces` (at least 2) in all.
  std::vector<PieceId> encode_marked(std::string_view text, std::size_t max_pieces) const;

  std::size_t size() const;
  std::string_view piece(PieceId id) const;  // requires 0 <= id < size(); lives as long as this object
  PieceId padding() const;
  PieceId unknown() const;
  PieceId class_marker() const;  // [CLS]
  PieceId separator() const;     // [SEP]
  const WordPieceSettings& settings() const;

 private:
  struct Table;
  explicit WordPiece(std::unique_ptr<Table> table);
  std::unique_ptr<Table> table_;
};

}  // namespace sotto::text
