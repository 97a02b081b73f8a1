#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

namespace sotto {
namespace {

// In a child process: the handlers must not leak into the other tests.
void exit_with_flag_after(int signal_number) {
  install_interrupt_handler();
  if (interrupted()) std::exit(2);
  raise(signal_number);
  std::exit(interrupted() ? 0 : 1);
}

void raise_twice(int signal_number) {
  install_interrupt_handler();
  raise(signal_number);
  raise(signal_number);
  std::exit(0);
}

TEST(InterruptDeathTest, OneSignalOnlySetsTheFlag) {
  EXPECT_EXIT(exit_with_flag_after(SIGINT), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exit_with_flag_after(SIGTERM), ::testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, ASecondSignalEndsTheProcess) {
  EXPECT_EXIT(raise_twice(SIGINT), ::testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(raise_twice(SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
}

TEST(Interrupt, TheFlagCanBeSetAndCleared) {
  EXPECT_FALSE(interrupted());
  set_interrupted(true);
  EXPECT_TRUE(interrupted());
  set_interrupted(false);
  EXPECT_FALSE(interrupted());
}

}  // namespace
}  // namespace sotto
