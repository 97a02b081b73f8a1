#pragma once
// Many devices at a coordinator, each on connections of its own, in one thread: bytes over epoll, because ten
// thousand threads would measure themselves. WaitingCrowd waits; TimedCheckIns measures.

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <optional>
#include <thread>

#include "device/rounds/round_calls.h"

namespace sotto::coordinator {

// A check-in as it travels.
inline std::string check_in_request(const rounds::Identity& identity, const rounds::Digest& order) {
  const device::ServerCall call =
      device::signed_call("/v1/checkin", encode(rounds::CheckIn{order}), identity);
  std::string request = fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\n", call.method, call.path);
  for (const auto& [name, value] : call.headers) request += fmt::format("{}: {}\r\n", name, value);
  return request + fmt::format("Content-Length: {}\r\n\r\n", call.body.size()) + call.body;
}

// A connection to loopback, or −1.
inline int connect_to(std::int64_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  if (socket >= 0) ::close(socket);
  return -1;
}

struct PlainResponse {
  int status = 0;
  std::string body;
};

// A response that is complete in `bytes`, which it takes out; none: it is not.
inline std::optional<PlainResponse> take_response(std::string& bytes) {
  const std::size_t head = bytes.find("\r\n\r\n");
  if (head == std::string::npos) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t at = bytes.find("\r\n"); at < head; at = bytes.find("\r\n", at + 2)) {
    constexpr std::string_view name = "\r\ncontent-length: ";
    if (::strncasecmp(bytes.data() + at, name.data(), name.size()) == 0)
      length = std::stoul(bytes.substr(at + name.size(), 20));
  }
  if (bytes.size() < head + 4 + length) return std::nullopt;
  PlainResponse response{std::stoi(bytes.substr(9, 3)), bytes.substr(head + 4, length)};
  bytes.erase(0, head + 4 + length);
  return response;
}

// Connections that are asked all at once whether something came.
class PolledConnections {
 public:
  PolledConnections() : poll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  ~PolledConnections() {
    for (const One& one : all_) ::close(one.socket);
    ::close(poll_);
  }
  PolledConnections(const PolledConnections&) = delete;
  PolledConnections& operator=(const PolledConnections&) = delete;

  // False: the coordinator lets nobody in.
  bool add(std::int64_t port) {
    const int socket = connect_to(port);
    if (socket < 0) return false;
    all_.push_back({socket, {}});
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = all_.size() - 1;
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, socket, &event);
    return true;
  }
  std::size_t count() const { return all_.size(); }

  bool send(std::size_t number, const std::string& request) {
    return ::send(all_[number].socket, request.data(), request.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(request.size());
  }

  // Hands on what comes within so many milliseconds at most: on_response(number, response), on_end(number).
  template <class OnResponse, class OnEnd>
  void poll(int milliseconds, const OnResponse& on_response, const OnEnd& on_end) {
    std::array<epoll_event, 256> events{};
    std::array<char, 4096> buffer{};
    const int ready = ::epoll_wait(poll_, events.data(), events.size(), milliseconds);
    for (int k = 0; k < ready; ++k) {
      const std::size_t i = events[static_cast<std::size_t>(k)].data.u64;
      const ssize_t got = ::recv(all_[i].socket, buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        ::epoll_ctl(poll_, EPOLL_CTL_DEL, all_[i].socket, nullptr);
        on_end(i);
        continue;
      }
      all_[i].received.append(buffer.data(), static_cast<std::size_t>(got));
      if (const auto response = take_response(all_[i].received)) on_response(i, *response);
    }
  }

 private:
  struct One {
    int socket = -1;
    std::string received;
  };
  std::deque<One> all_;
  int poll_;
};

