#pragma once
// This program once more in a process of its own, which says one line on its standard output when it is
// ready; and what a process has used.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace sotto::coordinator {

class OwnProcess {
 public:
  // As `program role folder`.
  OwnProcess(std::string role, std::string folder) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    std::string program = "/proc/self/exe";
    std::array<char*, 4> arguments = {program.data(), role.data(), folder.data(), nullptr};
    posix_spawn_file_actions_t handed;
    posix_spawn_file_actions_init(&handed);
    posix_spawn_file_actions_adddup2(&handed, ends[1], 1);
    if (::posix_spawn(&pid_, program.c_str(), &handed, nullptr, arguments.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&handed);
    ::close(ends[1]);
    for (char letter = 0; ::read(ends[0], &letter, 1) == 1 && letter != '\n';) line_ += letter;
    ::close(ends[0]);
  }
  ~OwnProcess() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGTERM);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
  OwnProcess(const OwnProcess&) = delete;
  OwnProcess& operator=(const OwnProcess&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& line() const { return line_; }  // empty: it did not come so far

 private:
  pid_t pid_ = -1;
  std::string line_;
};

// From /proc.
struct Usage {
  double megabytes = 0, largest_megabytes = 0, seconds = 0;
};
inline Usage usage_of(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  Usage usage;
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) usage.megabytes = std::stod(line.substr(6)) / 1024;
    if (line.starts_with("VmHWM:")) usage.largest_megabytes = std::stod(line.substr(6)) / 1024;
  }
  std::ifstream times(folder + "/stat");
  const std::string all((std::istreambuf_iterator<char>(times)), {});
  std::istringstream rest(all.substr(all.rfind(')') + 2));
  std::string field;
  for (int i = 0; i < 11; ++i) rest >> field;
  double user = 0, system = 0;
  rest >> user >> system;
  usage.seconds = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return usage;
}

}  // namespace sotto::coordinator
