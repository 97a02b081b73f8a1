#pragma once
// A terminal in place of stderr while it lives.

#include <pty.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace sotto {

class FakeTerminal {
 public:
  explicit FakeTerminal(unsigned short columns) {
    const winsize size{.ws_row = 24, .ws_col = columns};
    int screen = -1;
    if (openpty(&reader_, &screen, nullptr, nullptr, &size) != 0) throw std::runtime_error("no terminal");
    std::fflush(stderr);
    saved_ = dup(STDERR_FILENO);
    dup2(screen, STDERR_FILENO);
    close(screen);
  }
  ~FakeTerminal() {
    restore();
    close(reader_);
  }
  FakeTerminal(const FakeTerminal&) = delete;
  FakeTerminal& operator=(const FakeTerminal&) = delete;

  // Gives stderr back and returns all that was written. What was written must fit the terminal's buffer (4
  // KiB).
  std::string output() {
    restore();
    std::string all;
    std::array<char, 4096> part;
    for (ssize_t got = 0; (got = read(reader_, part.data(), part.size())) > 0;) {
      all.append(part.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    std::fflush(stderr);
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    saved_ = -1;
  }

  int reader_ = -1, saved_ = -1;
};

}  // namespace sotto
