#include "transport/http_transport.h"

#include "net/content_coding.h"
#include "net/http_fetch.h"
#include "rounds/come_back.h"

namespace sotto::transport {

namespace {

constexpr std::size_t most_body_bytes = std::size_t{1} << 30;  // what any of a device's decoders takes

}  // namespace

Result<HttpTransport> HttpTransport::create(const net::HttpClientSettings& settings) {
  SOTTO_TRY(auto client, net::HttpClient::create(settings));
  return HttpTransport(std::move(client));
}

Result<device::ServerAnswer> HttpTransport::send(const device::ServerCall& call) {
  net::HttpClient::Call request;
  request.method = call.method == "POST" ? net::HttpMethod::post : net::HttpMethod::get;
  request.path = call.path;
  request.body = call.body;
  for (const auto& [name, value] : call.headers) {
    if (name == "Content-Type")
      request.content_type = value;
    else
      request.headers.emplace_back(name, value);
  }
  // What is read may be large, and goes on where a connection broke off; what is sent is sent once.
  const bool is_read = request.method == net::HttpMethod::get;
  if (is_read) request.headers.emplace_back("Accept-Encoding", "zstd");
  SOTTO_TRY(net::HttpResponse response, is_read ? net::fetch(client_, request) : client_.send(request));
  if (!response.body.empty() && response.header("Content-Encoding") == "zstd") {
    SOTTO_TRY(response.body, net::decompress_zstd(response.body, most_body_bytes));
  }
  std::string come_back(response.header(rounds::come_back_header));
  return device::ServerAnswer{response.status, std::move(response.body), std::move(come_back)};
}

}  // namespace sotto::transport
