#include "text/token_matrix.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace sotto {

TokenMatrix build_token_matrix(std::size_t n, const TextAt& text, const WordTokenizer& tokenizer,
                               const Vocabulary& vocabulary, std::size_t max_words) {
  TokenMatrix matrix;
  matrix.rows = n;
  matrix.max_words = std::max<std::size_t>(max_words, 1);
  matrix.ids.assign(n * matrix.max_words, Vocabulary::padding);
  matrix.lengths.assign(n, 0);
  parallel_for(n, 1024, [&](std::size_t begin, std::size_t end) {
    Tokens tokens;
    for (std::size_t i = begin; i < end; ++i) {
      tokenizer.tokenize(text(i), tokens);
      const std::size_t length = std::min(tokens.size(), matrix.max_words);
      for (std::size_t t = 0; t < length; ++t)
        matrix.ids[i * matrix.max_words + t] = vocabulary.id(tokens[t]);
      matrix.lengths[i] = static_cast<std::int32_t>(length);
    }
  });
  return matrix;
}

}  // namespace sotto
