#pragma once
// Word vectors in GloVe's text format: "word v1 v2 ... vd" per line, with or without a first line "rows d"
// (as word2vec and fastText write it). Only the vectors of a vocabulary are kept.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "text/vocabulary.h"

namespace sotto::text {

struct GloveSettings {
  std::uint64_t seed = 0;              // for the vectors of missing words
  std::size_t expected_dimension = 0;  // 0: whatever the file has
};

// How well the file covers the vocabulary. Occurrences weigh each word by its count.
struct GloveCoverage {
  std::uint64_t rows_read = 0;
  std::uint64_t words = 0, words_found = 0;
  std::uint64_t occurrences = 0, occurrences_found = 0;
};

struct WordVectors {
  std::size_t dimension = 0;  // d
  std::vector<float> values;  // V x d; row Vocabulary::padding is zero
  GloveCoverage coverage;
};

// Takes the lines of a file one by one. Refers to the vocabulary, which must outlive it; not thread-safe.
// After an error the object is of no further use.
class GloveCollector {
 public:
  explicit GloveCollector(const Vocabulary& vocabulary, const GloveSettings& settings = {});

  // Checks the number of values in every line, parses those of known words. A word that comes twice keeps its
  // first vector.
  Status add_line(std::string_view line);

  // Missing words (and the unknown word) get vectors drawn from a normal distribution with the mean and
  // standard deviation, per coordinate, of the vectors found. An error when no word was found or rows are
  // missing.
  Result<WordVectors> finish();

 private:
  Status read_first_line(std::string_view line, bool& is_header);
  Status store(WordId id, std::string_view numbers);
  void draw_missing();

  const Vocabulary& vocabulary_;
  GloveSettings settings_;
  std::uint64_t line_number_ = 0;
  std::uint64_t promised_rows_ = 0;  // by a header line; 0: none
  std::vector<std::uint8_t> found_;
  WordVectors vectors_;
};

// Streams the file (.xz, .gz, .zst or plain).
Result<WordVectors> read_glove(const fs::path& path, const Vocabulary& vocabulary,
                               const GloveSettings& settings = {});

}  // namespace sotto::text
