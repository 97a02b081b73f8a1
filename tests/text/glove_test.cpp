#include "text/glove.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/interrupt.h"
#include "base/progress.h"
#include "text/vocabulary.h"

namespace sotto::text {
namespace {

using ::testing::HasSubstr;

Vocabulary vocabulary_of(const std::vector<std::pair<std::string, std::uint64_t>>& words) {
  WordCounts counts;
  for (const auto& [word, count] : words) counts.add(word, count);
  return Vocabulary::build(counts);
}

Result<WordVectors> collect(const Vocabulary& vocabulary, const std::vector<std::string>& lines,
                            GloveSettings settings = {}) {
  GloveCollector collector(vocabulary, settings);
  for (const auto& line : lines) SOTTO_CHECK(collector.add_line(line));
  return collector.finish();
}

std::string error_of(const Vocabulary& vocabulary, const std::vector<std::string>& lines,
                     GloveSettings settings = {}) {
  const auto vectors = collect(vocabulary, lines, settings);
  EXPECT_FALSE(vectors);
  return vectors ? std::string() : vectors.error().message;
}

TEST(Glove, KeepsTheVectorsOfTheVocabulary) {
  const auto vocabulary = vocabulary_of({{"the", 10}, {"cat", 3}, {"sotto", 1}});
  const auto vectors = collect(vocabulary, {"the 1 2 3", "dog 7 7 7", "cat -1.5 2e-3 0"});
  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_EQ(vectors->dimension, 3U);
  ASSERT_EQ(vectors->values.size(), vocabulary.size() * 3);
  const std::vector<float> the(vectors->values.begin() + 6, vectors->values.begin() + 9);
  EXPECT_THAT(the, ::testing::ElementsAre(1, 2, 3));
  EXPECT_FLOAT_EQ(vectors->values[9], -1.5F);
  EXPECT_FLOAT_EQ(vectors->values[10], 2e-3F);
}

TEST(Glove, CountsCoverageByWordsAndOccurrences) {
  const auto vocabulary = vocabulary_of({{"the", 10}, {"cat", 3}, {"sotto", 1}});
  const auto vectors = collect(vocabulary, {"the 1 2", "dog 7 7", "cat 1 2"});
  ASSERT_TRUE(vectors);
  EXPECT_EQ(vectors->coverage.rows_read, 3U);
  EXPECT_EQ(vectors->coverage.words, 3U);
  EXPECT_EQ(vectors->coverage.words_found, 2U);
  EXPECT_EQ(vectors->coverage.occurrences, 14U);
  EXPECT_EQ(vectors->coverage.occurrences_found, 13U);
}

TEST(Glove, ReadsAHeaderLineAndChecksItsPromise) {
  const auto vocabulary = vocabulary_of({{"the", 1}});
  const auto vectors = collect(vocabulary, {"2 3", "the 1 2 3 ", "dog 1 2 3\r"});
  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_EQ(vectors->coverage.rows_read, 2U);
  EXPECT_THAT(error_of(vocabulary, {"3 3", "the 1 2 3", "dog 1 2 3"}), HasSubstr("cut off"));
  EXPECT_THAT(error_of(vocabulary, {"3 4", "the 1 2 3"}), HasSubstr("line 2: fewer than 4"));
}

TEST(Glove, AHugeHeaderCostsNoMemory) {
  const auto vocabulary = vocabulary_of({{"the", 1}});
  EXPECT_THAT(error_of(vocabulary, {"1000 18446744073709551615"}), HasSubstr("1 to 4096"));
  EXPECT_THAT(error_of(vocabulary, {"18446744073709551615 4096"}), HasSubstr("no word vectors"));
}

TEST(Glove, AcceptsWordsWithSpaces) {
  const auto vocabulary = vocabulary_of({{". . .", 1}});
  const auto vectors = collect(vocabulary, {"the 1 2", ". . . 3 4"});
  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_FLOAT_EQ(vectors->values[4], 3);
}

TEST(Glove, RefusesRowsOfAnotherDimension) {
  const auto vocabulary = vocabulary_of({{"the", 1}, {"cat", 1}});
  EXPECT_THAT(error_of(vocabulary, {"the 1 2 3", "cat 1 2"}), HasSubstr("line 2: fewer than 3"));
  EXPECT_THAT(error_of(vocabulary, {"the 1 2 3", "other 1 2"}), HasSubstr("line 2: fewer than 3"));
  EXPECT_THAT(error_of(vocabulary, {"the 1 2 3", "cat 1 2 3 4"}), HasSubstr("line 2: more than 3"));
  EXPECT_THAT(error_of(vocabulary, {"the 1 2 3", ""}), HasSubstr("line 2"));
  EXPECT_THAT(error_of(vocabulary, {"the"}), HasSubstr("0 values"));
  EXPECT_THAT(error_of(vocabulary, {"the 1 2 3"}, {.expected_dimension = 300}), HasSubstr("needs 300"));
}

TEST(Glove, RefusesValuesThatAreNoPlausibleNumbers) {
  const auto vocabulary = vocabulary_of({{"the", 1}});
  for (const char* bad : {"nan", "inf", "-inf", "1e9", "1x", "", "0x10", "1,5", "+"}) {
    EXPECT_THAT(error_of(vocabulary, {std::string("the 1 ") + bad + " 3"}), HasSubstr("line 1")) << bad;
  }
}

TEST(Glove, RefusesAFileWithoutAnyKnownWord) {
  const auto vocabulary = vocabulary_of({{"ordet", 1}});
  EXPECT_THAT(error_of(vocabulary, {"the 1 2"}), HasSubstr("none of the 1 words"));
  EXPECT_THAT(error_of(vocabulary, {}), HasSubstr("no word vectors"));
}

TEST(Glove, TheFirstOfRepeatedWordsWins) {
  const auto vocabulary = vocabulary_of({{"the", 1}});
  const auto vectors = collect(vocabulary, {"the 1 2", "the 3 4"});
  ASSERT_TRUE(vectors);
  EXPECT_FLOAT_EQ(vectors->values[4], 1);
  EXPECT_EQ(vectors->coverage.words_found, 1U);
}

TEST(Glove, MissingWordsFollowTheDistributionOfTheFound) {
  // Found vectors alternate between (9, -1) and (11, -1): mean 10, deviation 1 in the first coordinate, 0 in
  // the other.
  std::vector<std::pair<std::string, std::uint64_t>> words;
  std::vector<std::string> lines;
  for (int i = 0; i < 200; ++i) {
    words.emplace_back("found" + std::to_string(i), 2);
    lines.push_back(words.back().first + (i % 2 == 0 ? " 9 -1" : " 11 -1"));
  }
  const int missing = 4000;
  for (int i = 0; i < missing; ++i) words.emplace_back("missing" + std::to_string(i), 1);
  const auto vocabulary = vocabulary_of(words);
  const auto vectors = collect(vocabulary, lines, {.seed = 7});
  ASSERT_TRUE(vectors);
  double sum = 0, squares = 0;
  for (std::size_t id = 202; id < vocabulary.size(); ++id) {
    const double value = vectors->values[id * 2];
    sum += value;
    squares += (value - 10) * (value - 10);
    EXPECT_FLOAT_EQ(vectors->values[id * 2 + 1], -1);
  }
  EXPECT_NEAR(sum / missing, 10, 5 / std::sqrt(missing));  // five standard errors
  EXPECT_NEAR(squares / missing, 1, 5 * std::sqrt(2.0 / missing));
  EXPECT_EQ(vectors->values[0], 0);  // padding
  EXPECT_EQ(vectors->values[1], 0);
  EXPECT_NE(vectors->values[2], 0);  // the unknown word is drawn too
}

TEST(Glove, DrawnVectorsDependOnTheSeedAlone) {
  const auto vocabulary = vocabulary_of({{"a", 3}, {"b", 2}, {"c", 1}});
  const std::vector<std::string> lines = {"a 1 2", "x 0 0", "b 3 4"};
  const auto first = collect(vocabulary, lines, {.seed = 1});
  const auto again = collect(vocabulary, {lines[2], lines[0]}, {.seed = 1});
  const auto other = collect(vocabulary, lines, {.seed = 2});
  ASSERT_TRUE(first && again && other);
  EXPECT_EQ(first->values, again->values);
  EXPECT_NE(first->values, other->values);
}

TEST(GloveFile, ErrorsNameTheFileAndTheLine) {
  const auto path = fs::path(::testing::TempDir()) / ("sotto_glove_" + std::to_string(getpid()) + ".txt");
  std::ofstream(path) << "the 1 2\ncat 1\n";
  const auto vectors = read_glove(path, vocabulary_of({{"the", 1}}));
  fs::remove(path);
  ASSERT_FALSE(vectors);
  EXPECT_THAT(vectors.error().message, ::testing::AllOf(HasSubstr(path.string()), HasSubstr("line 2")));
  EXPECT_FALSE(read_glove(path, vocabulary_of({{"the", 1}})));  // gone now
}

TEST(GloveFile, ReadingHasABarAndStopsInTheMiddle) {
  const auto path = fs::path(::testing::TempDir()) / ("sotto_glove_" + std::to_string(getpid()) + ".txt");
  {
    std::ofstream file(path);
    for (int word = 0; word < 5000; ++word) file << 'w' << word << " 1 2\n";
  }
  const Vocabulary vocabulary = vocabulary_of({{"w4999", 1}});
  set_progress_style(ProgressStyle::bar);
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(read_glove(path, vocabulary));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("reading " + path.filename().string()));
  set_progress_style(ProgressStyle::automatic);
  set_interrupted(true);
  const auto stopped = read_glove(path, vocabulary);
  set_interrupted(false);
  fs::remove(path);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::failed);
  EXPECT_THAT(stopped.error().message, HasSubstr("interrupted"));
}

