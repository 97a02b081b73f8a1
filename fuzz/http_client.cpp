// Any bytes as what a server answers a device, a part for each connection: an answer within its limits or an
// error, the same when it is asked again, and never a wait beyond what was allowed.

#include "net/http_client.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/http_fetch.h"
#include "net/http_text.h"

namespace {

using namespace sotto;

constexpr char between_parts = '\x1c';

// A server that tells whoever connects its next part, hears what is said to it, and closes. It ends with its
// last part again and again.
class Parrot {
 public:
  Parrot() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&own), size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
      std::abort();
    }
    port_ = ntohs(own.sin_port);
    std::thread([this] { answer_for_ever(); }).detach();
  }
  std::uint16_t port() const { return port_; }
  void learn(std::string_view words) {
    const std::lock_guard lock(mutex_);
    parts_.clear();
    next_ = 0;
    while (true) {
      const std::size_t end = words.find(between_parts);
      parts_.emplace_back(words.substr(0, end));
      if (end == std::string_view::npos) return;
      words.remove_prefix(end + 1);
    }
  }

 private:
  void answer_for_ever() {
    while (true) {
      const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) continue;
      std::string words;
      {
        const std::lock_guard lock(mutex_);
        words = parts_[next_];
        if (next_ + 1 < parts_.size()) ++next_;
      }
      ::send(peer, words.data(), words.size(), MSG_NOSIGNAL);
      ::shutdown(peer, SHUT_WR);
      char heard[1024];
      while (::recv(peer, heard, sizeof heard, 0) > 0) {
      }
      ::close(peer);
    }
  }
  const int listener_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> parts_;
  std::size_t next_ = 0;
};

constexpr std::uint64_t most_head = 2 << 10, most_body = 32 << 10;

Result<net::HttpResponse> ask(std::uint16_t port) {
  net::HttpClientSettings settings;
  settings.url = "http://127.0.0.1:" + std::to_string(port);
  settings.timeout = std::chrono::seconds(5);
  settings.max_header_bytes = most_head;
  settings.max_body_bytes = most_body;
  auto client = net::HttpClient::create(settings);
  if (!client) std::abort();
  return net::fetch(*client, {.path = "/v1/pack"});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto* const parrot = new Parrot();
  if (size > (std::size_t{64} << 10)) return -1;  // what the system takes at once
  const std::string_view words(reinterpret_cast<const char*>(data), size);
  parrot->learn(words);
  const auto answer = ask(parrot->port());
  parrot->learn(words);
  const auto again = ask(parrot->port());
  if (answer.has_value() != again.has_value()) std::abort();
  if (!answer) return 0;
  if (answer->status != again->status || answer->body != again->body || answer->headers != again->headers)
    std::abort();
  if (answer->body.size() > most_body) std::abort();
  std::size_t head = 0;
  for (const auto& [name, value] : answer->headers) head += name.size() + value.size();
  if (head > most_head) std::abort();
  return 0;
}
