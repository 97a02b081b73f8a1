#pragma once
// A device's way to its server over HTTP: GET /v1/pack with the version it has, POST /v1/recommend; GET and
// POST /v1/blind.
//
// Adds nothing to a request that would tell devices apart. Movable. One call at a time.

#include "device/device.h"
#include "net/http_client.h"

namespace sotto::transport {

class HttpTransport final : public device::Transport {
 public:
  static Result<HttpTransport> create(const net::HttpClientSettings& settings);

  Result<Pack> fetch_pack(std::string_view installed) override;
  Result<std::string> recommend(std::string_view body) override;
  Result<std::string> fetch_guide(std::string_view version) override;
  Result<std::string> ask_blind(std::string_view body) override;

 private:
  Result<std::string> post(std::string_view path, std::string_view body);
  explicit HttpTransport(net::HttpClient client) : client_(std::move(client)) {}
  net::HttpClient client_;
};

}  // namespace sotto::transport
