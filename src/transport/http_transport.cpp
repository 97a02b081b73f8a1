#include "transport/http_transport.h"

#include "blind/guide.h"
#include "device/wire/pack_codec.h"
#include "net/content_coding.h"
#include "net/http_text.h"
#include "net/negotiation.h"
#include "net/published_body.h"

namespace sotto::transport {

namespace {

tl::unexpected<Error> refused(const net::HttpResponse& response) {
  return failed("the server answers {}: {}", response.status, net::error_text(response));
}

net::HttpFields wants_flatbuffers() { return {{"Accept", std::string(net::flat_buffers_type)}}; }

}  // namespace

Result<HttpTransport> HttpTransport::create(const net::HttpClientSettings& settings) {
  SOTTO_TRY(auto client, net::HttpClient::create(settings));
  return HttpTransport(std::move(client));
}

Result<device::Transport::Pack> HttpTransport::fetch_pack(std::string_view installed) {
  net::HttpFields headers = wants_flatbuffers();
  headers.emplace_back("Accept-Encoding", "zstd");
  std::string path = "/v1/pack";
  if (!installed.empty()) {
    headers.emplace_back("If-None-Match", net::quote_etag(installed));
    path += "?from=" + net::percent_encode(installed);
  }
  SOTTO_TRY(net::HttpResponse response, client_.get(path, std::move(headers)));
  if (response.status == 304) return Pack{Pack::Form::unchanged, {}};
  if (response.status != 200) return refused(response);
  if (response.header("Content-Encoding") == "zstd") {
    SOTTO_TRY(response.body, net::decompress_zstd(response.body, device::max_pack_bytes));
  }
  const bool is_delta = !response.header("Sotto-Delta-From").empty();
  return Pack{is_delta ? Pack::Form::delta : Pack::Form::whole, std::move(response.body)};
}

Result<std::string> HttpTransport::recommend(std::string_view body) { return post("/v1/recommend", body); }
Result<std::string> HttpTransport::ask_blind(std::string_view body) { return post("/v1/blind", body); }

Result<std::string> HttpTransport::fetch_guide(std::string_view version) {
  net::HttpFields headers = wants_flatbuffers();
  headers.emplace_back("Accept-Encoding", "zstd");
  SOTTO_TRY(net::HttpResponse response,
            client_.get("/v1/blind/" + net::percent_encode(version), std::move(headers)));
  if (response.status != 200) return refused(response);
  if (response.header("Content-Encoding") == "zstd")
    return net::decompress_zstd(response.body, blind::max_guide_bytes);
  return std::move(response.body);
}

Result<std::string> HttpTransport::post(std::string_view path, std::string_view body) {
  SOTTO_TRY(net::HttpResponse response, client_.send({.method = net::HttpMethod::post,
                                                      .path = std::string(path),
                                                      .headers = wants_flatbuffers(),
                                                      .body = body,
                                                      .content_type = net::flat_buffers_type}));
  if (response.status != 200) return refused(response);
  return std::move(response.body);
}

}  // namespace sotto::transport
