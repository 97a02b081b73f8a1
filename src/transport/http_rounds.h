#pragma once
// A device's way to its coordinator over HTTP. Movable. One call at a time.

#include "device/rounds/round_transport.h"
#include "net/http_client.h"

namespace sotto::transport {

class HttpRounds final : public device::RoundTransport {
 public:
  // The time for an answer must be longer than a coordinator holds one back.
  static Result<HttpRounds> create(const net::HttpClientSettings& settings);

  Result<std::optional<std::string>> fetch_offer() override;
  std::optional<rounds::ComeBack> come_back() const override { return come_back_; }
  Result<std::string> fetch_log(std::uint64_t from) override;
  Result<std::string> fetch_blob(const rounds::Digest& hash) override;
  Result<Reply> enrol(std::string_view body) override;
  Result<Reply> post(std::string_view path, std::string_view body, const rounds::IdentityKey& device,
                     const rounds::Signature& signature) override;

 private:
  explicit HttpRounds(net::HttpClient client) : client_(std::move(client)) {}
  net::HttpClient client_;
  std::optional<rounds::ComeBack> come_back_;
};

}  // namespace sotto::transport
