#pragma once
// Many devices that wait at a coordinator, each on a connection of its own, in one thread: they check in, and
// send the same again whenever they are told to. Bytes over epoll, because ten thousand threads would measure
// themselves.

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <deque>
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

// The status of a response that is complete in `bytes`, which it takes out; 0: it is not.
inline int take_response(std::string& bytes) {
  const std::size_t head = bytes.find("\r\n\r\n");
  if (head == std::string::npos) return 0;
  std::size_t length = 0;
  for (std::size_t at = bytes.find("\r\n"); at < head; at = bytes.find("\r\n", at + 2)) {
    constexpr std::string_view name = "\r\ncontent-length: ";
    if (::strncasecmp(bytes.data() + at, name.data(), name.size()) == 0)
      length = std::stoul(bytes.substr(at + name.size(), 20));
  }
  if (bytes.size() < head + 4 + length) return 0;
  const int status = std::stoi(bytes.substr(9, 3));
  bytes.erase(0, head + 4 + length);
  return status;
}

class WaitingCrowd {
 public:
  WaitingCrowd(std::int64_t port, std::vector<std::string> requests) : requests_(std::move(requests)) {
    poll_ = ::epoll_create1(EPOLL_CLOEXEC);
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const int socket = connect_to(port);
      if (socket < 0) {
        ++failed_;
        continue;
      }
      sockets_.push_back(socket);
      answers_.emplace_back();
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = sockets_.size() - 1;
      ::epoll_ctl(poll_, EPOLL_CTL_ADD, socket, &event);
      send(sockets_.size() - 1);
    }
    thread_ = std::thread([this] { run(); });
  }
  ~WaitingCrowd() {
    stopped_ = true;
    thread_.join();
    for (const int socket : sockets_) ::close(socket);
    ::close(poll_);
  }
  WaitingCrowd(const WaitingCrowd&) = delete;
  WaitingCrowd& operator=(const WaitingCrowd&) = delete;

  std::size_t connected() const { return sockets_.size() - lost_; }
  std::uint64_t asked_again() const { return again_; }
  std::uint64_t failed() const { return failed_; }

 private:
  void send(std::size_t i) {
    const std::string& request = requests_[i];
    if (::send(sockets_[i], request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size()))
      ++failed_;
  }
  void run() {
    std::array<epoll_event, 256> events{};
    std::array<char, 4096> buffer{};
    while (!stopped_) {
      const int ready = ::epoll_wait(poll_, events.data(), events.size(), 100);
      for (int k = 0; k < ready; ++k) {
        const std::size_t i = events[static_cast<std::size_t>(k)].data.u64;
        const ssize_t got = ::recv(sockets_[i], buffer.data(), buffer.size(), 0);
        if (got <= 0) {
          ::epoll_ctl(poll_, EPOLL_CTL_DEL, sockets_[i], nullptr);
          ++lost_;
          continue;
        }
        answers_[i].append(buffer.data(), static_cast<std::size_t>(got));
        const int status = take_response(answers_[i]);
        if (status == 202) {
          ++again_;
          send(i);
        } else if (status != 0 && status != 410) {
          ++failed_;
        }
      }
    }
  }

  const std::vector<std::string> requests_;
  std::vector<int> sockets_;
  std::deque<std::string> answers_;
  int poll_ = -1;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::uint64_t> again_ = 0, failed_ = 0, lost_ = 0;
  std::thread thread_;
};

}  // namespace sotto::coordinator
