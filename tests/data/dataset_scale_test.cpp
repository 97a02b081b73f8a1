// Sizes that matter: a million users must open quickly and cost little while idle. Times are printed, not
// asserted: they depend on the machine.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <fstream>

#include "base/distributions.h"
#include "data/dataset_sections.h"
#include "small_dataset.h"

namespace sotto::data {
namespace {

class Stopwatch {
 public:
  std::string text() const {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
    const double cpu = static_cast<double>(std::clock() - start_cpu_) / CLOCKS_PER_SEC;
    return fmt::format("{:.3f} s ({:.3f} s of CPU)", wall.count(), cpu);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::clock_t start_cpu_ = std::clock();
};

// Memory of this process that is not backed by a file, in bytes.
std::uint64_t private_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::uint64_t kilobytes = 0;
  while (status >> word) {
    if (word == "RssAnon:") status >> kilobytes;
  }
  return kilobytes * 1024;
}

TEST(DatasetScale, AMillionUsersCostLittleOnDiskAndAlmostNothingInMemory) {
  constexpr std::uint64_t users = 1'000'000, items = 50'000, history_length = 5;
  const TempFolder folder;
  {
    DatasetBuilder builder("million", "scale test");
    const Stopwatch building;
    for (std::uint64_t item = 0; item < items; ++item) builder.item(fmt::format("N{}", item));
    SeededRandom random(1, Purpose::test);
    std::array<ItemId, history_length> clicks{};
    const std::array<std::uint8_t, 2> clicked = {1, 0};
    for (std::uint64_t user = 0; user < users; ++user) {
      const UserId number = builder.user(fmt::format("U{}", user));
      for (ItemId& item : clicks) item = static_cast<ItemId>(uniform_below(random, items));
      builder.add_impression(number, 1, Split::train, builder.add_history(clicks), history_length,
                             std::span(clicks).first(2), clicked);
    }
    const std::string built = building.text();
    ASSERT_TRUE(builder.write(folder.path()));
    fmt::print("1,000,000 users: built in {}, written after {}\n", built, building.text());
  }

  const std::uint64_t before = private_memory();
  const Stopwatch opening;
  const Result<Dataset> dataset = Dataset::open(folder.path());
  const std::string opened = opening.text();
  ASSERT_TRUE(dataset) << dataset.error().message;
  const std::uint64_t after = private_memory();
  const std::uint64_t file_bytes = std::filesystem::file_size(folder / dataset_sections::file_name);
  fmt::print("opened in {}; {} bytes per user on disk, {} bytes of private memory in all\n", opened,
             file_bytes / users, after > before ? after - before : 0);
  EXPECT_EQ(dataset->user_count(), users);
  EXPECT_LT(file_bytes / users, 128U);
  EXPECT_LT(after, before + (std::uint64_t{1} << 20));
}

// 170,000 impressions of 100 candidates named by string, as an importer sees them.
TEST(DatasetScale, SeventeenMillionCandidatesAreLookedUpAndWritten) {
  constexpr std::uint64_t impressions = 170'000, shown_each = 100, items = 60'000, users = 50'000;
  const TempFolder folder;
  DatasetBuilder builder("candidates", "scale test");
  std::vector<std::string> ids;
  for (std::uint64_t item = 0; item < items; ++item) ids.push_back(fmt::format("N{}", item));
  SeededRandom random(2, Purpose::test);
  std::array<ItemId, shown_each> shown{};
  std::array<std::uint8_t, shown_each> clicked{};
  clicked[0] = 1;
  const auto history = builder.add_history({});
  const Stopwatch building;
  for (std::uint64_t impression = 0; impression < impressions; ++impression) {
    const UserId user = builder.user(fmt::format("U{}", uniform_below(random, users)));
    for (ItemId& item : shown) item = builder.item(ids[uniform_below(random, items)]);
    builder.add_impression(user, static_cast<std::int64_t>(uniform_below(random, 1'000'000)), Split::train,
                           history, 0, shown, clicked);
  }
  const std::string built = building.text();
  ASSERT_TRUE(builder.write(folder.path()));
  fmt::print("17,000,000 candidates: built in {}, written after {}\n", built, building.text());
  EXPECT_EQ(builder.counts().impressions, impressions);
  EXPECT_LT(std::filesystem::file_size(folder / dataset_sections::file_name), impressions * shown_each * 6);
}

}  // namespace
}  // namespace sotto::data
