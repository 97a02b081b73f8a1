#pragma once
// A bare TCP connection for tests that must send what no client would.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace sotto::net {

class RawSocket {
 public:
  // receive_bytes: what the system may take before it is read, in segments as on Ethernet (a loopback's are
  // so large that the sender's system would take megabytes); 0: as it likes.
  // from: the address on loopback that it comes from.
  explicit RawSocket(std::uint16_t port, int receive_bytes = 0, const char* from = "127.0.0.1")
      : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) {
      setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
      const int segment_bytes = 1460;
      setsockopt(descriptor_, IPPROTO_TCP, TCP_MAXSEG, &segment_bytes, sizeof segment_bytes);
    }
    sockaddr_in own{}, address{};
    own.sin_family = address.sin_family = AF_INET;
    own.sin_addr.s_addr = inet_addr(from);
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (descriptor_ < 0 || bind(descriptor_, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0 ||
        connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
  }
  ~RawSocket() { ::close(descriptor_); }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  // Stops without complaint when the server no longer listens.
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  int descriptor() const { return descriptor_; }
  void close_sending_side() { shutdown(descriptor_, SHUT_WR); }

  // Everything until the server closes; at most 20 s between bytes.
  std::string read_all() {
    std::string all;
    while (read_some(all)) {
    }
    return all;
  }
  // The same, resting after every so many bytes.
  // Rests after so many bytes, until told that there is no need to.
  std::string read_slowly(std::size_t bytes, std::chrono::milliseconds rest,
                          const std::atomic<bool>* enough = nullptr) {
    std::string all;
    std::size_t next = bytes;
    while (read_some(all)) {
      if (all.size() < next) continue;
      next += bytes;
      if (enough == nullptr || !*enough) std::this_thread::sleep_for(rest);
    }
    return all;
  }
  std::string read_until(std::string_view end) {
    std::string all;
    while (all.find(end) == std::string::npos && read_some(all)) {
    }
    return all;
  }

 private:
  bool read_some(std::string& all) {
    pollfd waiting{descriptor_, POLLIN, 0};
    if (poll(&waiting, 1, 20'000) <= 0) throw std::runtime_error("the server neither answers nor closes");
    char bytes[4096];
    const ssize_t read = recv(descriptor_, bytes, sizeof bytes, 0);
    if (read <= 0) return false;
    all.append(bytes, static_cast<std::size_t>(read));
    return true;
  }
  int descriptor_;
};

}  // namespace sotto::net
