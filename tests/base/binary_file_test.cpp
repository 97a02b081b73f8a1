#include "base/binary_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "plain_files.h"
#include "test_paths.h"

namespace sotto {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Point {
  float x, y;
  std::int32_t label;
  bool operator==(const Point&) const = default;
};

Status write_sample(const fs::path& path) {
  SOTTO_TRY(auto writer, BinaryFileWriter::create(path, "sample", 3));
  SOTTO_CHECK(writer.add("numbers", std::vector<std::uint64_t>{1, 2, 3}));
  SOTTO_CHECK(writer.add("points", std::vector<Point>{{1.5f, -2.0f, 7}}));
  SOTTO_CHECK(writer.add("nothing", std::vector<double>{}));
  SOTTO_CHECK(writer.add_text("story", "once upon a time"));
  return writer.commit();
}

TEST(BinaryFile, ReturnsWhatWasWritten) {
  const TempFolder folder;
  ASSERT_TRUE(write_sample(folder / "file"));
  const auto reader = BinaryFileReader::open(folder / "file", "sample", 3).value();
  EXPECT_THAT(reader.names(), ElementsAre("numbers", "points", "nothing", "story"));
  EXPECT_THAT(reader.section<std::uint64_t>("numbers").value(), ElementsAre(1, 2, 3));
  EXPECT_EQ(reader.section<Point>("points").value()[0], (Point{1.5f, -2.0f, 7}));
  EXPECT_TRUE(reader.section<double>("nothing").value().empty());
  EXPECT_EQ(reader.text("story").value(), "once upon a time");
  EXPECT_EQ(reader.path(), folder / "file");
}

TEST(BinaryFile, AFileWithoutSectionsIsFine) {
  const TempFolder folder;
  auto writer = BinaryFileWriter::create(folder / "file", "k", 0).value();
  ASSERT_TRUE(writer.commit());
  EXPECT_TRUE(BinaryFileReader::open(folder / "file", "k", 0).value().names().empty());
}

TEST(BinaryFile, SectionsAreAlignedForAnyVectorInstruction) {
  const TempFolder folder;
  auto writer = BinaryFileWriter::create(folder / "file", "k", 1).value();
  for (int i = 1; i < 20; ++i) {
    ASSERT_TRUE(writer.add("s" + std::to_string(i), std::vector<char>(static_cast<std::size_t>(i * 7), 'x')));
  }
  ASSERT_TRUE(writer.commit());
  const auto reader = BinaryFileReader::open(folder / "file", "k", 1).value();
  for (const auto& name : reader.names()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(reader.section<char>(name).value().data()) % 64, 0u) << name;
  }
}

TEST(BinaryFile, LargeSectionsSurvive) {
  const TempFolder folder;
  std::vector<std::uint32_t> numbers(1'000'000);
  std::iota(numbers.begin(), numbers.end(), 0u);
  auto writer = BinaryFileWriter::create(folder / "file", "k", 1).value();
  ASSERT_TRUE(writer.add("first", numbers));
  ASSERT_TRUE(writer.add("second", numbers));
  ASSERT_TRUE(writer.commit());
  const auto reader = BinaryFileReader::open(folder / "file", "k", 1).value();
  const auto second = reader.section<std::uint32_t>("second").value();
  EXPECT_TRUE(std::equal(second.begin(), second.end(), numbers.begin(), numbers.end()));
}

TEST(BinaryFile, SpansOutliveAMoveOfTheReader) {
  const TempFolder folder;
  ASSERT_TRUE(write_sample(folder / "file"));
  auto reader = BinaryFileReader::open(folder / "file", "sample", 3).value();
  const auto numbers = reader.section<std::uint64_t>("numbers").value();
  const BinaryFileReader moved = std::move(reader);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3));
}

TEST(BinaryFile, TheSameContentIsTheSameBytes) {
  const TempFolder folder;
  ASSERT_TRUE(write_sample(folder / "a"));
  ASSERT_TRUE(write_sample(folder / "b"));
  EXPECT_EQ(get(folder / "a"), get(folder / "b"));
}

TEST(BinaryFile, AppearsOnlyWhenCommitted) {
  const TempFolder folder;
  {
    auto writer = BinaryFileWriter::create(folder / "file", "k", 1).value();
    ASSERT_TRUE(writer.add_text("t", "x"));
  }
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(BinaryFile, NamesBothKindsWhenTheyDiffer) {
  const TempFolder folder;
  ASSERT_TRUE(write_sample(folder / "file"));
  const auto reader = BinaryFileReader::open(folder / "file", "checkpoint", 3);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(reader.error().message, (folder / "file").string() + " is a sample file, expected checkpoint");
}

TEST(BinaryFile, NamesBothVersionsWhenTheyDiffer) {
  const TempFolder folder;
  ASSERT_TRUE(write_sample(folder / "file"));
  const auto reader = BinaryFileReader::open(folder / "file", "sample", 4);
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, AllOf(HasSubstr("version 3"), HasSubstr("version 4")));
}

TEST(BinaryFile, AForeignFileIsNotASottoFile) {
  const TempFolder folder;
  for (const std::string text :
       {"", "SOTTO", "a text file that is long enough to hold a header, and then some more"}) {
    put(folder / "file", text);
    const auto reader = BinaryFileReader::open(folder / "file", "sample", 3);
    ASSERT_FALSE(reader);
    EXPECT_THAT(reader.error().message, HasSubstr("not a Sotto file"));
  }
}

TEST(BinaryFile, AMissingSectionAndAnotherElementSizeAreErrors) {
  const TempFolder folder;
  ASSERT_TRUE(write_sample(folder / "file"));
  const auto reader = BinaryFileReader::open(folder / "file", "sample", 3).value();
  EXPECT_TRUE(reader.has("numbers"));
  EXPECT_FALSE(reader.has("number"));
  EXPECT_THAT(reader.text("number").error().message, HasSubstr("no section 'number'"));
  EXPECT_THAT(reader.section<std::uint32_t>("numbers").error().message,
              HasSubstr("elements of 8 bytes, expected 4"));
  EXPECT_FALSE(reader.text("numbers"));
}

TEST(BinaryFileWriter, RefusesNamesThatTheFormatCannotHold) {
  const TempFolder folder;
  auto writer = BinaryFileWriter::create(folder / "file", "k", 1).value();
  EXPECT_TRUE(writer.add_text(std::string(48, 'n'), ""));
  for (const std::string& name :
       {std::string(), std::string(49, 'n'), std::string("a b"), std::string("a\0b", 3)}) {
    EXPECT_FALSE(writer.add_text(name, "")) << name;
  }
  for (const std::string& kind : {std::string(), std::string(17, 'k'), std::string("two words")}) {
    EXPECT_FALSE(BinaryFileWriter::create(folder / "other", kind, 1)) << kind;
  }
  ASSERT_TRUE(writer.commit());
  EXPECT_TRUE(BinaryFileReader::open(folder / "file", "k", 1).value().has(std::string(48, 'n')));
}

TEST(BinaryFileWriter, RefusesASectionTwice) {
  const TempFolder folder;
  auto writer = BinaryFileWriter::create(folder / "file", "k", 1).value();
  ASSERT_TRUE(writer.add_text("t", "x"));
  const auto again = writer.add_text("t", "y");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("'t' is written twice"));
}

}  // namespace
}  // namespace sotto
