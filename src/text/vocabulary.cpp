#include "text/vocabulary.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <mutex>
#include <string>

#include "base/binary_file.h"
#include "base/settings.h"
#include "base/thread_pool.h"
#include "base/utf8.h"

namespace sotto::text {

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

namespace {

constexpr std::string_view file_kind = "vocabulary";
constexpr std::uint32_t file_version = 1;
constexpr std::size_t max_words = std::numeric_limits<WordId>::max() - Vocabulary::first_word;

}  // namespace

Vocabulary Vocabulary::build(const WordCounts& counts, const VocabularySettings& settings) {
  Vocabulary vocabulary;
  const std::size_t limit =
      settings.max_size > 0 ? std::min(static_cast<std::size_t>(settings.max_size), max_words) : max_words;
  for (const auto& [word, times] : counts.by_frequency()) {
    if (vocabulary.counts_.size() == limit) break;
    if (settings.min_count > 0 && times < static_cast<std::uint64_t>(settings.min_count)) break;
    if (word.empty()) continue;
    vocabulary.bytes_.insert(vocabulary.bytes_.end(), word.begin(), word.end());
    vocabulary.offsets_.push_back(vocabulary.bytes_.size());
    vocabulary.counts_.push_back(times);
  }
  [[maybe_unused]] const Status unique = vocabulary.index_words();
  assert(unique);  // keys of a map
  return vocabulary;
}

Status Vocabulary::index_words() {
  ids_.reserve(counts_.size());
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const auto id = static_cast<WordId>(i) + first_word;
    if (!ids_.emplace(word(id), id).second) return bad_input("the word '{}' is listed twice", word(id));
  }
  return {};
}

Result<Vocabulary> Vocabulary::load(const fs::path& path) {
  SOTTO_TRY(const auto file, BinaryFileReader::open(path, file_kind, file_version));
  SOTTO_TRY(const auto offsets, file.section<std::uint64_t>("offsets"));
  SOTTO_TRY(const auto bytes, file.section<char>("bytes"));
  SOTTO_TRY(const auto counts, file.section<std::uint64_t>("counts"));
  const auto damaged = [&](std::string_view why) {
    return bad_input("{}: damaged vocabulary ({}); build it again", path.string(), why);
  };
  if (offsets.size() != counts.size() + 1) return damaged("offsets and counts differ in number");
  if (counts.size() > max_words) return damaged("too many words");
  if (offsets.front() != 0 || offsets.back() != bytes.size()) return damaged("offsets do not span the words");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (offsets[i + 1] <= offsets[i])
      return damaged("an empty word");  // also keeps every offset within the bytes
  }
  Vocabulary vocabulary;
  vocabulary.offsets_.assign(offsets.begin(), offsets.end());
  vocabulary.bytes_.assign(bytes.begin(), bytes.end());
  vocabulary.counts_.assign(counts.begin(), counts.end());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!is_utf8(vocabulary.word(static_cast<WordId>(i) + first_word))) return damaged("a word is not UTF-8");
  }
  if (const Status indexed = vocabulary.index_words(); !indexed) return damaged(indexed.error().message);
  return vocabulary;
}

Status Vocabulary::save(const fs::path& path) const {
  SOTTO_TRY(auto file, BinaryFileWriter::create(path, file_kind, file_version));
  SOTTO_CHECK(file.add("offsets", offsets_));
  SOTTO_CHECK(file.add("bytes", bytes_));
  SOTTO_CHECK(file.add("counts", counts_));
  return file.commit();
}

WordId Vocabulary::id(std::string_view word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? unknown : found->second;
}

std::string_view Vocabulary::word(WordId id) const {
  if (id < first_word) return {};
  const auto index = static_cast<std::size_t>(id - first_word);
  const std::uint64_t begin = offsets_.at(index), end = offsets_.at(index + 1);
  return {bytes_.data() + begin, static_cast<std::size_t>(end - begin)};
}

std::uint64_t Vocabulary::count(WordId id) const {
  return id < first_word ? 0 : counts_.at(static_cast<std::size_t>(id - first_word));
}

void TextSettings::bind(SettingsTable& table) {
  table.add("lower_case", tokenizer.lower_case, "Turn words into lower case");
  table.add("keep_punctuation", tokenizer.keep_punctuation, "Keep punctuation marks as words");
  table.add("split_hyphens", tokenizer.split_hyphens, "Split words at hyphens");
  table.add("split_clitics", tokenizer.split_clitics, "Split off 's, n't and the like as words of their own");
  table.add("min_word_count", vocabulary.min_count, {1, 1'000'000'000},
            "Rarer words become the unknown word");
  table.add("max_vocabulary", vocabulary.max_size, {0, 100'000'000},
            "Number of words kept, most frequent first; 0 keeps all");
  table.add("max_words", max_words, {1, 100'000}, "Words of a title that are read");
}

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

}  // namespace sotto::text