// Titles of the real MIND sample against the real GloVe file.
TEST(GloveFile, CoversTheTitlesOfTheRealNews) {
#if !defined(SOTTO_HAVE_LZMA)
  GTEST_SKIP() << "built without xz";
#endif
  const char* variable = std::getenv("SOTTO_DATA");
  const fs::path data =
      variable != nullptr ? fs::path(variable) : fs::path(SOTTO_SOURCE_DIR) / "../shared/data";
  const fs::path glove = data / "glove/glove.100d.subset.txt.xz", news = data / "mind-partial/news.tsv";
  if (!fs::exists(glove) || !fs::exists(news)) GTEST_SKIP() << "no data in " << data << "; set SOTTO_DATA";

  std::vector<std::string> titles;
  std::ifstream file(news);
  for (std::string line; std::getline(file, line);) {
    std::size_t begin = 0;
    for (int column = 0; column < 3; ++column) begin = line.find('\t', begin) + 1;
    titles.push_back(line.substr(begin, line.find('\t', begin) - begin));
  }
  ASSERT_EQ(titles.size(), 2000U);
  const TextAt text = [&](std::size_t i) { return std::string_view(titles[i]); };
  const WordTokenizer tokenizer;
  const auto vocabulary = Vocabulary::build(count_words(titles.size(), text, tokenizer));
  const auto vectors = read_glove(data / "glove/glove.100d.subset.txt", vocabulary);  // found by its .xz
  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_EQ(vectors->dimension, 100U);
  const auto& coverage = vectors->coverage;
  EXPECT_EQ(coverage.rows_read, 56'168U);
  const double tokens =
      static_cast<double>(coverage.occurrences_found) / static_cast<double>(coverage.occurrences);
  const double types = static_cast<double>(coverage.words_found) / static_cast<double>(coverage.words);
  RecordProperty("token_coverage", std::to_string(tokens));
  RecordProperty("type_coverage", std::to_string(types));
  EXPECT_GT(tokens, 0.90);
  EXPECT_GT(types, 0.80);

  const auto matrix = build_token_matrix(titles.size(), text, tokenizer, vocabulary);
  EXPECT_EQ(matrix.rows, 2000U);
  for (std::size_t i = 0; i < matrix.rows; ++i) ASSERT_GT(matrix.lengths[i], 0);
}

}  // namespace
}  // namespace sotto::text
