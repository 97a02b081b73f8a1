#pragma once
// A device's way to a server over HTTP: to the one that recommends, and to the coordinator.
//
// Adds nothing to a request that would tell devices apart: what is fetched may come compressed, and when its
// connection breaks off, the rest is asked for at once; that is all. Movable. One call at a time.

#include "device/conversation.h"
#include "net/http_client.h"

namespace sotto::transport {

class HttpTransport final : public device::Transport {
 public:
  // The time for an answer must be longer than a coordinator holds one back.
  static Result<HttpTransport> create(const net::HttpClientSettings& settings);

  Result<device::ServerAnswer> send(const device::ServerCall& call) override;

 private:
  explicit HttpTransport(net::HttpClient client) : client_(std::move(client)) {}
  net::HttpClient client_;
};

}  // namespace sotto::transport
