#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/random.h"
#include "base/thread_pool.h"

namespace sotto {
namespace {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

std::vector<std::uint64_t> draw(SeededRandom random, std::size_t count) {
  std::vector<std::uint64_t> words(count);
  for (auto& word : words) word = random();
  return words;
}

TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox4x32(Counter{}, Key{}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Stored runs resume with these streams: a change here breaks every one of them.
TEST(SeededRandom, KeepsItsStreamsForEver) {
  EXPECT_EQ(draw({1, Purpose::test}, 2),
            (std::vector<std::uint64_t>{0xab85d1215b9b28f7, 0xfd16d2f6e998d1b7}));
  EXPECT_EQ(draw({42, Purpose::noise, 3, 7}, 2),
            (std::vector<std::uint64_t>{0x57d02077901db110, 0xe0c042e9b9a34cf2}));
}

TEST(SeededRandom, EachPartOfTheAddressGivesAnotherStream) {
  std::set<std::vector<std::uint64_t>> streams;
  std::size_t count = 0;
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const Purpose purpose : {Purpose::test, Purpose::dropout, Purpose::noise}) {
      for (const std::uint32_t round : {0u, 1u, 5u}) {
        for (const std::uint32_t user : {0u, 1u, 5u}) {
          streams.insert(draw({seed, purpose, round, user}, 2));
          ++count;
        }
      }
    }
  }
  EXPECT_EQ(streams.size(), count);
}

TEST(SeededRandom, FillAndSingleDrawsAreTheSameStream) {
  SeededRandom filled(9, Purpose::split, 1, 2);
  std::vector<std::uint64_t> words(100);
  filled.fill(words);
  EXPECT_EQ(draw({9, Purpose::split, 1, 2}, 100), words);
}

TEST(SeededRandom, SeekReachesAnyBlockOfTheStream) {
  const auto stream = draw({9, Purpose::split}, 200);
  SeededRandom random(9, Purpose::split);
  for (const std::uint64_t block : {70, 3, 0, 99}) {
    random.seek(block);
    EXPECT_EQ(random(), stream[2 * block]);
    EXPECT_EQ(random(), stream[2 * block + 1]);
  }
}

TEST(SeededRandom, AnOddFillSkipsToTheNextBlock) {
  const auto stream = draw({9, Purpose::split}, 4);
  SeededRandom random(9, Purpose::split);
  std::array<std::uint64_t, 1> one{};
  random.fill(one);
  EXPECT_EQ(one[0], stream[0]);
  random.fill(one);
  EXPECT_EQ(one[0], stream[2]);
}

TEST(SeededRandom, BlocksBeyond32BitsDiffer) {
  SeededRandom low(1, Purpose::test), high(1, Purpose::test);
  high.seek(std::uint64_t{1} << 32);
  EXPECT_NE(low(), high());
}

TEST(SeededRandom, DrawsDoNotDependOnTheNumberOfThreads) {
  const int threads_before = thread_count();
  std::vector<std::vector<std::uint64_t>> outcomes;
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    std::vector<std::uint64_t> sums(1000);
    parallel_for(sums.size(), 7, [&](std::size_t begin, std::size_t end) {
      for (std::size_t user = begin; user < end; ++user) {
        SeededRandom random(3, Purpose::negative_sampling, 1, static_cast<std::uint32_t>(user));
        for (int i = 0; i < 50; ++i) sums[user] += random();
      }
    });
    outcomes.push_back(sums);
  }
  set_thread_count(threads_before);
  EXPECT_EQ(outcomes[0], outcomes[1]);
  EXPECT_EQ(outcomes[0], outcomes[2]);
}

}  // namespace
}  // namespace sotto
