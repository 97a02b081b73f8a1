#pragma once
// How often each word occurs in a collection of texts.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/word_tokenizer.h"

namespace sotto {

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

}  // namespace sotto
