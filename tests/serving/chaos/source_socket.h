#pragma once
// A TCP connection from a loopback address of choice, whose every operation ends within a given time.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace sotto::serving {

class SourceSocket {
 public:
  // receive_bytes: what the system takes before it is read, in segments as on Ethernet; 0: as it likes.
  SourceSocket(std::uint16_t port, const std::string& from, int receive_bytes = 0)
      : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) {
      const int segment_bytes = 1460;
      setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
      setsockopt(descriptor_, IPPROTO_TCP, TCP_MAXSEG, &segment_bytes, sizeof segment_bytes);
    }
    sockaddr_in own{};
    own.sin_family = AF_INET;
    inet_pton(AF_INET, from.c_str(), &own.sin_addr);
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = bind(descriptor_, reinterpret_cast<sockaddr*>(&own), sizeof own) == 0 &&
                 connect(descriptor_, reinterpret_cast<sockaddr*>(&server), sizeof server) == 0;
  }
  ~SourceSocket() { ::close(descriptor_); }
  SourceSocket(const SourceSocket&) = delete;
  SourceSocket& operator=(const SourceSocket&) = delete;
  bool connected() const { return connected_; }

  void send(std::string_view bytes, std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!bytes.empty() && std::chrono::steady_clock::now() < end) {
      pollfd ready{descriptor_, POLLOUT, 0};
      if (poll(&ready, 1, static_cast<int>(limit.count())) <= 0) return;
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void read(std::size_t most, std::chrono::milliseconds limit) {
    std::array<char, 4096> bytes{};
    pollfd ready{descriptor_, POLLIN, 0};
    while (most > 0 && poll(&ready, 1, static_cast<int>(limit.count())) > 0) {
      const ssize_t got = recv(descriptor_, bytes.data(), std::min(most, bytes.size()), MSG_DONTWAIT);
      if (got <= 0) return;
      most -= static_cast<std::size_t>(got);
    }
  }
  void reset_on_close() {
    const linger at_once{1, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

 private:
  int descriptor_;
  bool connected_ = false;
};

}  // namespace sotto::serving
