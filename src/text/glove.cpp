#include "text/glove.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/distributions.h"
#include "base/interrupt.h"
#include "base/progress.h"

namespace sotto::text {

namespace {

constexpr std::size_t max_dimension = 4096;
constexpr float max_magnitude = 1e6F;  // real vectors stay below 100
constexpr std::size_t max_line_bytes = std::size_t{1} << 20;
constexpr std::uint64_t lines_between_looks = 1000;

std::string_view without_trailing_spaces(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
    line.remove_suffix(1);
  return line;
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

GloveCollector::GloveCollector(const Vocabulary& vocabulary, const GloveSettings& settings)
    : vocabulary_(vocabulary), settings_(settings), found_(vocabulary.size(), 0) {}

Status GloveCollector::read_first_line(std::string_view line, bool& is_header) {
  const auto fields = static_cast<std::size_t>(std::count(line.begin(), line.end(), ' ')) + 1;
  std::size_t dimension = fields - 1;
  const std::size_t space = line.find(' ');
  is_header = false;
  if (fields == 2) {
    const auto rows = parse<std::uint64_t>(line.substr(0, space));
    const auto columns = parse<std::size_t>(line.substr(space + 1));
    if (rows && columns) {
      if (*rows == 0) return bad_input("line 1: the header promises no rows");
      is_header = true;
      promised_rows_ = *rows;
      dimension = *columns;
    }
  }
  if (dimension == 0 || dimension > max_dimension) {
    return bad_input("line 1: {} values per word; expected lines of a word and 1 to {} numbers", dimension,
                     max_dimension);
  }
  if (settings_.expected_dimension != 0 && dimension != settings_.expected_dimension) {
    return bad_input(
        "vectors have {} values, the model needs {}; choose the matching file or set the model's word size",
        dimension, settings_.expected_dimension);
  }
  vectors_.dimension = dimension;
  return {};
}

Status GloveCollector::add_line(std::string_view line) {
  ++line_number_;
  line = without_trailing_spaces(line);
  if (line_number_ == 1) {
    bool is_header = false;
    SOTTO_CHECK(read_first_line(line, is_header));
    if (is_header) return {};
  }
  ++vectors_.coverage.rows_read;
  const std::size_t dimension = vectors_.dimension;

  // The last d fields are the numbers; what stands before them is the word, which may itself hold spaces.
  std::size_t begin_of_numbers = line.size();
  for (std::size_t field = 0; field < dimension; ++field) {
    if (begin_of_numbers != line.size()) --begin_of_numbers;  // step over the space found before
    const std::size_t space =
        begin_of_numbers == 0 ? std::string_view::npos : line.rfind(' ', begin_of_numbers - 1);
    if (space == std::string_view::npos || space == 0) {
      return bad_input("line {}: fewer than {} values after the word", line_number_, dimension);
    }
    begin_of_numbers = space + 1;
  }
  const std::string_view word = line.substr(0, begin_of_numbers - 1);
  const std::size_t last_space = word.rfind(' ');
  if (last_space != std::string_view::npos && parse<float>(word.substr(last_space + 1))) {
    return bad_input("line {}: more than {} values after the word", line_number_, dimension);
  }
  const WordId id = vocabulary_.id(word);
  if (id == Vocabulary::unknown || found_[static_cast<std::size_t>(id)] != 0) return {};
  return store(id, line.substr(begin_of_numbers));
}

Status GloveCollector::store(WordId id, std::string_view numbers) {
  const std::size_t dimension = vectors_.dimension;
  // Not before a line of that dimension was seen: a header alone must not cost memory.
  if (vectors_.values.empty()) vectors_.values.assign(vocabulary_.size() * dimension, 0.0F);
  float* row = vectors_.values.data() + static_cast<std::size_t>(id) * dimension;
  for (std::size_t field = 0; field < dimension; ++field) {
    const std::size_t space = numbers.find(' ');
    const std::string_view text = numbers.substr(0, space);
    const auto value = parse<float>(text);
    if (!value || !(std::abs(*value) <= max_magnitude)) {
      return bad_input("line {}: '{}' is not a number between -{} and {}", line_number_, text.substr(0, 40),
                       max_magnitude, max_magnitude);
    }
    row[field] = *value;
    numbers.remove_prefix(space == std::string_view::npos ? numbers.size() : space + 1);
  }
  found_[static_cast<std::size_t>(id)] = 1;
  ++vectors_.coverage.words_found;
  vectors_.coverage.occurrences_found += vocabulary_.count(id);
  return {};
}

void GloveCollector::draw_missing() {
  const std::size_t dimension = vectors_.dimension;
  const auto found = static_cast<double>(vectors_.coverage.words_found);
  std::vector<double> mean(dimension, 0.0), deviation(dimension, 0.0);
  const auto for_each_found = [&](auto visit) {
    for (std::size_t id = Vocabulary::first_word; id < found_.size(); ++id) {
      if (found_[id] == 0) continue;
      for (std::size_t k = 0; k < dimension; ++k)
        visit(k, static_cast<double>(vectors_.values[id * dimension + k]));
    }
  };
  for_each_found([&](std::size_t k, double value) { mean[k] += value / found; });
  for_each_found(
      [&](std::size_t k, double value) { deviation[k] += (value - mean[k]) * (value - mean[k]) / found; });
  for (double& value : deviation) value = std::sqrt(value);
  for (std::size_t id = Vocabulary::unknown; id < found_.size(); ++id) {
    if (found_[id] != 0) continue;
    // One stream per word: its vector does not depend on which other words are missing.
    SeededRandom random(settings_.seed, Purpose::initialisation, 0, static_cast<std::uint32_t>(id));
    for (std::size_t k = 0; k < dimension; ++k) {
      vectors_.values[id * dimension + k] = static_cast<float>(mean[k] + deviation[k] * normal(random));
    }
  }
}

Result<WordVectors> GloveCollector::finish() {
  GloveCoverage& coverage = vectors_.coverage;
  if (coverage.rows_read == 0) return bad_input("no word vectors in it");
  if (promised_rows_ != 0 && promised_rows_ != coverage.rows_read) {
    return bad_input("the header promises {} rows, there are {}: is the file cut off?", promised_rows_,
                     coverage.rows_read);
  }
  if (coverage.words_found == 0) {
    return bad_input(
        "none of the {} words of the vocabulary is in it; is it of another language, or not lower-cased?",
        vocabulary_.size() - Vocabulary::first_word);
  }
  coverage.words = vocabulary_.size() - Vocabulary::first_word;
  for (std::size_t id = Vocabulary::first_word; id < vocabulary_.size(); ++id) {
    coverage.occurrences += vocabulary_.count(static_cast<WordId>(id));
  }
  draw_missing();
  return std::move(vectors_);
}

Result<WordVectors> read_glove(const fs::path& path, const Vocabulary& vocabulary,
                               const GloveSettings& settings) {
  SOTTO_TRY(auto lines, LineReader::open(path, max_line_bytes));
  GloveCollector collector(vocabulary, settings);
  std::error_code none;
  const auto size = fs::file_size(lines.path(), none);
  Progress progress(fmt::format("reading {}", lines.path().filename().string()), none ? 0 : size, "B");
  std::string_view line;
  while (true) {
    SOTTO_TRY(const bool more, lines.next(line));
    if (!more) break;
    if (lines.line_number() % lines_between_looks == 0) {
      progress.set(lines.compressed_bytes_read());
      if (interrupted()) return failed("interrupted while reading {}", lines.path().string());
    }
    if (Status added = collector.add_line(line); !added) {
      return tl::unexpected(std::move(added).error().in(lines.path().string()));
    }
  }
  auto vectors = collector.finish();
  if (!vectors) return tl::unexpected(std::move(vectors).error().in(lines.path().string()));
  return vectors;
}

}  // namespace sotto::text
