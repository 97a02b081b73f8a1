#pragma once
// 'sotto coordinator --json' as a process of its own, to be killed and told to end.

#ifdef SOTTO_HAVE_NET

#include <fcntl.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "cli/hand_over.h"
#include "network_rounds.h"

namespace sotto::trainer::testing {

// The keys of the tests, as files that a command reads.
inline Status write_keys(const Network& network) {
  SOTTO_CHECK(write_file_atomically(
      network.folder / "coordinator.key",
      "sotto secret key 1 " + to_hex(rounds::coordinator_key().seed().view()) + "\n", FileReaders::owner));
  return write_file_atomically(network.folder / "operator.key.pub",
                               "sotto public key 1 " + to_hex(rounds::operator_key().public_key()) + "\n");
}

// Killed with the object, and the trainer that it started too.
class CoordinatorProcess {
 public:
  CoordinatorProcess(const Network& network, const std::string& store, const std::string& node,
                     const std::vector<std::string>& more = {})
      : said_(network.folder / (node + ".jsonl")), complained_(network.folder / (node + ".log")) {
    const fs::path program = cli::trainer_program().value().parent_path().parent_path() / "sotto";
    const auto file = [&](const char* name) { return (network.folder / name).string(); };
    std::vector<std::string> words = {program.string(),
                                      "--json",
                                      "coordinator",
                                      "--campaign",
                                      file("campaign.sotto"),
                                      "--data",
                                      network.data.path().string(),
                                      "--store",
                                      store,
                                      "--work",
                                      file(node.c_str()),
                                      "--key",
                                      file("coordinator.key"),
                                      "--operator-key",
                                      file("operator.key.pub"),
                                      "--listen",
                                      "127.0.0.1:0",
                                      "--node",
                                      node,
                                      "--lease-seconds",
                                      "3",
                                      "--retry-seconds",
                                      "1",
                                      "--order-seconds",
                                      "60",
                                      "--seed",
                                      std::to_string(testing::seed)};
    words.insert(words.end(), more.begin(), more.end());
    for (const std::string& assignment : network.subject.server)
      words.insert(words.end(), {"--set", assignment});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int out = ::open(said_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const int log = ::open(complained_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(out, STDOUT_FILENO);
      ::dup2(log, STDERR_FILENO);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(out);
    ::close(log);
  }
  ~CoordinatorProcess() { end(SIGKILL); }
  CoordinatorProcess(const CoordinatorProcess&) = delete;
  CoordinatorProcess& operator=(const CoordinatorProcess&) = delete;

  void signal(int number) const {
    if (process_ > 0) ::kill(process_, number);
  }
  // Its status, as waitpid has it.
  int end(int number) {
    if (process_ <= 0) return 0;
    const pid_t trainer = this->trainer();
    signal(number);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    if (number == SIGKILL && trainer > 0) ::kill(trainer, SIGKILL);
    return status;
  }
  // The process that makes its versions; 0: none runs.
  pid_t trainer() const {
    pid_t child = 0;
    std::error_code gone;  // threads may end meanwhile
    for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process_), gone))
      if (child == 0) std::ifstream(thread.path() / "children") >> child;
    return child;
  }
  std::vector<nlohmann::json> said() const {
    const auto text = read_file(said_, 1 << 20).value();
    std::vector<nlohmann::json> all;
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      all.push_back(nlohmann::json::parse(text.substr(begin, end - begin)));
    return all;
  }
  std::string complaints() const { return read_file(complained_, 1 << 20).value(); }
  // The first event of this name, once it was said.
  nlohmann::json await(const std::string& event) const {
    for (int i = 0; i < 1200; ++i) {
      for (const nlohmann::json& one : said())
        if (one["event"] == event) return one;
      if (::waitpid(process_, nullptr, WNOHANG) != 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    throw std::runtime_error("the coordinator never said '" + event + "': " + complaints());
  }

 private:
  fs::path said_, complained_;
  pid_t process_ = -1;
};

inline nlohmann::json status_at(const std::string& url) {
  net::HttpClientSettings settings;
  settings.url = url;
  const auto status = net::HttpClient::create(settings)->get("/v1/status");
  return status ? nlohmann::json::parse(status->body) : nlohmann::json();
}

// Whether its status came to be so, within a minute.
template <class Question>
bool comes_true(const std::string& url, const Question& question) {
  for (int i = 0; i < 6000; ++i) {
    if (const auto status = status_at(url); status.is_object() && question(status)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// A fleet that takes part until it is told to stop.
class FleetInBackground {
 public:
  FleetInBackground(const fleet::FleetSettings& settings, const data::Dataset& dataset)
      : settings_(settings), thread_([this, &dataset] {
          report_ = fleet::run_fleet(
              settings_, dataset, [this] { return stop_.load(); }, [](std::uint64_t) {});
        }) {}
  ~FleetInBackground() { static_cast<void>(stop()); }
  FleetInBackground(const FleetInBackground&) = delete;
  FleetInBackground& operator=(const FleetInBackground&) = delete;
  const Result<fleet::FleetReport>& stop() {
    stop_ = true;
    return wait();
  }
  const Result<fleet::FleetReport>& wait() {
    if (thread_.joinable()) thread_.join();
    return report_;
  }

 private:
  const fleet::FleetSettings settings_;
  std::atomic<bool> stop_ = false;
  Result<fleet::FleetReport> report_ = failed("the fleet runs");
  std::thread thread_;  // last: it uses the rest
};

}  // namespace sotto::trainer::testing

#endif
