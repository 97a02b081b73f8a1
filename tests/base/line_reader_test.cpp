#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/distributions.h"
#include "base/files.h"
#include "compress.h"
#include "plain_files.h"
#include "test_paths.h"

namespace sotto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> lines_of(const fs::path& path) {
  auto reader = LineReader::open(path).value();
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line).value()) {
    lines.emplace_back(line);
    EXPECT_EQ(reader.line_number(), lines.size());
  }
  EXPECT_FALSE(reader.next(line).value()) << "the end stays the end";
  return lines;
}

std::vector<std::string> lines_of_text(std::string_view text) {
  const TempFolder folder;
  put(folder / "text", text);
  return lines_of(folder / "text");
}

// Character by character, with the whole text in memory.
std::vector<std::string> split_slowly(std::string_view text) {
  std::vector<std::string> lines;
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::exchange(line, {}));
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

TEST(LineReader, StripsBothKindsOfLineEnd) {
  EXPECT_THAT(lines_of_text("a\nb\r\n\n\r\nc\n"), ElementsAre("a", "b", "", "", "c"));
}

TEST(LineReader, ReturnsALastLineWithoutEnd) {
  EXPECT_THAT(lines_of_text("a\nb"), ElementsAre("a", "b"));
  EXPECT_THAT(lines_of_text("a\nb\r"), ElementsAre("a", "b\r"));
}

TEST(LineReader, AnEmptyFileHasNoLines) { EXPECT_THAT(lines_of_text(""), ElementsAre()); }

TEST(LineReader, KeepsZeroBytesAndLoneReturns) {
  const std::string text("a\0b\rc\n", 6);
  EXPECT_THAT(lines_of_text(text), ElementsAre(std::string("a\0b\rc", 5)));
}

TEST(LineReader, EqualsASlowSplitOfTheWholeText) {
  SeededRandom random(31, Purpose::test);
  const TempFolder folder;
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::string text;
    // Line lengths from nothing to several times the buffer.
    for (int line = 0; line < 200; ++line) {
      const auto length = uniform_below(random, std::uint64_t{1} << uniform_below(random, 20));
      text.append(length, static_cast<char>('a' + line % 26));
      text += bernoulli(random, 0.3) ? "\r\n" : "\n";
      if (bernoulli(random, 0.1)) text += '\r';
    }
    if (bernoulli(random, 0.5)) text += "last";
    const auto expected = split_slowly(text);
    put(folder / "plain", text);
    ASSERT_EQ(lines_of(folder / "plain"), expected);
    for (const auto& [extension, compress] : compressions()) {
      put(folder / "packed", compress(text));
      ASSERT_EQ(lines_of(folder / "packed"), expected) << extension;
    }
  }
}

TEST(LineReader, OpensTheCompressedSiblingOfAMissingFile) {
  const TempFolder folder;
  for (const auto& [extension, compress] : compressions()) {
    const auto packed = folder / ("behaviors" + extension + ".tsv" + extension);
    put(packed, compress("one\ntwo\n"));
    auto reader = LineReader::open(folder / ("behaviors" + extension + ".tsv")).value();
    EXPECT_EQ(reader.path(), packed);
    std::string_view line;
    ASSERT_TRUE(reader.next(line).value());
    EXPECT_EQ(line, "one");
  }
}

TEST(LineReader, AMissingFileIsTheUsersToFix) {
  const TempFolder folder;
  const auto reader = LineReader::open(folder / "missing");
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, ErrorKind::bad_input);
}

TEST(LineReader, RefusesALineBeyondTheLimitAndNamesIt) {
  const TempFolder folder;
  for (const std::size_t limit : {10, 300'000}) {
    const std::string fits(limit, 'x');
    put(folder / "text", fits + "\n" + fits + "\r\n" + fits + "x\n");
    auto reader = LineReader::open(folder / "text", limit).value();
    std::string_view line;
    ASSERT_TRUE(reader.next(line).value());
    ASSERT_TRUE(reader.next(line).value());
    EXPECT_EQ(line, fits);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto third = reader.next(line);
      ASSERT_FALSE(third);
      EXPECT_EQ(third.error().kind, ErrorKind::bad_input);
      EXPECT_THAT(third.error().message, HasSubstr("text:3: line is longer"));
    }
  }
}

TEST(LineReader, RefusesABombWithoutLineEnds) {
  const TempFolder folder;
  for (const auto& [extension, compress] : compressions()) {
    put(folder / "bomb", compress(std::string(std::size_t{16} << 20, '\0')));
    auto reader = LineReader::open(folder / "bomb", 1 << 20).value();
    std::string_view line;
    EXPECT_FALSE(reader.next(line)) << extension;
    EXPECT_LT(reader.compressed_bytes_read(), 100'000u);
  }
}

TEST(LineReader, ReportsDamageInTheMiddleAndKeepsReportingIt) {
  const TempFolder folder;
  SeededRandom random(32, Purpose::test);
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += std::to_string(random()) + "\n";
  for (const auto& [extension, compress] : compressions()) {
    std::string packed = compress(text);
    for (std::size_t at = packed.size() / 2; at < packed.size() / 2 + 64; ++at) packed[at] = '\x55';
    put(folder / "damaged", packed);
    auto reader = LineReader::open(folder / "damaged").value();
    std::string_view line;
    auto more = reader.next(line);
    while (more && *more) more = reader.next(line);
    ASSERT_FALSE(more) << extension;
    EXPECT_EQ(more.error().kind, ErrorKind::bad_input);
    EXPECT_FALSE(reader.next(line)) << extension;
  }
}

TEST(LineReader, CountsTheCompressedBytesForProgress) {
  const TempFolder folder;
  for (const auto& [extension, compress] : compressions()) {
    put(folder / "packed", compress("one\ntwo\n"));
    auto reader = LineReader::open(folder / "packed").value();
    std::string_view line;
    while (reader.next(line).value()) {
    }
    EXPECT_EQ(reader.compressed_bytes_read(), fs::file_size(folder / "packed")) << extension;
  }
}

TEST(LineReader, ReadsTheRealMovieLensRatings) {
  const auto data = shared_data_directory();
  if (!data) GTEST_SKIP() << "no real data: set SOTTO_DATA";
  auto reader = LineReader::open(*data / "ml-1m" / "ratings.dat");
  if (!reader) GTEST_SKIP() << reader.error().message;
  std::string_view line;
  while (reader->next(line).value()) {
  }
  EXPECT_EQ(reader->line_number(), 1'000'209u);
}

}  // namespace
}  // namespace sotto
