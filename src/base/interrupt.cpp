#include "base/interrupt.h"

#include <signal.h>

#include <atomic>
#include <initializer_list>

namespace sotto {

namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

extern "C" void handle_interrupt(int signal_number) {
  if (!flag.exchange(true)) return;
  // The signal is blocked while it is handled, so the default action ends the process as soon as we return.
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = handle_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal_number : {SIGINT, SIGTERM}) ::sigaction(signal_number, &action, nullptr);
}

bool interrupted() { return flag; }

void end_at_interrupt() {
  for (const int signal_number : {SIGINT, SIGTERM}) ::signal(signal_number, SIG_DFL);
  if (flag) ::raise(SIGTERM);  // it came before
}

void set_interrupted(bool value) { flag = value; }

}  // namespace sotto
