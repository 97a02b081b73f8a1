#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/files.h"
#include "plain_files.h"
#include "test_paths.h"

namespace sotto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TempFolder folder;
  auto file = AtomicFile::create(folder / "out").value();
  ASSERT_TRUE(file.write(std::string_view("hello ")));
  ASSERT_TRUE(file.write(std::string_view("world")));
  EXPECT_EQ(file.size(), 11u);
  EXPECT_FALSE(fs::exists(folder / "out"));
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(get(folder / "out"), "hello world");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("out"));
}

TEST(AtomicFile, LeavesNothingAndKeepsTheOldContentWithoutCommit) {
  const TempFolder folder;
  put(folder / "out", "old");
  {
    auto file = AtomicFile::create(folder / "out").value();
    ASSERT_TRUE(file.write(std::string(1'000'000, 'x')));
  }
  EXPECT_EQ(get(folder / "out"), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("out"));
}

TEST(AtomicFile, MixesSmallAndLargeWritesInOrder) {
  const TempFolder folder;
  auto file = AtomicFile::create(folder / "out").value();
  std::string expected;
  for (std::size_t size = 1; size < 2'000'000; size = size * 3 + 1) {
    const std::string part(size, static_cast<char>('a' + size % 26));
    ASSERT_TRUE(file.write(part));
    expected += part;
  }
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(get(folder / "out"), expected);
}

TEST(AtomicFile, OverwritesWhatIsWrittenAndNothingBeyond) {
  const TempFolder folder;
  auto file = AtomicFile::create(folder / "out").value();
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  ASSERT_TRUE(file.write(std::string_view("....body")));
  ASSERT_TRUE(file.overwrite(0, bytes("head")));
  ASSERT_TRUE(file.write(std::string_view("tail")));
  EXPECT_FALSE(file.overwrite(9, bytes("long")));
  EXPECT_FALSE(file.overwrite(~std::uint64_t{0}, bytes("x")));
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(get(folder / "out"), "headbodytail");
}

TEST(AtomicFile, RefusesUseAfterCommit) {
  const TempFolder folder;
  auto file = AtomicFile::create(folder / "out").value();
  ASSERT_TRUE(file.commit());
  EXPECT_FALSE(file.write(std::string_view("late")));
  EXPECT_FALSE(file.commit());
  EXPECT_EQ(get(folder / "out"), "");
}

TEST(AtomicFile, HasThePermissionsOfAnOrdinaryFile) {
  const TempFolder folder;
  put(folder / "ordinary", "");
  ASSERT_TRUE(write_file_atomically(folder / "out", "x"));
  EXPECT_EQ(fs::status(folder / "out").permissions(), fs::status(folder / "ordinary").permissions());
}

TEST(AtomicFile, RefusesFoldersAndMissingParents) {
  const TempFolder folder;
  fs::create_directory(folder / "sub");
  for (const fs::path& path : {folder / "sub", folder / "missing/out", fs::path("")}) {
    const auto file = AtomicFile::create(path);
    ASSERT_FALSE(file) << path;
    EXPECT_EQ(file.error().kind, ErrorKind::bad_input);
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("sub"));
}

TEST(AtomicFile, MovesOwnership) {
  const TempFolder folder;
  auto first = AtomicFile::create(folder / "first").value();
  auto second = AtomicFile::create(folder / "second").value();
  ASSERT_TRUE(second.write(std::string_view("2")));
  first = std::move(second);
  ASSERT_TRUE(first.commit());
  EXPECT_THAT(names_in(folder.path()), ElementsAre("second"));
}

// A file may not grow beyond `bytes` while this lives: what a full disk looks like to one process.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limited = before_;
    limited.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(AtomicFile, AFailedWriteKeepsTheOldFileAndLeavesNothing) {
  const TempFolder folder;
  put(folder / "out", "old");
  {
    const FileSizeLimit limit(100'000);
    auto file = AtomicFile::create(folder / "out").value();
    const auto written = file.write(std::string(1'000'000, 'x'));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::failed);
    EXPECT_THAT(written.error().message, HasSubstr((folder / "out").string()));
    EXPECT_FALSE(file.write(std::string_view("more"))) << "a hole must not be written over";
    EXPECT_FALSE(file.commit());
  }
  EXPECT_EQ(get(folder / "out"), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("out"));
}

TEST(AtomicFile, AFailureAtCommitIsReportedToo) {
  const TempFolder folder;
  {
    const FileSizeLimit limit(10);
    auto file = AtomicFile::create(folder / "out").value();
    ASSERT_TRUE(file.write(std::string_view("this waits in the buffer")));
    EXPECT_FALSE(file.commit());
  }
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

TEST(AtomicFile, AFolderThatTookTheNameMakesCommitFail) {
  const TempFolder folder;
  {
    auto file = AtomicFile::create(folder / "out").value();
    fs::create_directory(folder / "out");
    EXPECT_FALSE(file.commit());
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("out"));
}

TEST(WriteFileAtomically, ReplacesTheWholeContent) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "out", "a long first version"));
  ASSERT_TRUE(write_file_atomically(folder / "out", "short"));
  EXPECT_EQ(get(folder / "out"), "short");
}

}  // namespace
}  // namespace sotto
