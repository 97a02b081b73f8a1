#include "eval/experiments/grid/side_by_side.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/interrupt.h"

namespace sotto::eval {

namespace {

struct Worker {
  pid_t process = 0;
  fs::path log;
  bool running = true, failed = false;
};

Result<Worker> start(const std::vector<std::string>& command, const fs::path& log) {
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  // In a group of its own: Ctrl-C on a terminal then reaches the parent alone, which tells every worker once.
  // A second signal would end it in the middle of a round.
  posix_spawnattr_t own_group;
  posix_spawnattr_init(&own_group);
  posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&own_group, 0);
  Worker worker{0, log};
  const int problem = posix_spawn(&worker.process, argv.front(), &files, &own_group, argv.data(), environ);
  posix_spawnattr_destroy(&own_group);
  posix_spawn_file_actions_destroy(&files);
  if (problem != 0)
    return failed("cannot start {}: {}", command.front(),
                  std::error_code(problem, std::generic_category()).message());
  return worker;
}

// True while one of them runs.
bool collect(std::vector<Worker>& workers) {
  bool running = false;
  for (Worker& worker : workers) {
    if (!worker.running) continue;
    int status = 0;
    const pid_t ended = waitpid(worker.process, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) {
      running = true;
      continue;
    }
    worker.running = false;
    worker.failed = ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  return running;
}

Result<Descriptor> open_lock(const fs::path& path) {
  return Descriptor::open(path.string() + ".lock", O_RDWR | O_CREAT, "create", 0644);
}

tl::unexpected<Error> cannot_lock(const fs::path& path) {
  return failed("cannot lock {}: {}", path.string(),
                std::error_code(errno, std::generic_category()).message());
}

}  // namespace

Result<std::optional<Claim>> Claim::take(const fs::path& path) {
  SOTTO_TRY(auto lock, open_lock(path));
  if (flock(lock.number(), LOCK_EX | LOCK_NB) == 0) return Claim(std::move(lock));
  if (errno == EWOULDBLOCK) return std::nullopt;
  return cannot_lock(path);
}

Result<Claim> Claim::wait(const fs::path& path) {
  SOTTO_TRY(auto lock, open_lock(path));
  while (flock(lock.number(), LOCK_EX) != 0)
    if (errno != EINTR) return cannot_lock(path);
  return Claim(std::move(lock));
}

Status run_workers(const std::vector<std::string>& command, int count, const fs::path& logs,
                   const std::function<void()>& look) {
  std::vector<Worker> workers;
  Status started;
  for (int i = 1; i <= count && started; ++i) {
    auto worker = start(command, logs / fmt::format("worker-{}.log", i));
    if (worker)
      workers.push_back(std::move(*worker));
    else
      started = tl::unexpected(std::move(worker).error());
  }
  bool told = false;
  while (collect(workers)) {
    if ((interrupted() || !started) && !told) {
      told = true;
      for (const Worker& worker : workers)
        if (worker.running) kill(worker.process, SIGTERM);
    }
    look();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  look();
  SOTTO_CHECK(started);
  if (interrupted()) return {};  // how they ended then says nothing
  for (const Worker& worker : workers)
    if (worker.failed) return failed("a worker failed: see {}", worker.log.string());
  return {};
}

}  // namespace sotto::eval
