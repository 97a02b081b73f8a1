// Any bytes as a chunked body: refused, unfinished, or what a plain reader of chunks finds in them.

#include <charconv>
#include <optional>

#include "http_request_fuzz.h"

namespace {

std::optional<std::string> plain_reading(std::string_view bytes) {
  std::string body;
  while (true) {
    std::size_t size = 0;
    const auto [end, wrong] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), size, 16);
    if (wrong != std::errc{}) return std::nullopt;
    const std::size_t line = bytes.find("\r\n", static_cast<std::size_t>(end - bytes.data()));
    if (line == std::string_view::npos) return std::nullopt;
    bytes.remove_prefix(line + 2);
    if (size == 0) return body;
    if (bytes.size() < size + 2 || bytes.substr(size, 2) != "\r\n") return std::nullopt;
    body += bytes.substr(0, size);
    bytes.remove_prefix(size + 2);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sotto::net::Router router = sotto::fuzzed_routes();
  if (size == 0) return 0;
  const std::string_view chunks(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string request =
      "POST /v1/recommend HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(chunks);
  const sotto::FuzzedRequest whole(router, request, request.size());
  const sotto::FuzzedRequest pieces(router, request, 1 + data[0]);
  if (!whole.same_as(pieces)) std::abort();
  if (whole.step == sotto::net::RequestReader::Step::complete &&
      plain_reading(chunks) != whole.reader.request.body) {
    std::abort();
  }
  return 0;
}
