#include "base/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "test_paths.h"

namespace sotto {
namespace {

TEST(Descriptor, IsNotLockedWhileAnotherHoldsIt) {
  const TempFolder directory;
  const auto path = directory / "log";
  const auto first = Descriptor::open(path, O_RDWR | O_CREAT, "open", 0600);
  const auto second = Descriptor::open(path, O_RDWR, "open");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first->lock(path), true);
  EXPECT_EQ(*second->lock(path), false);
}

TEST(Descriptor, IsLockedThoughACopyOutlivesItsOwnerForAMoment) {
  const TempFolder directory;
  const auto path = directory / "log";
  auto first = Descriptor::open(path, O_RDWR | O_CREAT, "open", 0600);
  ASSERT_TRUE(first && *first->lock(path));
  // What a process that is just starting has.
  const int copy = ::dup(first->number());
  ASSERT_GE(copy, 0);
  first->close();
  std::thread start([copy] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::close(copy);
  });
  const auto second = Descriptor::open(path, O_RDWR, "open");
  ASSERT_TRUE(second);
  EXPECT_EQ(*second->lock(path), true);
  start.join();
}

}  // namespace
}  // namespace sotto
