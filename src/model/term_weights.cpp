#include "model/term_weights.h"

#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"

namespace sotto {

using torch::Tensor;

namespace {

// The known words of an item, sorted, title and abstract together.
std::vector<std::int32_t> known_words_of(const ItemFeatures& items, ItemId item) {
  std::vector<std::int32_t> words;
  const auto append = [&](const ItemText& text) {
    if (item >= text.size()) return;
    for (const std::int32_t word : text.of(item))
      if (word >= Vocabulary::first_word) words.push_back(word);
  };
  append(items.titles);
  append(items.abstracts);
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

std::vector<float> word_weights(const ItemFeatures& items, std::size_t vocabulary, std::int64_t least_items) {
  std::vector<std::int64_t> having(vocabulary, 0);
  for (ItemId item = 0; item < items.titles.size(); ++item) {
    auto words = known_words_of(items, item);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (const std::int32_t word : words) ++having[static_cast<std::size_t>(word)];
  }
  std::vector<float> weights(vocabulary, 0);
  const auto total = static_cast<double>(items.titles.size());
  for (std::size_t word = 0; word < vocabulary; ++word)
    if (having[word] >= std::max<std::int64_t>(least_items, 1))
      weights[word] = static_cast<float>(std::log(total / static_cast<double>(having[word])));
  return weights;
}

TermMatrix::TermMatrix(const ItemFeatures& items, const std::vector<float>& weights) {
  by_item_.starts.push_back(0);
  std::vector<std::int64_t> counts(weights.size() + 1, 0);
  for (ItemId item = 0; item < items.titles.size(); ++item) {
    const auto words = known_words_of(items, item);
    const std::size_t first = by_item_.values.size();
    double squares = 0;
    for (std::size_t i = 0, next = 0; i < words.size(); i = next) {
      while (next < words.size() && words[next] == words[i]) ++next;
      const double weight = weights[static_cast<std::size_t>(words[i])];
      if (weight <= 0) continue;
      const double value = (1 + std::log(static_cast<double>(next - i))) * weight;
      by_item_.places.push_back(words[i]);
      by_item_.values.push_back(value);
      ++counts[static_cast<std::size_t>(words[i]) + 1];
      squares += value * value;
    }
    for (std::size_t i = first; i < by_item_.values.size(); ++i) by_item_.values[i] /= std::sqrt(squares);
    by_item_.starts.push_back(static_cast<std::int64_t>(by_item_.values.size()));
  }
  for (std::size_t word = 1; word < counts.size(); ++word) counts[word] += counts[word - 1];
  by_word_.starts = counts;
  by_word_.places.resize(by_item_.places.size());
  by_word_.values.resize(by_item_.values.size());
  for (std::int64_t row = 0; row < rows(); ++row)
    for (auto i = static_cast<std::size_t>(by_item_.starts[static_cast<std::size_t>(row)]);
         i < static_cast<std::size_t>(by_item_.starts[static_cast<std::size_t>(row) + 1]); ++i) {
      const auto at = static_cast<std::size_t>(counts[static_cast<std::size_t>(by_item_.places[i])]++);
      by_word_.places[at] = row;
      by_word_.values[at] = by_item_.values[i];
    }
}

Tensor TermMatrix::Sparse::times(const Tensor& dense) const {
  const Tensor from = dense.to(torch::kFloat64).contiguous();
  const std::int64_t columns = from.size(1);
  Tensor result = torch::zeros({static_cast<std::int64_t>(starts.size()) - 1, columns}, torch::kFloat64);
  const double* in = from.data_ptr<double>();
  double* out = result.data_ptr<double>();
  parallel_for(starts.size() - 1, 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for (auto i = static_cast<std::size_t>(starts[row]); i < static_cast<std::size_t>(starts[row + 1]); ++i)
        for (std::int64_t c = 0; c < columns; ++c)
          out[static_cast<std::int64_t>(row) * columns + c] += values[i] * in[places[i] * columns + c];
  });
  return result;
}

Tensor TermMatrix::times(const Tensor& dense) const { return by_item_.times(dense); }
Tensor TermMatrix::transposed_times(const Tensor& dense) const { return by_word_.times(dense); }

}  // namespace sotto
