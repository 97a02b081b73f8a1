#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sotto {
namespace {

class ThreadPool : public ::testing::Test {
 protected:
  ~ThreadPool() override { set_thread_count(before_); }
  const int before_ = thread_count();
};

using Chunks = std::set<std::pair<std::size_t, std::size_t>>;

Chunks chunks_of(std::size_t n, std::size_t grain) {
  std::mutex mutex;
  Chunks chunks;
  parallel_for(n, grain, [&](std::size_t begin, std::size_t end) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(chunks.emplace(begin, end).second);
  });
  return chunks;
}

TEST_F(ThreadPool, DefaultIsTheCoresThisProcessMayUse) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  set_thread_count(0);
  EXPECT_EQ(thread_count(), CPU_COUNT(&mask));
}

TEST_F(ThreadPool, CallsEveryIndexExactlyOnce) {
  set_thread_count(4);
  for (const std::size_t n : {0, 1, 2, 255, 256, 257, 10'000}) {
    for (const std::size_t grain : {0, 1, 3, 100'000}) {
      std::vector<std::atomic<int>> calls(n);
      parallel_for(n, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++calls[i];
      });
      EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](const auto& count) { return count == 1; }))
          << n << " by " << grain;
    }
  }
}

TEST_F(ThreadPool, ChunksDependOnSizeAndGrainOnly) {
  for (const std::size_t n : {1, 1000, 1001}) {
    for (const std::size_t grain : {0, 7, 1000}) {
      set_thread_count(1);
      const Chunks alone = chunks_of(n, grain);
      set_thread_count(3);
      EXPECT_EQ(chunks_of(n, grain), alone);
      for (const auto& [begin, end] : alone) {
        EXPECT_LE(end - begin, grain > 0 ? grain : n);
      }
    }
  }
}

TEST_F(ThreadPool, UsesTheThreadsItHas) {
  set_thread_count(3);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> waiting{0};
  // Each chunk waits for the two others, which only three threads can satisfy.
  parallel_for(3, 1, [&](std::size_t, std::size_t) {
    ++waiting;
    while (waiting < 3) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 3u);
}

TEST_F(ThreadPool, NestedLoopsStayOnTheirThread) {
  set_thread_count(4);
  std::atomic<std::size_t> total{0};
  parallel_for(8, 1, [&](std::size_t, std::size_t) {
    const auto outer = std::this_thread::get_id();
    parallel_for(100, 9, [&](std::size_t begin, std::size_t end) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      total += end - begin;
    });
  });
  EXPECT_EQ(total, 800u);
}

TEST_F(ThreadPool, ALoopAfterANestedOneIsParallelAgain) {
  set_thread_count(2);
  parallel_for(2, 1, [](std::size_t, std::size_t) { parallel_for(2, 1, [](std::size_t, std::size_t) {}); });
  std::atomic<int> waiting{0};
  parallel_for(2, 1, [&](std::size_t, std::size_t) {
    ++waiting;
    while (waiting < 2) std::this_thread::yield();
  });
  EXPECT_EQ(waiting, 2);
}

TEST_F(ThreadPool, RethrowsTheExceptionOfTheEarliestChunk) {
  for (const int threads : {1, 4}) {
    set_thread_count(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      try {
        parallel_for(1000, 1, [](std::size_t begin, std::size_t) {
          if (begin >= 37) throw std::runtime_error(std::to_string(begin));
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "37");
      }
    }
  }
}

TEST_F(ThreadPool, WorksAgainAfterAnException) {
  set_thread_count(4);
  EXPECT_THROW(parallel_for(10, 1, [](std::size_t, std::size_t) { throw 1; }), int);
  EXPECT_EQ(chunks_of(10, 1).size(), 10u);
}

TEST_F(ThreadPool, TheNumberOfThreadsCanChangeInsideALoop) {
  set_thread_count(2);
  parallel_for(4, 1, [](std::size_t begin, std::size_t) { set_thread_count(static_cast<int>(begin) + 1); });
  EXPECT_EQ(chunks_of(100, 1).size(), 100u);
}

TEST_F(ThreadPool, ServesSeveralCallersAtOnce) {
  set_thread_count(3);
  std::atomic<std::size_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        parallel_for(200, 10, [&](std::size_t begin, std::size_t end) { total += end - begin; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 4u * 50u * 200u);
}

TEST_F(ThreadPool, AForkedChildWorksAlone) {
  set_thread_count(3);
  ASSERT_EQ(chunks_of(100, 1).size(), 100u);  // the workers exist, the child will not have them
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // waiting for workers that are not there must not hang the tests
    _exit(chunks_of(100, 1).size() == 100 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sotto
