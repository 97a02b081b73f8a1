// Two coordinators as processes of their own on one PostgreSQL: one is killed while devices wait in its
// round, and the other goes on.

#if defined(SOTTO_HAVE_NET) && defined(SOTTO_TEST_POSTGRES)

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "cli/hand_over.h"
#include "coordinator/postgres_server.h"
#include "network_rounds.h"

namespace sotto::trainer {
namespace {

using testing::Network;

// 'sotto coordinator --json'; ended with the object.
class CoordinatorProcess {
 public:
  CoordinatorProcess(const Network& network, const std::string& store, const std::string& node)
      : said_(network.folder / (node + ".jsonl")) {
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
    for (const std::string& assignment : network.subject.server)
      words.insert(words.end(), {"--set", assignment});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int out = ::open(said_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(out, STDOUT_FILENO);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(out);
  }
  ~CoordinatorProcess() { end(SIGKILL); }
  CoordinatorProcess(const CoordinatorProcess&) = delete;
  CoordinatorProcess& operator=(const CoordinatorProcess&) = delete;

  void end(int signal) {
    if (process_ <= 0) return;
    ::kill(process_, signal);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  // The first event of this name, once it was said.
  nlohmann::json await(const std::string& event) const {
    for (int i = 0; i < 1200; ++i) {
      const auto text = read_file(said_, 1 << 20).value();
      for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
           begin = end + 1)
        if (auto one = nlohmann::json::parse(text.substr(begin, end - begin)); one["event"] == event)
          return one;
      if (::waitpid(process_, nullptr, WNOHANG) != 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    throw std::runtime_error("the coordinator never said '" + event + "'");
  }

 private:
  fs::path said_;
  pid_t process_ = -1;
};

std::uint64_t waiting_at(const std::string& url) {
  net::HttpClientSettings settings;
  settings.url = url;
  const auto status = net::HttpClient::create(settings)->get("/v1/status");
  if (!status) return 0;
  return nlohmann::json::parse(status->body)["now"].value("waiting", std::uint64_t{0});
}

TEST(NetworkTakeover, TheNextCoordinatorGoesOnWhenOneIsKilledWhileDevicesWait) {
  if (const auto missing = coordinator::postgres_is_missing()) GTEST_SKIP() << *missing;
  Network network(testing::flagship());
  network.sign();
  ASSERT_TRUE(write_file_atomically(
      network.folder / "coordinator.key",
      "sotto secret key 1 " + to_hex(rounds::coordinator_key().seed().view()) + "\n", FileReaders::owner));
  ASSERT_TRUE(
      write_file_atomically(network.folder / "operator.key.pub",
                            "sotto public key 1 " + to_hex(rounds::operator_key().public_key()) + "\n"));
  const std::string store = coordinator::new_postgres_schema();
  CoordinatorProcess first(network, store, "first");
  const std::string url = first.await("listening")["url"];
  CoordinatorProcess second(network, store, "second");
  second.await("waiting");

  auto settings = network.fleet_settings(1);
  settings.reproducible = testing::seed;
  settings.server.url = url;
  const auto one = network.run(settings);
  ASSERT_TRUE(one) << one.error().message;

  // All devices but one wait in the second round when its coordinator is killed: nobody was charged for it.
  std::atomic<bool> stop = false;
  auto all_but_one = settings;
  --all_but_one.devices;
  std::thread devices([&] {
    static_cast<void>(fleet::run_fleet(
        all_but_one, network.dataset, [&] { return stop.load(); }, [](std::uint64_t) {}));
  });
  std::uint64_t waiting = 0;
  for (int i = 0; i < 1200 && (waiting = waiting_at(url)) < network.devices - 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  first.end(SIGKILL);
  stop = true;
  devices.join();
  ASSERT_EQ(waiting, network.devices - 1);

  settings.server.url = second.await("listening")["url"];
  const auto rest = network.run(settings);
  ASSERT_TRUE(rest) << rest.error().message;
  second.await("finished");
  second.end(SIGTERM);
  const auto simulated = network.simulated("simulated");
  ASSERT_TRUE(simulated) << simulated.error().message;
  const auto taken_over = Network::checkpoint_in(network.folder / "second");
  EXPECT_EQ(taken_over.parameters, simulated->parameters);
  for (std::size_t i = 0; i < taken_over.optimiser.size(); ++i)
    EXPECT_EQ(taken_over.optimiser[i], simulated->optimiser[i]);
}

}  // namespace
}  // namespace sotto::trainer

#endif
