#include "transport/http_rounds.h"

#include "base/chain_hash.h"
#include "net/content_coding.h"
#include "net/negotiation.h"
#include "rounds/model_version.h"

namespace sotto::transport {

namespace {

constexpr std::string_view octets = "application/octet-stream";

tl::unexpected<Error> unwell(const net::HttpResponse& response) {
  return failed("the coordinator answers {}: {}", response.status, net::error_text(response));
}

// Statuses above 500 and 429 pass; other refusals are meant.
Result<device::RoundTransport::Reply> reply_of(net::HttpResponse response) {
  using Kind = device::RoundTransport::Reply::Kind;
  if (response.status == 200) return device::RoundTransport::Reply{Kind::answer, std::move(response.body)};
  if (response.status == 202) return device::RoundTransport::Reply{Kind::wait, {}};
  if (response.status >= 500 || response.status == 429) return unwell(response);
  return device::RoundTransport::Reply{Kind::refused, net::error_text(response)};
}

}  // namespace

Result<HttpRounds> HttpRounds::create(const net::HttpClientSettings& settings) {
  SOTTO_TRY(auto client, net::HttpClient::create(settings));
  return HttpRounds(std::move(client));
}

Result<std::optional<std::string>> HttpRounds::fetch_offer() {
  SOTTO_TRY(net::HttpResponse response, client_.get("/v1/order"));
  come_back_ = rounds::parse_come_back(response.header(rounds::come_back_header));
  if (response.status == 404) return std::optional<std::string>();
  if (response.status != 200) return unwell(response);
  return std::optional(std::move(response.body));
}

Result<std::string> HttpRounds::fetch_log(std::uint64_t from) {
  SOTTO_TRY(net::HttpResponse response, client_.get(fmt::format("/v1/log?from={}", from)));
  if (response.status != 200) return unwell(response);
  return std::move(response.body);
}

Result<std::string> HttpRounds::fetch_blob(const rounds::Digest& hash) {
  SOTTO_TRY(net::HttpResponse response,
            client_.get("/v1/blob/" + to_hex(hash), {{"Accept-Encoding", "zstd"}}));
  if (response.status != 200) return unwell(response);
  if (response.header("Content-Encoding") == "zstd")
    return net::decompress_zstd(response.body, rounds::BlobLimits::bytes);
  return std::move(response.body);
}

Result<device::RoundTransport::Reply> HttpRounds::enrol(std::string_view body) {
  SOTTO_TRY(net::HttpResponse response, client_.post("/v1/enrol", body, octets));
  return reply_of(std::move(response));
}

Result<device::RoundTransport::Reply> HttpRounds::post(std::string_view path, std::string_view body,
                                                       const rounds::IdentityKey& device,
                                                       const rounds::Signature& signature) {
  SOTTO_TRY(net::HttpResponse response,
            client_.send({.method = net::HttpMethod::post,
                          .path = std::string(path),
                          .headers = {{std::string(rounds::device_header), to_hex(device)},
                                      {std::string(rounds::signature_header), to_hex(signature)}},
                          .body = body,
                          .content_type = octets}));
  return reply_of(std::move(response));
}

}  // namespace sotto::transport
