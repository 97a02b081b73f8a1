#include "text/word_counts.h"

#include <algorithm>
#include <mutex>

#include "base/thread_pool.h"

namespace sotto {

void WordCounts::add(std::string_view word, std::uint64_t times) {
  const auto found = counts_.find(word);
  if (found != counts_.end()) {
    found->second += times;
  } else {
    counts_.emplace(word, times);
  }
}

void WordCounts::merge(const WordCounts& other) {
  for (const auto& [word, times] : other.counts_) add(word, times);
}

std::uint64_t WordCounts::count(std::string_view word) const {
  const auto found = counts_.find(word);
  return found == counts_.end() ? 0 : found->second;
}

std::vector<std::pair<std::string_view, std::uint64_t>> WordCounts::by_frequency() const {
  std::vector<std::pair<std::string_view, std::uint64_t>> list(counts_.begin(), counts_.end());
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return list;
}

WordCounts count_words(std::size_t n, const TextAt& text, const WordTokenizer& tokenizer) {
  WordCounts total;
  std::mutex merging;
  parallel_for(n, 4096, [&](std::size_t begin, std::size_t end) {
    WordCounts counts;
    Tokens tokens;
    for (std::size_t i = begin; i < end; ++i) {
      tokenizer.tokenize(text(i), tokens);
      for (std::size_t t = 0; t < tokens.size(); ++t) counts.add(tokens[t]);
    }
    const std::lock_guard lock(merging);  // sums of integers: the order of merging does not matter
    total.merge(counts);
  });
  return total;
}

}  // namespace sotto
