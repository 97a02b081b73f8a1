#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/distributions.h"
#include "base/files.h"
#include "compress.h"
#include "plain_files.h"
#include "test_paths.h"

namespace sotto {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Half random, half repetitive, so that the compressors use all their block types.
std::string varied_text(std::size_t size) {
  SeededRandom random(21, Purpose::test);
  std::string text;
  while (text.size() < size) {
    const auto run = uniform_below(random, 50);
    if (bernoulli(random, 0.5)) {
      text.append(run, static_cast<char>('a' + run % 26));
    } else {
      for (std::uint64_t i = 0; i < run; ++i) text += static_cast<char>(uniform_below(random, 256));
    }
  }
  text.resize(size);
  return text;
}

TEST(ReadFile, ReturnsPlainBytesUnchanged) {
  const TempFolder folder;
  for (const std::size_t size : {0, 1, 5, 1000, 1'000'000}) {
    const std::string text = varied_text(size);
    put(folder / "plain", text);
    EXPECT_EQ(read_file(folder / "plain").value(), text) << size;
  }
}

TEST(ReadFile, DecompressesByContentNotByName) {
  const TempFolder folder;
  for (const auto& [extension, compress] : compressions()) {
    for (const std::size_t size : {0, 1, 1000, 600'000}) {
      const std::string text = varied_text(size);
      put(folder / "data.txt", compress(text));
      EXPECT_EQ(read_file(folder / "data.txt").value(), text) << extension << " " << size;
    }
  }
}

TEST(ReadFile, ReadsSeveralCompressedPartsAsOne) {
  const TempFolder folder;
  for (const auto& [extension, compress] : compressions()) {
    const std::string first = varied_text(300'000), second = "the second part\n";
    put(folder / "parts", compress(first) + compress("") + compress(second));
    EXPECT_EQ(read_file(folder / "parts").value(), first + second) << extension;
  }
}

#ifdef SOTTO_HAVE_ZSTD
TEST(ReadFile, SkipsZstdFramesThatHoldNoData) {
  const TempFolder folder;
  const std::string skippable("\x5A\x2A\x4D\x18\x03\x00\x00\x00xyz", 11);
  put(folder / "data", skippable + compress_zstd("hello") + skippable);
  EXPECT_EQ(read_file(folder / "data").value(), "hello");
}
#endif

TEST(ReadFile, NamesACompressedFileThatIsCutOffAtAnyLength) {
  const TempFolder folder;
  for (const auto& [extension, compress] : compressions()) {
    const std::string whole = compress(varied_text(250));
    const auto path = folder / ("cut" + extension);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      put(path, whole.substr(0, length));
      const auto content = read_file(path);
      ASSERT_FALSE(content) << extension << " " << length;
      ASSERT_EQ(content.error().kind, ErrorKind::bad_input);
      ASSERT_THAT(content.error().message, AllOf(HasSubstr(path.string()), HasSubstr("cut off"))) << length;
    }
  }
}

TEST(ReadFile, NeverReturnsWrongContentFromADamagedFile) {
  const TempFolder folder;
  const std::string text = varied_text(250);
  for (const auto& [extension, compress] : compressions()) {
    const std::string whole = compress(text);
    const auto path = folder / ("damaged" + extension);
    std::size_t refused = 0;
    for (std::size_t at = 6; at < whole.size(); ++at) {  // without the signature it is another kind of file
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      put(path, damaged);
      const auto content = read_file(path);
      if (content) {
        ASSERT_EQ(*content, text) << extension << " byte "
                                  << at;  // times and names in a header do not matter
      } else {
        ++refused;
        ASSERT_EQ(content.error().kind, ErrorKind::bad_input);
        ASSERT_THAT(content.error().message, HasSubstr(path.string()));
      }
    }
    EXPECT_GT(refused, whole.size() / 2);
  }
}

TEST(ReadFile, RefusesBytesBehindTheCompressedData) {
  const TempFolder folder;
  for (const auto& [extension, compress] : compressions()) {
    put(folder / "tail", compress("hello") + "and something else");
    EXPECT_FALSE(read_file(folder / "tail")) << extension;
  }
}

TEST(ReadFile, RefusesABombBeforeItFillsTheMemory) {
  const TempFolder folder;
  for (const auto& [extension, compress] : compressions()) {
    const std::string bomb = compress(std::string(std::size_t{16} << 20, '\0'));
    put(folder / "bomb", bomb);
    ASSERT_LT(fs::file_size(folder / "bomb"), 100'000u);
    const auto content = read_file(folder / "bomb", 1 << 20);
    ASSERT_FALSE(content) << extension;
    EXPECT_THAT(content.error().message, HasSubstr("more than 1048576 bytes"));
  }
}

TEST(ReadFile, TheLimitIsExact) {
  const TempFolder folder;
  put(folder / "file", "12345");
  EXPECT_TRUE(read_file(folder / "file", 5));
  EXPECT_FALSE(read_file(folder / "file", 4));
  put(folder / "file", "");
  EXPECT_TRUE(read_file(folder / "file", 0));
}

TEST(ReadFile, ExplainsMissingFilesAndFolders) {
  const TempFolder folder;
  const auto missing = read_file(folder / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(missing.error().message, AllOf(HasSubstr("missing"), HasSubstr("No such file")));
  const auto directory = read_file(folder.path());
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(directory.error().message, HasSubstr("folder"));
}

TEST(FindPossiblyCompressed, PrefersThePlainFile) {
  const TempFolder folder;
  put(folder / "news.tsv.gz", "");
  EXPECT_EQ(find_possibly_compressed(folder / "news.tsv").value(), folder / "news.tsv.gz");
  put(folder / "news.tsv.xz", "");
  EXPECT_EQ(find_possibly_compressed(folder / "news.tsv").value(), folder / "news.tsv.xz");
  put(folder / "news.tsv", "");
  EXPECT_EQ(find_possibly_compressed(folder / "news.tsv").value(), folder / "news.tsv");
}

TEST(FindPossiblyCompressed, NamesAllCandidates) {
  const TempFolder folder;
  const auto found = find_possibly_compressed(folder / "news.tsv");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr((folder / "news.tsv").string()), HasSubstr("news.tsv.xz"),
                    HasSubstr("news.tsv.gz"), HasSubstr("news.tsv.zst")));
}

}  // namespace
}  // namespace sotto
