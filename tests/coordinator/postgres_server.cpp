#include "postgres_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include "test_paths.h"

namespace sotto::coordinator {

namespace {

namespace fs = std::filesystem;

// Debian keeps the programs of each version in a folder of their own; the newest one.
std::optional<fs::path> postgres_programs() {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", none))
    if (fs::exists(version.path() / "bin" / "initdb")) found.push_back(version.path() / "bin");
  if (found.empty()) return std::nullopt;
  return *std::max_element(found.begin(), found.end());
}

// PostgreSQL refuses to run as root: its own user then, which the package brings.
const passwd* server_user() {
  if (::geteuid() != 0) return nullptr;
  const passwd* user = ::getpwnam("postgres");
  if (user == nullptr) throw std::runtime_error("the user postgres is missing: install postgresql-15 again");
  return user;
}

// In a child: becomes the program. What it writes goes to `output`.
[[noreturn]] void become(std::vector<std::string> command, const passwd* user, const fs::path& folder,
                         int output) {
  ::setpgid(0, 0);  // an interrupt of the tests is not the server's: it ends when they have ended
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (user != nullptr &&
      (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0))
    ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  std::vector<char*> arguments;
  for (std::string& part : command) arguments.push_back(part.data());
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

class Server {
 public:
  static Server& get() {
    static Server server;
    return server;
  }
  std::string location() const {
    return fmt::format("postgresql://sotto@/postgres?host={}", folder_.path().string());
  }
  // As the administrator.
  void command(const std::string& sql) const {
    const std::unique_ptr<PGconn, void (*)(PGconn*)> link(PQconnectdb(location().c_str()), PQfinish);
    const std::unique_ptr<PGresult, void (*)(PGresult*)> answer(PQexec(link.get(), sql.c_str()), PQclear);
    const ExecStatusType status = PQresultStatus(answer.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      throw std::runtime_error(fmt::format("'{}': {}", sql, PQerrorMessage(link.get())));
  }
  int next_number() { return number_++; }
  // As this user, otherwise as whoever runs the tests; what it said, where it failed.
  std::optional<std::string> fails(const std::vector<std::string>& command,
                                   const passwd* user = nullptr) const {
    int output = -1, status = 0;
    const pid_t child = spawn(command, user, output);
    std::string said = read_until(output, "");
    ::close(output);
    ::waitpid(child, &status, 0);
    return status == 0 ? std::nullopt : std::optional(said);
  }

 private:
  Server() {
    const fs::path programs = postgres_programs().value();
    const fs::path data = folder_.path() / "data";
    const passwd* user = server_user();
    if (user != nullptr && ::chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0)
      throw std::runtime_error("cannot give the test folder to the user postgres");
    run_to_end({programs / "initdb", "-D", data, "-U", "sotto", "-A", "trust", "-E", "UTF8", "--no-locale",
                "--no-sync"},
               user);
    start({programs / "postgres", "-D", data, "-c", "listen_addresses=", "-c",
           "unix_socket_directories=" + folder_.path().string(), "-c", "log_min_messages=log", "-c",
           "shared_buffers=16MB", "-c", "max_connections=60"},
          user);
  }
  ~Server() {
    if (server_ <= 0) return;
    ::kill(server_, SIGQUIT);  // at once: nobody reads its files again
    ::waitpid(server_, nullptr, 0);
    ::close(log_);
  }

  pid_t spawn(const std::vector<std::string>& command, const passwd* user, int& output) const {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("no process for PostgreSQL");
    if (child == 0) become(command, user, folder_.path(), ends[1]);
    ::close(ends[1]);
    output = ends[0];
    return child;
  }
  void run_to_end(const std::vector<std::string>& command, const passwd* user) const {
    if (const auto said = fails(command, user)) throw std::runtime_error("initdb failed: " + *said);
  }
  void start(const std::vector<std::string>& command, const passwd* user) {
    server_ = spawn(command, user, log_);
    const std::string said = read_until(log_, "ready to accept connections");
    if (said.find("ready to accept connections") == std::string::npos)
      throw std::runtime_error("PostgreSQL did not start: " + said);
  }
  // Until the words are said, or the other side has ended.
  static std::string read_until(int descriptor, const std::string& words) {
    std::string said;
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(descriptor, buffer, sizeof buffer)) > 0;) {
      said.append(buffer, static_cast<std::size_t>(count));
      if (!words.empty() && said.find(words) != std::string::npos) break;
    }
    return said;
  }

  TempFolder folder_;
  pid_t server_ = -1;
  int log_ = -1;
  int number_ = 0;
};

}  // namespace

std::optional<std::string> postgres_is_missing() {
  if (postgres_programs()) return std::nullopt;
  return "PostgreSQL is not installed (Debian package postgresql-15): its store is not tested";
}

std::string new_postgres_schema() {
  Server& server = Server::get();
  const std::string name = fmt::format("store{}", server.next_number());
  server.command("CREATE SCHEMA " + name);
  return server.location() + "&options=-csearch_path%3D" + name;
}

std::string new_postgres_database() {
  Server& server = Server::get();
  const std::string name = fmt::format("restored{}", server.next_number());
  server.command("CREATE DATABASE " + name);
  std::string location = server.location();
  const std::string_view first = "/postgres?";
  return location.replace(location.find(first), first.size(), "/" + name + "?");
}

std::optional<std::string> postgres_program_fails(const std::string& program,
                                                  const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {postgres_programs().value() / program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Server::get().fails(command);
}

void break_postgres_connections() {
  Server::get().command(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
      "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
}

}  // namespace sotto::coordinator
