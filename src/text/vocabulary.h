#pragma once
// Numbers for words: 0 is padding, 1 is any unknown word, then the known words, most frequent first.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "text/word_tokenizer.h"

namespace sotto {
class SettingsTable;
}

namespace sotto::text {

// How often each word occurs in a collection of texts.

// Text number i of a collection; called from several threads at once. The view must live until the call that
// was given the function returns.
using TextAt = std::function<std::string_view(std::size_t)>;

// Not thread-safe: one per thread, then merge().
class WordCounts {
 public:
  void add(std::string_view word, std::uint64_t times = 1);
  void merge(const WordCounts& other);
  std::uint64_t count(std::string_view word) const;
  std::size_t size() const { return counts_.size(); }
  // Most frequent first, words of equal count in byte order: the same list whatever the order of additions.
  std::vector<std::pair<std::string_view, std::uint64_t>> by_frequency() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
  };
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> counts_;
};

// Counts the tokens of texts 0..n-1 on the thread pool.
WordCounts count_words(std::size_t n, const TextAt& text, const WordTokenizer& tokenizer);

using WordId = std::int32_t;

struct VocabularySettings {
  std::int64_t min_count = 1;  // rarer words become unknown
  std::int64_t max_size = 0;   // number of known words kept; 0: all
};

// Immutable and safe to share between threads; cheap to move, and views of words live as long as the
// vocabulary (moving included).
class Vocabulary {
 public:
  static constexpr WordId padding = 0;
  static constexpr WordId unknown = 1;
  static constexpr WordId first_word = 2;

  static Vocabulary build(const WordCounts& counts, const VocabularySettings& settings = {});

  // Refuses files that are damaged, of another kind, or hold empty or repeated words.
  static Result<Vocabulary> load(const fs::path& path);
  Status save(const fs::path& path) const;

  std::size_t size() const { return counts_.size() + first_word; }  // padding and unknown included
  WordId id(std::string_view word) const;                           // `unknown` for others, "" included
  std::string_view word(WordId id) const;                           // "" for padding and unknown
  std::uint64_t count(WordId id) const;  // occurrences when built; 0 for the first two

  Vocabulary(Vocabulary&&) noexcept = default;
  Vocabulary& operator=(Vocabulary&&) noexcept = default;
  Vocabulary(const Vocabulary&) = delete;  // the index holds views of bytes_
  Vocabulary& operator=(const Vocabulary&) = delete;

 private:
  Vocabulary() = default;
  Status index_words();

  std::vector<char> bytes_;  // not std::string: its small buffer would move with the object
  std::vector<std::uint64_t> offsets_{0};
  std::vector<std::uint64_t> counts_;
  std::unordered_map<std::string_view, WordId> ids_;
};

// Everything about text that a run can set, in one table.
struct TextSettings {
  WordTokenizerSettings tokenizer;
  VocabularySettings vocabulary;
  std::int64_t max_words = 30;  // per title

  // The table refers to this object, which must outlive it.
  void bind(SettingsTable& table);
};

// The texts of all items as one rectangle of word numbers: what a news encoder reads.

// N x L row-major ids, each row filled up with Vocabulary::padding; lengths[i] is how many are real (0 for an
// empty text). A plain value.
struct TokenMatrix {
  std::size_t rows = 0;       // N
  std::size_t max_words = 0;  // L
  std::vector<WordId> ids;
  std::vector<std::int32_t> lengths;

  std::span<const WordId> row(std::size_t index) const {
    return std::span(ids).subspan(index * max_words, max_words);
  }
};

// Tokenizes texts 0..n-1 on the thread pool; words beyond `max_words` (at least 1) are cut off. The result
// does not depend on the number of threads.
TokenMatrix build_token_matrix(std::size_t n, const TextAt& text, const WordTokenizer& tokenizer,
                               const Vocabulary& vocabulary, std::size_t max_words = 30);

}  // namespace sotto::text
