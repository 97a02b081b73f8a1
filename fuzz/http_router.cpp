// Any bytes as a path and a query: the router finds what the pattern says, and every value decodes.

#include <cstdint>
#include <cstdlib>

#include "http_request_fuzz.h"

namespace {

void check_match(const sotto::net::Router& router, sotto::net::HttpMethod method, std::string_view path) {
  const auto match = router.match(method, path);
  if (!match.route) {
    if (!match.parameters.empty()) std::abort();
    return;
  }
  const auto& route = router.routes()[*match.route];
  std::string rebuilt;
  auto parameter = match.parameters.begin();
  for (const std::string& segment : route.segments) {
    rebuilt += '/';
    if (!segment.starts_with('{')) {
      rebuilt += segment;
    } else {
      if (parameter == match.parameters.end() || parameter->second.empty()) std::abort();
      rebuilt += sotto::net::percent_encode((parameter++)->second);
    }
  }
  // The same path, up to how its values were escaped.
  if (parameter != match.parameters.end() ||
      sotto::net::percent_decode(rebuilt) != sotto::net::percent_decode(path)) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sotto::net::Router router = sotto::fuzzed_routes();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view path = bytes.substr(0, bytes.find('?'));
  const std::string_view query = bytes.substr(std::min(size, path.size() + 1));
  if (path.find('\0') != std::string_view::npos) return 0;  // no head has one
  for (const auto method :
       {sotto::net::HttpMethod::get, sotto::net::HttpMethod::head, sotto::net::HttpMethod::put}) {
    check_match(router, method, path);
  }
  if (router.match(sotto::net::HttpMethod::get, path).route !=
      router.match(sotto::net::HttpMethod::head, path).route) {
    std::abort();
  }
  const auto value = sotto::net::query_value(query, "count");
  if (value && sotto::net::percent_decode(sotto::net::percent_encode(*value)) != *value &&
      value->find('\0') == std::string::npos) {
    std::abort();
  }
  return 0;
}
