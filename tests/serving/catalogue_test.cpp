// The durable catalogue: what it keeps, what it refuses, and what it makes of damaged files.

#include "serving/catalogue/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <random>

#include "test_paths.h"

namespace sotto::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CatalogueItem article(std::string id, std::int64_t published = 1000) {
  return {std::move(id), "A title", "What it says", "sports", "tennis", "en", published, {1, 2.5F}, "v1"};
}

std::unique_ptr<Catalogue> open(const fs::path& folder, Durability durability = Durability::process_end) {
  auto catalogue = Catalogue::open(folder, {durability, std::uint64_t{1} << 20});
  EXPECT_TRUE(catalogue) << catalogue.error().message;
  return std::move(*catalogue);
}

std::vector<std::string> ids(const Catalogue& catalogue) {
  std::vector<std::string> all;
  for (const auto& item : catalogue.all()) all.push_back(item->item.id);
  return all;
}

std::string file_bytes(const fs::path& path) { return read_file(path).value(); }
void write_bytes(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TEST(Catalogue, KeepsPutsReplacementsAndRemovalsAcrossRestarts) {
  const TempFolder folder;
  {
    const auto catalogue = open(folder / "c");
    const auto first = catalogue->put({article("a"), article("b"), article("c")}).value();
    EXPECT_EQ(first.added.size(), 3U);
    auto changed = article("b");
    changed.title = "Another title";
    const auto second = catalogue->put({changed}).value();
    EXPECT_THAT(second.removed, ElementsAre(first.added[1]->number)) << "a new number for every version";
    EXPECT_EQ(catalogue->remove(std::vector<std::string>{"a", "unknown"}).value().removed.size(), 1U);
    EXPECT_THAT(ids(*catalogue), ElementsAre("c", "b"));
  }
  const auto again = open(folder / "c");
  EXPECT_THAT(ids(*again), ElementsAre("c", "b"));
  EXPECT_EQ(again->find("b")->item.title, "Another title");
  EXPECT_EQ(again->find("c")->item, article("c"));
  EXPECT_EQ(again->find("a"), nullptr);
}

TEST(Catalogue, ExpiresByAge) {
  const TempFolder folder;
  const auto catalogue = open(folder / "c");
  ASSERT_TRUE(catalogue->put({article("old", 10), article("new", 20)}));
  EXPECT_EQ(catalogue->expire(20).value().removed.size(), 1U);
  EXPECT_THAT(ids(*catalogue), ElementsAre("new"));
}

TEST(Catalogue, CompactionDropsWhatIsGoneAndLosesNothing) {
  const TempFolder folder;
  {
    const auto catalogue = open(folder / "c", Durability::power_loss);
    for (int round = 0; round < 50; ++round) ASSERT_TRUE(catalogue->put({article("a"), article("b")}));
    const auto before = fs::file_size(folder / "c/catalogue-1.log");
    ASSERT_TRUE(catalogue->compact());
    EXPECT_FALSE(fs::exists(folder / "c/catalogue-1.log"));
    EXPECT_LT(fs::file_size(folder / "c/catalogue-2.snapshot"), before / 20);
    ASSERT_TRUE(catalogue->put({article("c")}));
  }
  EXPECT_THAT(ids(*open(folder / "c")), ElementsAre("a", "b", "c"));
}

TEST(Catalogue, ACompactionThatWasInterruptedChangesNothing) {
  const TempFolder folder;
  {
    const auto catalogue = open(folder / "c");
    ASSERT_TRUE(catalogue->put({article("a")}));
  }
  {  // Killed after the new log was begun and used, before the snapshot was there.
    auto store = CatalogueStore::open(folder / "c", Durability::process_end, [](auto&&) { return Status{}; });
    ASSERT_TRUE(store->begin_generation());
    ASSERT_TRUE(store->append(std::vector{encode_put(article("b"))}));
  }
  EXPECT_THAT(ids(*open(folder / "c")), ElementsAre("a", "b"));
  // Killed while the new log was being created.
  write_bytes(folder / "c/catalogue-3.log", "SOT");
  const auto catalogue = open(folder / "c");
  ASSERT_TRUE(catalogue->put({article("d")}));
  EXPECT_THAT(ids(*catalogue), ElementsAre("a", "b", "d"));
}

TEST(Catalogue, ATornTailIsCutAtEveryLength) {
  const TempFolder folder;
  const auto log = folder / "c/catalogue-1.log";
  {
    const auto catalogue = open(folder / "c");
    ASSERT_TRUE(catalogue->put({article("a")}));
  }
  const std::size_t kept = file_bytes(log).size();
  {
    const auto catalogue = open(folder / "c");
    ASSERT_TRUE(catalogue->put({article("b")}));
  }
  const std::string whole = file_bytes(log);
  for (std::size_t length = kept; length < whole.size(); ++length) {
    for (const bool zeros_behind : {false, true}) {
      write_bytes(log, whole.substr(0, zeros_behind ? kept : length) +
                           std::string(zeros_behind ? length - kept : 0, '\0'));
      const auto catalogue = open(folder / "c");
      ASSERT_THAT(ids(*catalogue), ElementsAre("a")) << length;
      ASSERT_EQ(fs::file_size(log), kept);
    }
  }
}

TEST(Catalogue, DamageIsAnErrorAndNothingIsChanged) {
  const TempFolder folder;
  const auto log = folder / "c/catalogue-1.log";
  {
    const auto catalogue = open(folder / "c");
    ASSERT_TRUE(catalogue->put({article("a"), article("b")}));
  }
  const std::string whole = file_bytes(log);
  const std::size_t second =
      catalogue_format.header_bytes() + (whole.size() - catalogue_format.header_bytes()) / 2;
  for (std::size_t at = 0; at < second; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_bytes(log, damaged);
    const auto catalogue = Catalogue::open(folder / "c", {});
    ASSERT_FALSE(catalogue) << at;
    ASSERT_EQ(file_bytes(log), damaged);
  }
}

TEST(Catalogue, IsOwnedByOneProcess) {
  const TempFolder folder;
  const auto catalogue = open(folder / "c");
  EXPECT_THAT(Catalogue::open(folder / "c", {}).error().message, HasSubstr("is in use"));
}

TEST(Catalogue, TellsWhatIsWrongWithAnItemAndTakesNoneOfThem) {
  const TempFolder folder;
  const auto catalogue = open(folder / "c");
  const auto message = [&](const std::function<void(CatalogueItem&)>& spoil) {
    auto item = article("x");
    spoil(item);
    return catalogue->put({article("good"), item}).error().message;
  };
  EXPECT_THAT(message([](auto& item) { item.id = ""; }), HasSubstr("the id is empty"));
  EXPECT_THAT(message([](auto& item) { item.id = "a/b"; }), HasSubstr("slash"));
  EXPECT_THAT(message([](auto& item) { item.id = "good"; }), HasSubstr("id of an earlier one"));
  EXPECT_THAT(message([](auto& item) { item.title = std::string(5000, 'x'); }), HasSubstr("5000 bytes"));
  EXPECT_THAT(message([](auto& item) { item.title = "\xff"; }), HasSubstr("UTF-8"));
  EXPECT_THAT(message([](auto& item) { item.abstract = std::string(40'000, 'x'); }),
              HasSubstr("40000 bytes"));
  EXPECT_THAT(message([](auto& item) { item.subcategory = "\xff"; }), HasSubstr("the subcategory is not"));
  EXPECT_THAT(message([](auto& item) { item.published = -1; }), HasSubstr("seconds since 1970"));
  EXPECT_THAT(message([](auto& item) { item.vector = {NAN}; }), HasSubstr("the vector: number 0 is nan"));
  EXPECT_EQ(catalogue->size(), 0U);
}

RC_GTEST_PROP(Catalogue, RecordsReadBackAsTheyWereWritten, ()) {
  CatalogueItem item = article("id");
  item.published = *rc::gen::inRange<std::int64_t>(0, 4'000'000'000);
  item.vector = *rc::gen::container<std::vector<float>>(rc::gen::element(0.0F, -1.5F, 1e-40F, 3e5F));
  RC_PRE(item.vector.size() <= most_vector_numbers);
  RC_ASSERT(decode_record(encode_put(item)).value().item == item);
}

// A server that is killed at any moment has everything that it acknowledged, compaction or not.
TEST(CatalogueCrash, EveryAcknowledgedChangeSurvivesKill) {
  const TempFolder folder;
  std::mt19937_64 random(20260314);
  std::uint64_t total = 0;
  for (int round = 0; round < 25; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto catalogue = Catalogue::open(folder / "c", {Durability::process_end, 1 << 20});
      // Puts 0, 1, 2, ... each under its own id and as "latest"; every tenth time it compacts.
      for (std::uint64_t i = catalogue ? (*catalogue)->size() : 0; catalogue; ++i) {
        auto latest = article("latest");
        latest.title = std::to_string(i);
        if (!(*catalogue)->put({article("n" + std::to_string(i)), latest})) break;
        if (write(ends[1], &i, sizeof i) != sizeof i) break;
        if (i % 10 == 9 && !(*catalogue)->compact()) break;
      }
      _exit(1);
    }
    close(ends[1]);
    std::uint64_t last = 0, number = 0;
    bool any = false;
    const auto reports = random() % 30;
    for (std::uint64_t i = 0; i < reports && read(ends[0], &number, sizeof number) == sizeof number; ++i) {
      last = number;
      any = true;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 2000);
    while (std::chrono::steady_clock::now() < until) {
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the server ended by itself";
    while (read(ends[0], &number, sizeof number) == sizeof number) {
      last = number;
      any = true;
    }
    close(ends[0]);
    const auto catalogue = open(folder / "c");
    if (any) {
      total = last;
      ASSERT_NE(catalogue->find("n" + std::to_string(last)), nullptr) << last;
      ASSERT_GE(std::stoull(catalogue->find("latest")->item.title), last);
      ASSERT_GE(catalogue->size(), last);
    }
  }
  EXPECT_GT(total, 50U) << "the servers got nothing done";
}

}  // namespace
}  // namespace sotto::serving
