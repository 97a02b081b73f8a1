// The first line of the input is a text, the others are a vocabulary: an error, or pieces of that vocabulary.

#include "text/wordpiece.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto next_line = [&rest] {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return line;
  };
  const std::string_view text = next_line();
  std::vector<std::string> pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##a", "##\u0301"};
  while (!rest.empty()) pieces.emplace_back(next_line());
  const auto tokens = sotto::text::WordPiece::create(pieces, {.lower_case = (data[0] & 1) != 0});
  if (!tokens) return 0;
  const auto ids = tokens->encode_marked(text, 64);
  if (ids.size() < 2 || ids.size() > 64) std::abort();
  for (const auto id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= tokens->size()) std::abort();
  }
  return 0;
}
