#include "model/news/word_space.h"

#include <algorithm>
#include <cmath>

#include "base/binary_file.h"
#include "base/distributions.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/thread_pool.h"

namespace sotto::model {

using torch::Tensor;

namespace {

// The known words of an item, sorted, title and abstract together.
std::vector<std::int32_t> known_words_of(const ItemFeatures& items, data::ItemId item) {
  std::vector<std::int32_t> words;
  const auto append = [&](const ItemText& text) {
    if (item >= text.size()) return;
    for (const std::int32_t word : text.of(item))
      if (word >= text::Vocabulary::first_word) words.push_back(word);
  };
  append(items.titles);
  append(items.abstracts);
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

std::vector<float> word_weights(const ItemFeatures& items, std::size_t vocabulary, std::int64_t least_items) {
  std::vector<std::int64_t> having(vocabulary, 0);
  for (data::ItemId item = 0; item < items.titles.size(); ++item) {
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
  for (data::ItemId item = 0; item < items.titles.size(); ++item) {
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

namespace {

constexpr std::string_view word_space_kind = "word-space";
constexpr std::uint32_t word_space_version = 1;
constexpr std::int64_t largest_size = 4096;

Tensor first_guess(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  Tensor guess = torch::empty({rows, columns}, torch::kFloat64);
  SeededRandom random(seed, Purpose::initialisation);
  double* values = guess.data_ptr<double>();
  for (std::int64_t i = 0; i < guess.numel(); ++i) values[i] = normal(random);
  return guess;
}

// Columns that span the same, at right angles and of length 1.
Tensor orthonormal(const Tensor& columns) { return std::get<0>(torch::linalg_qr(columns, "reduced")); }

struct Decomposition {
  std::int64_t spanned = 0;  // dimensions, of those looked for
  Tensor words;              // V S^(-1/2) of the largest singular values; undefined where too few are spanned
};

// Subspace iteration (Halko, Martinsson, Tropp 2011).
Result<Decomposition> decomposed(const TermMatrix& terms, std::int64_t size, std::uint64_t seed) {
  constexpr std::int64_t spare = 16;
  constexpr int sweeps = 7;
  const std::int64_t guessed = std::min({size + spare, terms.rows(), terms.columns()});
  if (guessed < 1) return Decomposition{};
  Progress progress("finding what words mean", sweeps + 1, "sweeps");
  progress.set(0);
  Tensor left = orthonormal(terms.times(first_guess(terms.columns(), guessed, seed)));
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    progress.advance();
    if (interrupted()) return failed("stopped while it was found what words mean");
    left = orthonormal(terms.times(orthonormal(terms.transposed_times(left))));
  }
  progress.advance();
  const Tensor right = terms.transposed_times(left);  // [V, guessed] = V S Wᵀ
  const auto [squares, turn] = torch::linalg_eigh(right.t().matmul(right), "L");
  // Ascending: the last are the largest.
  const std::int64_t spanned = squares.gt(1e-9 * squares[guessed - 1]).sum().item<std::int64_t>();
  if (spanned < size) return Decomposition{spanned, {}};
  const Tensor largest = squares.slice(0, guessed - size).flip(0);
  Tensor words = right.matmul(turn.slice(1, guessed - size).flip(1)) * largest.pow(-0.75).unsqueeze(0);
  // A singular vector has no sign of its own: its largest entry is positive here.
  const Tensor at = words.abs().argmax(0, true);
  return Decomposition{spanned, words * words.gather(0, at).sign()};
}

}  // namespace

Result<WordSpace> WordSpace::of_items(const ItemFeatures& items, std::size_t vocabulary,
                                      const Settings& settings) {
  if (settings.size < 1 || settings.size > largest_size)
    return bad_input("a word space has 1 to {} dimensions, not {}", largest_size, settings.size);
  const torch::NoGradGuard no_grad;
  const auto weights = word_weights(items, vocabulary, settings.least_items);
  const TermMatrix terms(items, weights);
  SOTTO_TRY(const Decomposition found, decomposed(terms, settings.size, settings.seed));
  const std::int64_t spanned = found.spanned;
  Tensor words = found.words;
  if (!words.defined())
    return bad_input(
        "the words of {} items span {} dimensions, and {} are asked for: {}words that stand in fewer than {} "
        "items do not count; give data with more text",
        terms.rows(), spanned, settings.size,
        spanned > 0 ? fmt::format("set vector_size to {} or less (--set vector_size={}); ", spanned, spanned)
                    : "",
        settings.least_items);
  words = words / terms.times(words).pow(2).sum(1).mean().sqrt();
  const Tensor says = torch::tensor(weights, torch::kFloat64).unsqueeze(1);
  return WordSpace(torch::cat({words, says}, 1).to(torch::kFloat32).contiguous());
}

Tensor WordSpace::vectors_of(const ItemFeatures& items) const {
  const torch::NoGradGuard no_grad;
  const Tensor says = table_.select(1, size()).contiguous();
  const std::vector<float> weights(says.data_ptr<float>(), says.data_ptr<float>() + says.numel());
  return TermMatrix(items, weights).times(table_.narrow(1, 0, size())).to(torch::kFloat32);
}

Status WordSpace::save(const fs::path& path) const {
  SOTTO_TRY(auto file, BinaryFileWriter::create(path, word_space_kind, word_space_version));
  SOTTO_CHECK(file.add(
      "words", std::span<const float>(table_.data_ptr<float>(), static_cast<std::size_t>(table_.numel()))));
  return file.commit();
}

Result<WordSpace> WordSpace::load(const fs::path& path, std::size_t vocabulary) {
  SOTTO_TRY(const auto file, BinaryFileReader::open(path, word_space_kind, word_space_version));
  SOTTO_TRY(const auto words, file.section<float>("words"));
  const std::size_t columns = vocabulary == 0 ? 0 : words.size() / vocabulary;
  if (columns < 2 || columns > static_cast<std::size_t>(largest_size) + 1 ||
      words.size() != columns * vocabulary)
    return bad_input(
        "{} does not fit the vocabulary of {} words beside it: put back the one it was made with",
        path.string(), vocabulary);
  if (!std::all_of(words.begin(), words.end(), [](float value) { return std::isfinite(value); }))
    return bad_input("{} is damaged (a number is not finite): train again", path.string());
  Tensor copy = torch::empty({static_cast<std::int64_t>(vocabulary), static_cast<std::int64_t>(columns)},
                             torch::kFloat32);
  std::copy(words.begin(), words.end(), copy.data_ptr<float>());
  return WordSpace(std::move(copy));
}

}  // namespace sotto::model
