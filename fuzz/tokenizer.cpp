// Any bytes through the word tokenizer: no crash, and only non-empty, valid tokens come out.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "text/unicode.h"
#include "text/word_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const sotto::text::WordTokenizer tokenizer({.lower_case = (data[0] & 1) != 0,
                                              .keep_punctuation = (data[0] & 2) != 0,
                                              .split_hyphens = (data[0] & 4) != 0,
                                              .split_clitics = (data[0] & 8) != 0});
  static sotto::text::Tokens tokens;
  tokenizer.tokenize({reinterpret_cast<const char*>(data + 1), size - 1}, tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].empty() || !sotto::is_utf8(tokens[i])) std::abort();
  }
  return 0;
}
