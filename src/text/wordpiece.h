#pragma once
// BERT's WordPiece tokenizer as published: words by basic_tokenizer.h, each cut greedily into the longest
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
#include "text/basic_tokenizer.h"

namespace sotto {

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

}  // namespace sotto
