// A disk that is full or fails, at every point at which a catalogue writes: what is acknowledged stays, what
// is there is served, and nothing has to be mended when there is room again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <fstream>
#include <set>

#include "disk_faults.h"
#include "serving/catalogue/catalogue.h"
#include "test_paths.h"

namespace sotto::serving {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using Ids = std::set<std::string>;

CatalogueItem news(std::string id, std::size_t abstract_bytes = 20) {
  return {std::move(id), "A title", std::string(abstract_bytes, 'x'), "sports", "", "en", 1000, {1}, "v1"};
}

// Asks again at once after a compaction that failed.
Result<std::unique_ptr<Catalogue>> open_at(const fs::path& folder) {
  return Catalogue::open(folder, {Durability::power_loss, 1, std::chrono::seconds(0)});
}

Ids ids_of(const Catalogue& catalogue) {
  Ids ids;
  for (const auto& item : catalogue.all()) ids.insert(item->item.id);
  return ids;
}

// Puts, removes and compacts; returns what was acknowledged.
Ids work_through(Catalogue& catalogue) {
  Ids acknowledged = ids_of(catalogue);
  const auto put = [&](const std::string& id) {
    if (catalogue.put({news(id), news(id + "'")})) acknowledged.insert({id, id + "'"});
  };
  put("b");
  static_cast<void>(catalogue.compact());
  put("c");
  if (catalogue.remove(std::vector<std::string>{"a"})) acknowledged.erase("a");
  put("d");
  static_cast<void>(catalogue.compact());
  put("e");
  EXPECT_EQ(ids_of(catalogue), acknowledged) << "what is served is what was acknowledged";
  return acknowledged;
}

void expect_well(const fs::path& folder, std::unique_ptr<Catalogue> catalogue, Ids acknowledged) {
  EXPECT_TRUE(catalogue->health().writing) << "it finds out by itself that there is room";
  ASSERT_TRUE(catalogue->put({news("later")}));
  acknowledged.insert("later");
  ASSERT_TRUE(catalogue->is_compaction_due());
  ASSERT_TRUE(catalogue->compact());
  EXPECT_TRUE(catalogue->health().writing && catalogue->health().compaction);
  catalogue.reset();
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  }
  const auto again = open_at(folder);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(ids_of(**again), acknowledged);
}

TEST(CatalogueDisk, FullAtAnyPointItServesSaysSoRestartsAndRecovers) {
  bool reached = true;
  int points = 0;
  for (; reached; ++points) {
    SCOPED_TRACE(points);
    const TempFolder folder;
    auto catalogue = open_at(folder / "c");
    ASSERT_TRUE(catalogue && (*catalogue)->put({news("a")}));
    Ids acknowledged;
    {
      const auto full = DiskFaults::full_after(points);
      acknowledged = work_through(**catalogue);
      reached = full.happened();
      if (reached) {
        const CatalogueHealth health = (*catalogue)->health();
        EXPECT_FALSE(health.writing && health.compaction);
        EXPECT_GT(health.failed_changes + health.failed_compactions, 0U);
        EXPECT_FALSE((*catalogue)->put({news("refused")}));
        EXPECT_THAT((*catalogue)->health().writing.error().message, HasSubstr("No space left"));
        EXPECT_EQ(ids_of(**catalogue), acknowledged);
        catalogue->reset();
        catalogue = open_at(folder / "c");
        ASSERT_TRUE(catalogue) << "restarts on the full disk: " << catalogue.error().message;
        EXPECT_EQ(ids_of(**catalogue), acknowledged);
        EXPECT_FALSE((*catalogue)->put({news("refused")}));
      }
    }
    expect_well(folder / "c", std::move(*catalogue), acknowledged);
  }
  EXPECT_GT(points, 12) << "of that many operations that need room";
}

