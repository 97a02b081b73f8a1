#pragma once
// The texts of all items as one rectangle of word numbers: what a news encoder reads.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "text/vocabulary.h"
#include "text/word_tokenizer.h"

namespace sotto {

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

}  // namespace sotto
