#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "plain_files.h"
#include "test_paths.h"

namespace sotto {
namespace {

std::string content(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const TempFolder folder;
  const std::string text(100'000, 'x');
  put(folder / "file", text);
  EXPECT_EQ(content(MappedFile::open(folder / "file").value()), text);
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
  const TempFolder folder;
  put(folder / "file", "");
  EXPECT_TRUE(MappedFile::open(folder / "file").value().bytes().empty());
}

TEST(MappedFile, MovesOwnership) {
  const TempFolder folder;
  put(folder / "a", "first");
  put(folder / "b", "second");
  auto first = MappedFile::open(folder / "a").value();
  auto second = MappedFile::open(folder / "b").value();
  first = std::move(second);
  const MappedFile third = std::move(first);
  EXPECT_EQ(content(third), "second");
}

TEST(MappedFile, RefusesWhatIsNotARegularFile) {
  const TempFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const fs::path& path : {folder.path(), folder / "pipe", folder / "missing"}) {
    const auto file = MappedFile::open(path);
    ASSERT_FALSE(file) << path;
    EXPECT_EQ(file.error().kind, ErrorKind::bad_input);
  }
}

}  // namespace
}  // namespace sotto