TEST(CatalogueDisk, AnyOperationMayFailOnce) {
  bool reached = true;
  int points = 0;
  for (; reached; ++points) {
    SCOPED_TRACE(points);
    const TempFolder folder;
    auto catalogue = open_at(folder / "c");
    ASSERT_TRUE(catalogue && (*catalogue)->put({news("a")}));
    Ids acknowledged;
    {
      const auto error = DiskFaults::error_at(points);
      acknowledged = work_through(**catalogue);
      reached = error.happened();
    }
    {  // Killed before anything else: a change that was refused may be there, an acknowledged one must.
      fs::copy(folder / "c", folder / "copy", fs::copy_options::recursive);
      const auto killed = open_at(folder / "copy");
      ASSERT_TRUE(killed) << killed.error().message;
      Ids found = ids_of(**killed);
      found.insert("a");  // its removal may be what was refused
      EXPECT_THAT(found, IsSupersetOf(acknowledged));
    }
    expect_well(folder / "c", std::move(*catalogue), acknowledged);
  }
  EXPECT_GT(points, 20);
}

TEST(CatalogueDisk, LeftoversOfAFullDiskDoNotStandInTheWay) {
  const TempFolder folder;
  {
    auto catalogue = open_at(folder / "c");
    ASSERT_TRUE(catalogue && (*catalogue)->put({news("a")}));
  }
  const auto leave = [&](const char* name, std::string_view bytes) {
    std::ofstream(folder / "c" / name, std::ios::binary | std::ios::app) << bytes;
  };
  leave("catalogue-1.log", "torn");
  leave("catalogue-2.log", "");
  leave(".catalogue-2.snapshot.sotto-1-1", "half a snapshot");
  auto catalogue = open_at(folder / "c");
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  EXPECT_EQ(ids_of(**catalogue), Ids{"a"});
  expect_well(folder / "c", std::move(*catalogue), {"a"});
}

// The end of a log that was left behind is uncertain, and the log after it says how far it is good.
TEST(CatalogueDisk, ALogThatWasLeftBehindMayEndInTheMiddleOfARecord) {
  const TempFolder folder;
  {
    auto store = CatalogueStore::open(folder / "c", Durability::process_end, [](auto&&) { return Status{}; });
    ASSERT_TRUE(store->append(std::vector{encode_put(news("a"))}));
    ASSERT_TRUE(store->begin_generation());
    ASSERT_TRUE(store->append(std::vector{encode_put(news("b"))}));
  }
  const fs::path log = folder / "c" / "catalogue-1.log";
  std::ofstream(log, std::ios::binary | std::ios::app) << "half a record that was never acknowledged";
  {
    auto catalogue = open_at(folder / "c");
    ASSERT_TRUE(catalogue) << catalogue.error().message;
    EXPECT_EQ(ids_of(**catalogue), (Ids{"a", "b"}));
  }
  fs::resize_file(log, catalogue_format.header_bytes() + 10);
  EXPECT_THAT(open_at(folder / "c").error().message, HasSubstr("ends before its last record"));
}

// The same without anything injected, where a disk of its own may be made.
TEST(CatalogueDisk, ASmallDiskFillsUpAndIsUsedAgain) {
  const TempFolder folder;
  const fs::path disk = folder / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=96k") != 0) {
    GTEST_SKIP() << "mounting needs more rights than this test has";
  }
  struct Unmount {
    const fs::path& where;
    ~Unmount() { ::umount2(where.c_str(), MNT_DETACH); }
  };
  const Unmount unmount{disk};
  auto catalogue = open_at(disk / "c");
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  Ids acknowledged;
  int number = 0;
  const auto fill = [&] {
    for (int refused = 0; refused < 20;) {
      const std::string id = std::to_string(number++);
      if ((*catalogue)->put({news(id, 1500)})) {
        acknowledged.insert(id);
      } else {
        ++refused;
      }
      if (number % 7 == 0) static_cast<void>((*catalogue)->compact());
    }
  };
  fill();
  EXPECT_GT(acknowledged.size(), 10U);
  EXPECT_EQ(ids_of(**catalogue), acknowledged);
  EXPECT_FALSE((*catalogue)->health().writing);
  catalogue->reset();
  catalogue = open_at(disk / "c");
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  EXPECT_EQ(ids_of(**catalogue), acknowledged);
  fill();
  ASSERT_EQ(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=400k"), 0);
  expect_well(disk / "c", std::move(*catalogue), acknowledged);
}

}  // namespace
}  // namespace sotto::serving
