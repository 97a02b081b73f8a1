#ifdef SOTTO_HAVE_NET

#include "cli/trainer_process.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "base/byte_codec.h"
#include "base/interrupt.h"
#include "base/log_lines.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "cli/hand_over.h"

namespace sotto::cli {

namespace {

tl::unexpected<Error> trainer_failure(const char* what) {
  return failed("{} the trainer: {}", what, std::error_code(errno, std::generic_category()).message());
}

Status send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return trainer_failure("cannot write to");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Status receive_all(int socket, std::span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::read(socket, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return trainer_failure("cannot read from");
    if (got == 0) return failed("the trainer has ended");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

using Patience = TrainerProcess::Patience;

constexpr int exit_of_the_loader = 127;  // ld.so's, and a shell's

// goes_on: asked now and then while nothing comes.
Status wait_for(int socket, const std::function<Status()>& goes_on) {
  constexpr int look_again_ms = 100;
  pollfd ready{socket, POLLIN, 0};
  while (true) {
    const int changed = ::poll(&ready, 1, look_again_ms);
    if (changed > 0) return {};
    if (changed < 0 && errno != EINTR) return trainer_failure("cannot wait for");
    SOTTO_CHECK(goes_on());
  }
}

}  // namespace

Error said_by_trainer(Frame frame) {
  return {frame.kind == FrameKind::bad_input ? ErrorKind::bad_input : ErrorKind::failed,
          std::move(frame.body)};
}

Status send_frame(int socket, const Frame& frame) {
  ByteWriter head;
  head.number(static_cast<std::uint32_t>(frame.body.size() + 1));
  head.number(static_cast<std::uint8_t>(frame.kind));
  SOTTO_CHECK(send_all(socket, head.bytes()));
  return send_all(socket, frame.body);
}

Result<Frame> receive_frame(int socket) {
  char head[sizeof(std::uint32_t)];
  SOTTO_CHECK(receive_all(socket, head));
  const auto length = ByteReader({head, sizeof head}).number<std::uint32_t>();
  if (length == 0 || length > most_frame_bytes) return failed("the trainer sent a frame of {} bytes", length);
  char kind = 0;
  SOTTO_CHECK(receive_all(socket, {&kind, 1}));
  Frame frame{static_cast<FrameKind>(kind), std::string(length - 1, '\0')};
  SOTTO_CHECK(receive_all(socket, frame.body));
  return frame;
}

Frame error_frame(const Error& error) {
  return {error.kind == ErrorKind::bad_input ? FrameKind::bad_input : FrameKind::failed, error.message};
}

TrainerProcess::TrainerProcess(TrainerProcess&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), process_(std::exchange(other.process_, -1)) {}

TrainerProcess& TrainerProcess::operator=(TrainerProcess&& other) noexcept {
  if (this == &other) return *this;
  end();
  socket_ = std::exchange(other.socket_, -1);
  process_ = std::exchange(other.process_, -1);
  return *this;
}

Result<TrainerProcess> TrainerProcess::start(const std::vector<std::string>& words, bool shown) {
  SOTTO_TRY(const fs::path program, trainer_program());
  // What it warns of stands in this process's log.
  std::vector<std::string> all = {"sotto", "--threads", std::to_string(thread_count()), "--log-format",
                                  log_lines() == LogLines::json ? "json" : "text"};
  if (shown && progress_is_shown())
    all.insert(all.end(), {"--log-level", "warn"});
  else
    all.emplace_back("--quiet");
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  argv.reserve(all.size() + 1);
  for (auto& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);

  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return trainer_failure("cannot make a socket for");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t process = -1;
  errno = ::posix_spawn(&process, program.c_str(), &files, &attributes, argv.data(), environ);
  const bool spawned = errno == 0;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  if (spawned) return TrainerProcess(ends[0], process);
  ::close(ends[0]);
  return trainer_failure("cannot start");
}

Result<Frame> TrainerProcess::receive() {
  auto frame = receive_frame(socket_);
  if (frame) return frame;
  // Where the stream ends the process does: what it ended by says more than that.
  int status = 0;
  for (int i = 0; i < 100; ++i) {
    const pid_t ended = ::waitpid(process_, &status, WNOHANG);
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (ended != process_) continue;
    process_ = -1;
    if (WIFSIGNALED(status)) return failed("the trainer was ended by signal {}", WTERMSIG(status));
    if (WEXITSTATUS(status) == exit_of_the_loader)
      return failed(
          "the trainer cannot be loaded, because libraries are missing: install the packages that 'dpkg -s "
          "sotto' names under Recommends");
    return failed("the trainer has ended with {}", WEXITSTATUS(status));
  }
  return frame;
}

Result<Frame> TrainerProcess::receive(Patience patience) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  SOTTO_CHECK(wait_for(socket_, [&]() -> Status {
    if (patience == Patience::until_interrupted && interrupted()) return failed("interrupted");
    if (patience == Patience::ten_minutes && std::chrono::steady_clock::now() > until)
      return failed("the trainer did not answer within ten minutes");
    return {};
  }));
  return receive();
}

Result<Frame> TrainerProcess::receive(const std::function<bool()>& given_up) {
  SOTTO_CHECK(wait_for(socket_, [&]() -> Status {
    return given_up() ? Status(failed("nobody waits for the trainer any more")) : Status();
  }));
  return receive();
}

void TrainerProcess::end() {
  if (socket_ < 0) return;
  ::close(socket_);
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  socket_ = process_ = -1;
}

}  // namespace sotto::cli

#endif
