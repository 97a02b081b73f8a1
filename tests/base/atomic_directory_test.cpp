#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "plain_files.h"
#include "test_paths.h"

namespace sotto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(AtomicDirectory, AppearsOnlyWhenCommitted) {
  const TempFolder folder;
  auto directory = AtomicDirectory::create(folder / "out").value();
  put(directory.path() / "a", "1");
  EXPECT_FALSE(fs::exists(folder / "out"));
  ASSERT_TRUE(directory.commit());
  EXPECT_EQ(get(folder / "out" / "a"), "1");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("out"));
}

TEST(AtomicDirectory, LeavesNothingWithoutCommit) {
  const TempFolder folder;
  {
    auto directory = AtomicDirectory::create(folder / "out").value();
    fs::create_directories(directory.path() / "deep" / "er");
    put(directory.path() / "deep" / "er" / "a", "1");
  }
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

TEST(AtomicDirectory, TakesOverAnEmptyFolder) {
  const TempFolder folder;
  fs::create_directory(folder / "out");
  auto directory = AtomicDirectory::create(folder / "out/").value();
  put(directory.path() / "a", "1");
  ASSERT_TRUE(directory.commit());
  EXPECT_THAT(names_in(folder / "out"), ElementsAre("a"));
}

TEST(AtomicDirectory, RefusesToReplaceContentUnlessAsked) {
  const TempFolder folder;
  fs::create_directory(folder / "out");
  put(folder / "out/precious", "old");
  const auto directory = AtomicDirectory::create(folder / "out");
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(directory.error().message, HasSubstr("not empty"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("out"));
}

TEST(AtomicDirectory, RefusesContentThatAppearedMeanwhile) {
  const TempFolder folder;
  {
    auto directory = AtomicDirectory::create(folder / "out").value();
    fs::create_directory(folder / "out");
    put(folder / "out/precious", "other");
    EXPECT_FALSE(directory.commit());
  }
  EXPECT_EQ(get(folder / "out/precious"), "other");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("out"));
}

TEST(AtomicDirectory, ReplacingKeepsTheOldContentUntilCommit) {
  const TempFolder folder;
  fs::create_directory(folder / "out");
  put(folder / "out/old", "old");
  auto directory = AtomicDirectory::create(folder / "out", true).value();
  put(directory.path() / "new", "new");
  EXPECT_THAT(names_in(folder / "out"), ElementsAre("old"));
  ASSERT_TRUE(directory.commit());
  EXPECT_THAT(names_in(folder / "out"), ElementsAre("new"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("out"));
}

TEST(AtomicDirectory, GivingUpAReplacementKeepsTheOldContent) {
  const TempFolder folder;
  fs::create_directory(folder / "out");
  put(folder / "out/old", "old");
  { auto directory = AtomicDirectory::create(folder / "out", true).value(); }
  EXPECT_THAT(names_in(folder / "out"), ElementsAre("old"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("out"));
}

TEST(AtomicDirectory, AFailedRenamePutsTheOldContentBack) {
  const TempFolder folder;
  fs::create_directory(folder / "out");
  put(folder / "out/old", "old");
  auto directory = AtomicDirectory::create(folder / "out", true).value();
  fs::remove_all(directory.path());  // the new content is gone, so it cannot be renamed
  EXPECT_FALSE(directory.commit());
  EXPECT_THAT(names_in(folder / "out"), ElementsAre("old"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("out"));
}

TEST(AtomicDirectory, MakesTheFoldersAboveAndRemovesThemWithoutCommit) {
  const TempFolder folder;
  {
    auto given_up = AtomicDirectory::create(folder / "deep/er/out").value();
    put(given_up.path() / "a", "1");
  }
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
  auto directory = AtomicDirectory::create(folder / "deep/er/out").value();
  { auto beside = AtomicDirectory::create(folder / "deep/other/out").value(); }
  put(directory.path() / "a", "1");
  ASSERT_TRUE(directory.commit());
  EXPECT_EQ(get(folder / "deep/er/out/a"), "1");
  EXPECT_THAT(names_in(folder / "deep"), ElementsAre("er"));
}

TEST(AtomicDirectory, TakesRelativeNamesFromTheCurrentFolder) {
  const TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  for (const char* name : {"alone", "runs/a"}) {
    auto directory = AtomicDirectory::create(name, false);
    EXPECT_TRUE(directory) << name << ": " << directory.error().message;
    if (directory) {
      EXPECT_TRUE(directory->commit()) << name;
    }
    EXPECT_TRUE(fs::is_directory(folder / name)) << name;
  }
  fs::current_path(before);
}

TEST(AtomicDirectory, RefusesAFileOfThatNameOrAboveIt) {
  const TempFolder folder;
  put(folder / "file", "");
  for (const auto& path : {folder / "file", folder / "file/out", fs::path("/")}) {
    for (const bool replace : {false, true}) EXPECT_FALSE(AtomicDirectory::create(path, replace)) << path;
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("file"));
}

TEST(AtomicDirectory, CommitsOnce) {
  const TempFolder folder;
  auto directory = AtomicDirectory::create(folder / "out").value();
  ASSERT_TRUE(directory.commit());
  EXPECT_FALSE(directory.commit());
}

TEST(AtomicDirectory, MovesOwnership) {
  const TempFolder folder;
  auto first = AtomicDirectory::create(folder / "first").value();
  auto second = AtomicDirectory::create(folder / "second").value();
  first = std::move(second);
  ASSERT_TRUE(first.commit());
  EXPECT_THAT(names_in(folder.path()), ElementsAre("second"));
}

}  // namespace
}  // namespace sotto
