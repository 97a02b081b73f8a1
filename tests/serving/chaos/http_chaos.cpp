// Load and chaos, seeded: normal readers among slow, broken and hostile clients, all against one server in a
// process of its own. Demanded: every request of a normal reader is answered, 99 % of them within 50 ms, the
// server's memory stays within its budget and comes back, connections are shed to make room for others, and
// it ends well when it is told to.
//
//   chaos_http [SEED [SECONDS]]
//   chaos_http lists [SECONDS]   what two connections that ask for long lists on and on cost everybody else

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <iostream>
#include <mutex>
#include <random>
#include <thread>

#include "base/interrupt.h"
#include "base/log.h"
#include "device/wire/pack_codec.h"
#include "net/http_client.h"
#include "net/negotiation.h"
#include "serving/http/serving_server.h"
#include "serving/pool/synthetic_pool.h"
#include "source_socket.h"
#include "test_paths.h"

namespace sotto::serving {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::int64_t budget = std::int64_t{64} << 20;
// Sessions, packs, lists, the allocator's slack.
constexpr std::int64_t beside_budget = std::int64_t{48} << 20;
// Fewer than the slow and the hoarding clients hold on to, so that the server has to choose whom to shed.
constexpr std::size_t most_connections = 800, slow_connections = 300, hoarding_connections = 400;
constexpr double most_p99_seconds = 0.05;
constexpr std::uint64_t longest_list = 10'000;

// The server's process: prints its port into the pipe and serves until it is told to end.
int serve(const fs::path& folder, int pipe_end) {
  install_interrupt_handler();
  ServeSettings settings;
  settings.model = folder / "pack";
  settings.catalogue = folder / "catalogue";
  settings.operator_token = "a-token-for-the-chaos";
  settings.durability = Durability::process_end;
  settings.http.max_connections = most_connections;
  settings.http.max_connections_per_address = 400;
  settings.http.max_buffered_bytes = budget;
  if (!write_file_atomically(settings.model, device::encode_pack(synthetic_pack().value()).value())) return 1;
  auto server = ServingServer::start(settings, [](const device::DevicePack&) {
    return Result<std::shared_ptr<const ItemEncoder>>(nullptr);
  });
  if (!server) {
    error("{}", server.error().message);
    return 1;
  }
  std::int64_t now = 1'700'000'000;
  if (!fill_with_synthetic_items((*server)->pool(), 20'000, now, 1000) || !(*server)->tick(now)) return 1;
  const std::string url = (*server)->url();
  if (write(pipe_end, url.data(), url.size()) != static_cast<ssize_t>(url.size())) return 1;
  close(pipe_end);
  while (!interrupted()) {
    if (auto done = (*server)->tick(++now); !done) warn("{}", done.error().message);
    std::this_thread::sleep_for(milliseconds(200));
  }
  (*server)->stop();
  return 0;
}

std::int64_t resident_bytes(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  std::string word;
  std::int64_t kilobytes = 0;
  while (status >> word) {
    if (word == "VmRSS:") status >> kilobytes;
  }
  return kilobytes << 10;
}

// The value of a counter in the text of /metrics; 0: not there.
double counted(std::string_view metrics, std::string_view counter) {
  const auto line = metrics.find(fmt::format("\n{} ", counter));
  return line == std::string_view::npos
             ? 0
             : std::stod(std::string(metrics.substr(line + counter.size() + 2, 20)));
}

struct Chaos {
  std::string url;
  std::uint16_t port = 0;
  std::uint64_t seed = 0;
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> attacks{0}, normal_answers{0}, normal_failures{0};
  std::mutex mutex;
  std::vector<double> latencies;
  std::vector<std::string> failures;

  void normal_reader(std::uint64_t number) {
    std::mt19937_64 random(seed + number);
    auto client = net::HttpClient::create({.url = url}).value();
    const std::string model = synthetic_pack().value().model;
    std::vector<double> own;
    while (!over) {
      const std::string body =
          fmt::format(R"({{"model":"{}","prototypes":[{}],"count":20}})", model, random() % 64);
      const auto begun = Clock::now();
      const auto answer = client.post("/v1/recommend", body, net::json_type);
      own.push_back(std::chrono::duration<double>(Clock::now() - begun).count());
      if (answer && answer->status == 200) {
        ++normal_answers;
      } else {
        ++normal_failures;
        const std::lock_guard lock(mutex);
        if (failures.size() < 5)
          failures.push_back(answer ? std::to_string(answer->status) : answer.error().message);
      }
      std::this_thread::sleep_for(milliseconds(5 + random() % 10));
    }
    const std::lock_guard lock(mutex);
    latencies.insert(latencies.end(), own.begin(), own.end());
  }

  // One connection that asks for nothing but long lists: always the same one, or one that few have asked for.
  std::uint64_t ask_for_lists(std::uint64_t number, bool same) const {
    std::mt19937_64 random(seed + 4000 + number);
    auto client = net::HttpClient::create({.url = url}).value();
    std::uint64_t answered = 0;
    while (!over) {
      const auto list = client.get(
          fmt::format("/v1/popular?count={}", same ? longest_list : longest_list - random() % 5000));
      answered += list && list->status == 200 ? 1 : 0;
    }
    return answered;
  }

  std::string head(std::string_view line, std::string_view more = {}) const {
    return fmt::format("{} HTTP/1.1\r\nHost: x\r\n{}\r\n", line, more);
  }
  std::string attack(std::mt19937_64& random) const {
    const std::string much(64 << 10, 'a');
    switch (random() % 12) {
      case 0:
        return head("POST /nope", "Transfer-Encoding: chunked\r\n") + "2;" + much;
      case 1:
        return head("POST /v1/recommend", "Transfer-Encoding: chunked\r\n") + "2;" + much + much;
      case 2:
        return head("POST /v1/recommend", "Transfer-Encoding: chunked\r\n") + "0\r\nX: " + much;
      case 3:
        return head("PUT /v1/items", "Content-Length: 16000000\r\n") + much + much;
      case 4:
        return head("POST /v1/recommend", "Content-Length: 65000\r\n") + much.substr(0, random() % 65'000);
      case 5:
        return head("GET /v1/popular", "X: " + much + "\r\n");
      case 6:
        return head("POST /v1/recommend", "Transfer-Encoding: gzip\r\nContent-Length: 2\r\n") + "ab" +
               head("GET /x");
      case 7:
        return head("PUT /v1/items",
                    "Authorization: Bearer a-token-for-the-chaos\r\nContent-Length: 8000000\r\n") +
               much;
      case 8: {
        std::string noise(1 + random() % 2000, '\0');
        for (char& c : noise) c = static_cast<char>(random());
        return noise;
      }
      case 9:  // a list that nobody has asked for yet
        return head(fmt::format("GET /v1/popular?count={}", 5000 + random() % 5000));
      case 10: {
        std::string pipelined;
        for (int i = 0; i < 50; ++i) pipelined += head("GET /healthz");
        return pipelined;
      }
      default:
        return head("GET /v1/pack", "Range: bytes=5-\r\n");
    }
  }

  // Sends something bad, reads a little of the answer or none, and goes, or is reset.
  void hostile(std::uint64_t number) {
    std::mt19937_64 random(seed + 1000 + number);
    while (!over) {
      SourceSocket socket(port, fmt::format("127.0.0.{}", 2 + random() % 50));
      if (socket.connected()) {
        socket.send(attack(random), milliseconds(200));
        if (random() % 2 == 0) socket.read(random() % 20'000, milliseconds(50));
        if (random() % 4 == 0) socket.reset_on_close();
        ++attacks;
      }
      std::this_thread::sleep_for(milliseconds(random() % 20));
    }
  }

  // Hundreds of connections that send a byte now and then, or nothing; long answers read at a crawl.
  void slow(std::uint64_t number) {
    std::mt19937_64 random(seed + 2000 + number);
    std::vector<std::unique_ptr<SourceSocket>> sockets;
    while (!over) {
      while (sockets.size() < slow_connections) {
        sockets.push_back(std::make_unique<SourceSocket>(port, fmt::format("127.0.1.{}", 1 + random() % 50)));
        if (random() % 3 == 0)
          sockets.back()->send("POST /v1/recommend HTTP/1.1\r\nHost: x\r\nX-Slow: ", milliseconds(10));
        if (random() % 5 == 0) sockets.back()->send(head("GET /v1/popular?count=9999"), milliseconds(10));
        if (over) return;
      }
      auto& socket = sockets[random() % sockets.size()];
      switch (random() % 4) {
        case 0:
          socket->send("x", milliseconds(1));
          break;
        case 1:
          socket->read(1000, milliseconds(1));
          break;
        case 2:
          if (random() % 20 == 0) {
            std::swap(socket, sockets.back());
            sockets.pop_back();
          }
          break;
        default:
          std::this_thread::sleep_for(milliseconds(2));
      }
    }
  }

  // Hundreds of connections that each ask for a long list of their own, again when there was no room for it,
  // and take no more of it than keeps them alive: what falls out of the cache is theirs alone to hold.
  void hoarder(std::uint64_t number) {
    std::mt19937_64 random(seed + 3000 + number);
    std::vector<std::unique_ptr<SourceSocket>> sockets;
    while (!over) {
      if (sockets.size() < hoarding_connections) {
        sockets.push_back(
            std::make_unique<SourceSocket>(port, fmt::format("127.0.2.{}", 1 + random() % 50), 4 << 10));
      }
      auto& socket = sockets[random() % sockets.size()];
      socket->send(head(fmt::format("GET /v1/popular?count={}", 9000 + random() % 1000)), milliseconds(1));
      socket->read(4000, milliseconds(1));
      if (random() % 100 == 0) {
        std::swap(socket, sockets.back());
        sockets.pop_back();
      }
    }
  }
};

// In a process of its own, which must begin before there is any thread.
struct ServerProcess {
  explicit ServerProcess(const fs::path& folder) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    id = fork();
    if (id == 0) {
      close(ends[0]);
      const int code = serve(folder, ends[1]);
      std::_Exit(code);
    }
    close(ends[1]);
    std::array<char, 200> bytes{};
    const ssize_t read_bytes = read(ends[0], bytes.data(), bytes.size());
    close(ends[0]);
    if (read_bytes <= 0) throw std::runtime_error("the server did not start");
    url.assign(bytes.data(), static_cast<std::size_t>(read_bytes));
  }
  bool end_well() const {
    kill(id, SIGTERM);
    int ended = 0;
    waitpid(id, &ended, 0);
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
  }
  pid_t id = -1;
  std::string url;
};

double quantile(const std::vector<double>& sorted, double q) {
  return sorted.empty() ? 1e9 : sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

// In turns of two seconds, so that whatever else the machine does falls on all alike.
int measure_lists(int seconds) {
  const TempFolder folder;
  const ServerProcess server(folder.path());
  struct Kind {
    const char* name;
    std::size_t askers;
    bool same;
    std::vector<double> latencies;
    std::uint64_t lists = 0;
  };
  std::array<Kind, 3> kinds = {Kind{"nobody else", 0, true, {}}, Kind{"the same list", 2, true, {}},
                               Kind{"different lists", 2, false, {}}};
  std::uint64_t failures = 0;
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  for (std::uint64_t turn = 0; Clock::now() < end; ++turn)
    for (Kind& kind : kinds) {
      Chaos chaos;
      chaos.url = server.url;
      chaos.seed = turn;
      std::atomic<std::uint64_t> lists{0};
      std::vector<std::thread> clients;
      for (std::uint64_t i = 0; i < kind.askers; ++i)
        clients.emplace_back([&, i] { lists += chaos.ask_for_lists((2 * turn) + i, kind.same); });
      for (std::uint64_t i = 0; i < 4; ++i) clients.emplace_back([&chaos, i] { chaos.normal_reader(i); });
      std::this_thread::sleep_for(std::chrono::seconds(2));
      chaos.over = true;
      for (std::thread& client : clients) client.join();
      kind.lists += lists;
      kind.latencies.insert(kind.latencies.end(), chaos.latencies.begin(), chaos.latencies.end());
      failures += chaos.normal_failures;
    }
  for (Kind& kind : kinds) {
    std::sort(kind.latencies.begin(), kind.latencies.end());
    std::cout << fmt::format("{:<16} {} recommendations, median {:.2f} ms, p99 {:.2f} ms; {} lists\n",
                             kind.name, kind.latencies.size(), 1e3 * quantile(kind.latencies, 0.5),
                             1e3 * quantile(kind.latencies, 0.99), kind.lists);
  }
  const bool ended_well = server.end_well();
  if (failures > 0) std::cout << fmt::format("chaos: {} recommendations were not answered\n", failures);
  return ended_well && failures == 0 ? 0 : 1;
}

int run(std::uint64_t seed, int seconds) {
  const TempFolder folder;
  const ServerProcess process(folder.path());
  const pid_t server = process.id;
  Chaos chaos;
  chaos.url = process.url;
  chaos.port = static_cast<std::uint16_t>(std::stoi(chaos.url.substr(chaos.url.rfind(':') + 1)));
  chaos.seed = seed;
  const std::int64_t resident_before = resident_bytes(server);
  std::int64_t resident_most = resident_before;

  std::vector<std::thread> clients;
  for (std::uint64_t i = 0; i < 8; ++i) clients.emplace_back([&chaos, i] { chaos.normal_reader(i); });
  for (std::uint64_t i = 0; i < 6; ++i) clients.emplace_back([&chaos, i] { chaos.hostile(i); });
  for (std::uint64_t i = 0; i < 2; ++i) clients.emplace_back([&chaos, i] { chaos.slow(i); });
  for (std::uint64_t i = 0; i < 2; ++i) clients.emplace_back([&chaos, i] { chaos.hoarder(i); });
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  while (Clock::now() < end) {
    resident_most = std::max(resident_most, resident_bytes(server));
    std::this_thread::sleep_for(milliseconds(50));
  }
  chaos.over = true;
  for (auto& client : clients) client.join();

  // Freed pages are given back within a second or two.
  std::int64_t resident_after = resident_bytes(server);
  for (int i = 0; i < 100 && resident_after > resident_before + (beside_budget / 2); ++i) {
    std::this_thread::sleep_for(milliseconds(100));
    resident_after = resident_bytes(server);
  }
  const auto metrics = net::HttpClient::create({.url = chaos.url}).value().get("/metrics");
  const bool ended_well = process.end_well();

  std::sort(chaos.latencies.begin(), chaos.latencies.end());
  const double median = quantile(chaos.latencies, 0.5), p99 = quantile(chaos.latencies, 0.99);
  constexpr double mib = 1 << 20;
  const double shed = metrics ? counted(metrics->body, "sotto_http_shed_connections_total") : 0;
  std::cout << fmt::format(
      "seed {}, {} s: {} normal answers, {} failures, median {:.2f} ms, p99 {:.2f} ms; {} attacks\n"
      "resident {:.0f} MiB before, {:.0f} at most, {:.0f} after; {:.0f} connections shed\n",
      seed, seconds, chaos.normal_answers.load(), chaos.normal_failures.load(), 1e3 * median, 1e3 * p99,
      chaos.attacks.load(), static_cast<double>(resident_before) / mib,
      static_cast<double>(resident_most) / mib, static_cast<double>(resident_after) / mib, shed);
  bool good = true;
  const auto demand = [&](bool held, std::string_view what) {
    if (!held) std::cout << "chaos: " << what << "\n";
    good = good && held;
  };
  for (const std::string& failure : chaos.failures)
    std::cout << "  a normal reader was told: " << failure << "\n";
  demand(chaos.normal_failures == 0 && chaos.normal_answers > 0, "a normal reader was not answered");
  demand(p99 < most_p99_seconds, "normal readers waited more than 50 ms");
  demand(resident_most < resident_before + budget + beside_budget, "the memory is not bounded");
  demand(resident_after < resident_before + beside_budget, "the memory does not come back");
  demand(metrics && metrics->status == 200, "there are no metrics afterwards");
  demand(shed > 0, "no connection was shed: nobody had to make room");
  demand(ended_well, "the server did not end well");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace sotto::serving

int main(int argc, char** argv) {
  using namespace sotto::serving;
  if (argc > 1 && std::string_view(argv[1]) == "lists")
    return measure_lists(argc > 2 ? std::stoi(argv[2]) : 60);
  return run(argc > 1 ? std::stoull(argv[1]) : 20240229, argc > 2 ? std::stoi(argv[2]) : 60);
}
