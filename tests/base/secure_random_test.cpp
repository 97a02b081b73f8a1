#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <set>
#include <vector>

#include "base/random.h"

namespace sotto {
namespace {

TEST(SecureRandom, NeverRepeatsAcrossInstancesAndRefills) {
  std::set<std::uint64_t> seen;
  for (int instance = 0; instance < 20; ++instance) {
    SecureRandom random;
    for (int i = 0; i < 500; ++i) seen.insert(random());
  }
  EXPECT_EQ(seen.size(), 20u * 500u);  // a collision among 10^4 words has chance 3e-12
}

TEST(SecureRandom, FillsEverySizeCompletely) {
  SecureRandom random;
  for (std::size_t size = 0; size <= 300; ++size) {
    std::vector<std::uint64_t> words(size, 0);
    random.fill(words);
    EXPECT_EQ(std::count(words.begin(), words.end(), 0u), 0) << size;
  }
}

TEST(SecureRandom, BitsAreBalanced) {
  SecureRandom random;
  std::vector<std::uint64_t> words(100'000);
  random.fill(words);
  std::array<int, 64> ones{};
  for (const std::uint64_t word : words) {
    for (int bit = 0; bit < 64; ++bit)
      ones[static_cast<std::size_t>(bit)] += static_cast<int>(word >> bit & 1);
  }
  // Standard deviation 158; seven of them leave a false alarm once in 10^10 runs.
  for (const int count : ones) EXPECT_NEAR(count, 50'000, 7 * 158);
}

TEST(SecureRandom, AForkedChildDrawsSomethingElse) {
  SecureRandom random;
  random();  // leaves 31 words in the buffer, which the child inherits
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  std::array<std::uint64_t, 100> theirs{}, ours{};
  if (child == 0) {
    for (auto& word : theirs) word = random();
    const bool written =
        write(channel[1], theirs.data(), sizeof theirs) == static_cast<ssize_t>(sizeof theirs);
    _exit(written ? 0 : 1);
  }
  for (auto& word : ours) word = random();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(read(channel[0], theirs.data(), sizeof theirs), static_cast<ssize_t>(sizeof theirs));
  close(channel[0]);
  close(channel[1]);
  std::set<std::uint64_t> all(ours.begin(), ours.end());
  all.insert(theirs.begin(), theirs.end());
  EXPECT_EQ(all.size(), 200u);
}

TEST(SecureRandom, DestructionWipesBufferAndKey) {
  alignas(SecureRandom) std::array<unsigned char, sizeof(SecureRandom)> memory{};
  auto* random = new (memory.data()) SecureRandom;
  const std::uint64_t first = (*random)();
  const auto nonzero = [&] {
    return std::count_if(memory.begin(), memory.end(), [](unsigned char byte) { return byte != 0; });
  };
  EXPECT_GT(nonzero(), 200) << first;
  random->~SecureRandom();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  EXPECT_LT(nonzero(), 32);  // table pointer, index, counter and process number may stay
}

}  // namespace
}  // namespace sotto
