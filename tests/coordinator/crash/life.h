#pragma once
// This program again as a process of its own, which can be ended and killed.

#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"

namespace sotto::coordinator {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

inline void nap(milliseconds time) { std::this_thread::sleep_for(time); }

class Life {
 public:
  Life() = default;
  Life(const std::vector<std::string>& words, const fs::path& log) : born_(steady_clock::now()) {
    std::vector<char*> arguments;
    std::vector<std::string> own = words;
    own.insert(own.begin(), "crash_rounds");
    for (std::string& word : own) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (::posix_spawn(&process_, "/proc/self/exe", &files, nullptr, arguments.data(), environ) != 0)
      process_ = -1;
    posix_spawn_file_actions_destroy(&files);
  }
  // The status with which it ended, once it has.
  std::optional<int> ended() {
    int status = 0;
    if (process_ <= 0 || ::waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
    process_ = -1;
    return status;
  }
  void signal(int number) const {
    if (process_ > 0) ::kill(process_, number);
  }
  // After a signal that it obeys; whoever does not is killed.
  bool end_well() {
    signal(SIGTERM);
    for (int i = 0; i < 1500; ++i) {
      if (process_ <= 0) return true;
      if (const auto status = ended()) return WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
      nap(milliseconds(20));
    }
    signal(SIGKILL);
    return false;
  }
  steady_clock::time_point born() const { return born_; }

 private:
  pid_t process_ = -1;
  steady_clock::time_point born_;
};

inline std::int64_t free_port() {
  // Below the range of ports that clients are given, where a connection could be made to itself.
  std::random_device random;
  for (;;) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(12'000 + random() % 18'000));
    const bool is_free = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    if (is_free) return ntohs(address.sin_port);
  }
}

}  // namespace sotto::coordinator
