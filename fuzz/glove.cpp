// Any text as a word vector file: an error or finite vectors of the promised shape.

#include "text/glove.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

sotto::text::Vocabulary small_vocabulary() {
  sotto::text::WordCounts counts;
  for (const char* word : {"the", "a", ".", "1", "é", ". ."}) counts.add(word);
  return sotto::text::Vocabulary::build(counts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sotto::text::Vocabulary vocabulary = small_vocabulary();
  std::string_view text(reinterpret_cast<const char*>(data), size);
  sotto::text::GloveCollector collector(vocabulary);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (!collector.add_line(text.substr(0, end))) return 0;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  const auto vectors = collector.finish();
  if (!vectors) return 0;
  if (vectors->values.size() != vocabulary.size() * vectors->dimension) std::abort();
  for (const float value : vectors->values) {
    if (!std::isfinite(value)) std::abort();
  }
  return 0;
}
