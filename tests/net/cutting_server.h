#pragma once
// A server whose connections break off: each takes one request, sends what the test says of an answer, and is
// closed.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/http_message.h"
#include "net/http_text.h"

namespace sotto::net {

class CuttingServer {
 public:
  // Of the answer's body so many bytes are sent: more than it has is all of it.
  using Answer = std::function<std::pair<HttpResponse, std::size_t>(const std::string& request)>;

  explicit CuttingServer(Answer answer)
      : answer_(std::move(answer)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 8) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~CuttingServer() { stop(); }
  CuttingServer(const CuttingServer&) = delete;
  CuttingServer& operator=(const CuttingServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // The heads that came. Takes no further ones.
  const std::vector<std::string>& stop() {
    if (thread_.joinable()) {
      shutdown(listener_, SHUT_RDWR);
      thread_.join();
      ::close(listener_);
    }
    return requests_;
  }

 private:
  void serve() {
    while (true) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      std::string request;
      char bytes[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t read = recv(connection, bytes, sizeof bytes, 0);
        if (read <= 0) break;
        request.append(bytes, static_cast<std::size_t>(read));
      }
      const auto [response, body_bytes] = answer_(request);
      requests_.push_back(std::move(request));
      std::string answer = render_head(response, true);
      answer += response.bytes().substr(0, body_bytes);
      for (std::string_view left = answer; !left.empty();) {
        const ssize_t sent = ::send(connection, left.data(), left.size(), MSG_NOSIGNAL);
        if (sent <= 0) break;
        left.remove_prefix(static_cast<std::size_t>(sent));
      }
      ::close(connection);
    }
  }

  const Answer answer_;
  const int listener_;
  std::uint16_t port_ = 0;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace sotto::net