// They check in, send the same again whenever they are told to, and leave when the round has all it asked
// for.
class WaitingCrowd {
 public:
  WaitingCrowd(std::int64_t port, std::vector<std::string> requests) : requests_(std::move(requests)) {
    for (std::size_t i = 0; i < requests_.size(); ++i)
      if (!connections_.add(port) || !connections_.send(i, requests_[i])) {
        ++failed_;
        break;
      }
    thread_ = std::thread([this] { run(); });
  }
  ~WaitingCrowd() {
    stopped_ = true;
    thread_.join();
  }
  WaitingCrowd(const WaitingCrowd&) = delete;
  WaitingCrowd& operator=(const WaitingCrowd&) = delete;

  std::uint64_t asked_again() const { return again_; }
  std::uint64_t let_go() const { return let_go_; }  // because the round was complete
  // Connections that were lost before that, and any other answer.
  std::uint64_t failed() const { return failed_; }

 private:
  void run() {
    std::vector<char> waits(requests_.size(), 1);
    while (!stopped_)
      connections_.poll(
          100,
          [&](std::size_t i, const PlainResponse& response) {
            if (response.status == 202 && connections_.send(i, requests_[i])) {
              ++again_;
            } else if (response.status == 410 && waits[i] != 0 &&
                       response.body.find("the round has all the devices it asked for") !=
                           std::string::npos) {
              waits[i] = 0;
              ++let_go_;
            } else {
              ++failed_;
            }
          },
          [&](std::size_t i) { failed_ += waits[i] != 0 ? 1 : 0; });
  }

  const std::vector<std::string> requests_;
  PolledConnections connections_;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::uint64_t> again_ = 0, let_go_ = 0, failed_ = 0;
  std::thread thread_;
};

// Check-ins for the order that is open, at a steady rate, whether or not the ones before were answered. A
// check-in that waits has no answer to be timed by; but it takes the place of the device's earlier one, which
// is then told to ask again. So every device has two connections and checks in on them by turns, and what is
// timed is how long the earlier one's answer takes: signature, store, queue and desk lie between.
class TimedCheckIns {
 public:
  using Clock = std::chrono::steady_clock;

  TimedCheckIns(std::int64_t port, std::vector<std::string> requests) : requests_(std::move(requests)) {
    for (std::size_t i = 0; i < 2 * requests_.size(); ++i)
      if (!connections_.add(port)) ++failed_;
  }

  // Milliseconds from when each check-in was due, ascending: a queue before the coordinator counts too. The
  // first of every device has none before it and is not among them.
  std::vector<double> run(double per_second, double for_seconds) {
    const auto total = static_cast<std::size_t>(per_second * for_seconds);
    const std::size_t devices = requests_.size();
    std::vector<double> times;
    std::vector<Clock::time_point> replaced(2 * devices);
    const auto begin = Clock::now() + std::chrono::milliseconds(100);
    const auto due_of = [&](std::size_t i) {
      return begin + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(static_cast<double>(i) / per_second));
    };
    const auto on_response = [&](std::size_t connection, const PlainResponse& response) {
      if (response.status != 202) ++failed_;
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - replaced[connection]).count());
    };
    const auto on_end = [&](std::size_t) { ++failed_; };
    const std::size_t timed = total > devices ? total - devices : 0;
    const auto give_up = due_of(total) + std::chrono::seconds(15);  // before a desk answers by itself
    for (std::size_t i = 0; (i < total || times.size() < timed) && failed_ == 0 && Clock::now() < give_up;) {
      for (; i < total && Clock::now() >= due_of(i); ++i) {
        const std::size_t device = i % devices, turn = i / devices % 2;
        replaced[2 * device + (1 - turn)] = due_of(i);
        if (!connections_.send(2 * device + turn, requests_[device])) ++failed_;
      }
      connections_.poll(1, on_response, on_end);
    }
    std::sort(times.begin(), times.end());
    return times;
  }
  std::uint64_t failed() const { return failed_; }

 private:
  const std::vector<std::string> requests_;
  PolledConnections connections_;
  std::uint64_t failed_ = 0;
};

}  // namespace sotto::coordinator
