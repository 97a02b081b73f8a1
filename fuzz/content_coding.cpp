// Any bytes as a compressed body of a server, as the fields by which a client chooses a form or a part of a
// body, as an address and as a list of proxies: bounded, and what is handed out is what was asked for.

#include "net/content_coding.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/address_limits.h"
#include "net/http_text.h"
#include "net/negotiation.h"
#include "net/published_body.h"

namespace {

using namespace sotto;

constexpr std::size_t limit = 64 << 10;

void ask_for_parts(std::string_view value) {
  static const net::PublishedBody body(std::string(3000, 'x') + "end", "tag", "text/plain", 3);
  for (const std::string_view field :
       {"Range", "If-Range", "If-None-Match", "Accept-Encoding", "Accept", "Content-Type"}) {
    net::HttpRequest request;
    request.headers.emplace_back(field, value);
    if (field == "If-Range") request.headers.emplace_back("Range", "bytes=1-2");
    const net::HttpResponse response = body.respond(request);
    const bool is_known =
        response.status == 200 || response.status == 206 || response.status == 304 || response.status == 416;
    if (!is_known || response.bytes().size() > body.bytes().size()) std::abort();
    if (response.status == 206 && body.bytes().find(response.bytes()) == std::string::npos) std::abort();
    if (net::error_text(net::error_response(request, 400, value)).empty()) std::abort();
    static_cast<void>(net::sent_form(request));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto plain = net::decompress_zstd(bytes, limit); plain && plain->size() > limit) std::abort();
  const auto packed = net::compress(net::ContentCoding::zstd, bytes, 1);
  if (packed && net::decompress_zstd(*packed, bytes.size()) != bytes) std::abort();
  if (net::is_header_value(bytes)) ask_for_parts(bytes);
  net::HttpResponse error;
  error.status = 500;
  error.content_type = net::flat_buffers_type;
  error.body = bytes;
  if (net::error_text(error).empty()) std::abort();
  if (const auto url = net::parse_url(bytes); url && url->host.empty()) std::abort();
  if (const auto proxies = net::TrustedProxies::parse(bytes)) {
    const net::PeerAddress peer = *net::parse_address("192.0.2.1");
    if (!proxies->contain(peer) && proxies->client_of(peer, bytes) != peer) std::abort();
  }
  return 0;
}
