#include "cli/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "base/interrupt.h"
#include "base/system_error.h"

namespace sotto::cli {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_again{20};
constexpr std::chrono::seconds grace{20};
constexpr std::size_t most_log_bytes = std::size_t{64} << 20;

// Between fork() and exec() only what is safe after a fork of a process with threads.
[[noreturn]] void become(const char* program, char* const* argv, int output, int log, pid_t parent) {
  const bool ready = ::setpgid(0, 0) == 0 && ::prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 &&
                     ::getppid() == parent && ::dup2(output, STDOUT_FILENO) >= 0 &&
                     ::dup2(log, STDERR_FILENO) >= 0;
  if (ready) ::execv(program, argv);
  ::_exit(127);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& words, const fs::path& log) {
  std::vector<std::string> all = {"sotto"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  argv.reserve(all.size() + 1);
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_failure("make a pipe for", log);
  const int log_file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_file < 0) {
    const int problem = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return system_failure("write", log, problem);
  }
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) become("/proc/self/exe", argv.data(), ends[1], log_file, parent);
  const int problem = errno;
  ::close(ends[1]);
  ::close(log_file);
  if (process < 0) {
    ::close(ends[0]);
    return system_failure("start a process with its log in", log, problem);
  }
  return ChildProcess(process, ends[0], log);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      output_(std::exchange(other.output_, -1)),
      asked_(other.asked_),
      log_(std::move(other.log_)),
      read_(std::move(other.read_)),
      code_(other.code_) {}

std::optional<std::string> ChildProcess::line(std::chrono::milliseconds patience) {
  const auto until = steady_clock::now() + patience;
  while (true) {
    if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_clock::now());
    pollfd ready{output_, POLLIN, 0};
    const int changed = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (changed < 0 && errno == EINTR && !interrupted()) continue;
    if (changed <= 0) return std::nullopt;
    char bytes[4096];
    const ssize_t got = ::read(output_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    read_.append(bytes, static_cast<std::size_t>(got));
  }
}

std::optional<int> ChildProcess::ended() {
  int state = 0;
  if (!code_ && process_ > 0 && ::waitpid(process_, &state, WNOHANG) == process_)
    code_ = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  return code_;
}

void ChildProcess::ask_to_end() {
  if (process_ > 0 && !std::exchange(asked_, true) && !ended()) ::kill(process_, SIGTERM);
}

void ChildProcess::kill() {
  if (process_ > 0 && !ended()) ::kill(process_, SIGKILL);
}

void ChildProcess::stop() {
  if (process_ < 0) return;
  ask_to_end();
  const auto until = steady_clock::now() + grace;
  while (!ended() && steady_clock::now() < until) std::this_thread::sleep_for(look_again);
  if (!ended()) {
    ::kill(process_, SIGKILL);
    while (!ended()) std::this_thread::sleep_for(look_again);
  }
  ::close(output_);
  process_ = output_ = -1;
}

std::string ChildProcess::last_words() const {
  const auto text = read_file(log_, most_log_bytes);
  if (!text || text->empty()) return "it said nothing";
  const std::size_t end = text->find_last_not_of("\r\n ");
  if (end == std::string::npos) return "it said nothing";
  const std::size_t begin = text->find_last_of("\r\n", end);
  return text->substr(begin == std::string::npos ? 0 : begin + 1,
                      end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

Status run_to_end(const std::vector<std::string>& words, const fs::path& log) {
  SOTTO_TRY(auto process, ChildProcess::start(words, log));
  while (!process.ended()) {
    if (interrupted()) return failed("interrupted");
    static_cast<void>(process.line(look_again));
  }
  if (*process.ended() == 0) return {};
  return failed("'sotto {}' failed: {} (more in {})", words.front(), process.last_words(), log.string());
}

}  // namespace sotto::cli
