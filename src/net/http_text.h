#pragma once
// The text side of HTTP/1.1 that both ends share: names, addresses, percent-encoding, response heads.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_message.h"

namespace sotto::net {

bool equal_ignoring_case(std::string_view a, std::string_view b);  // ASCII
std::string_view trim_spaces(std::string_view text);               // spaces and tabs
std::vector<std::string_view> list_elements(
    std::string_view list);  // of "a, b", trimmed, empty ones left out

// Nothing for a broken escape or an encoded NUL. '+' stays '+'.
std::optional<std::string> percent_decode(std::string_view text);
// Everything but unreserved characters escaped: safe as one path segment or one query value.
std::string percent_encode(std::string_view text);
// The decoded value of name=value in a query; nothing if it is absent or broken.
std::optional<std::string> query_value(std::string_view query, std::string_view name);
// Of name=NUMBER; refused when it is absent or no whole number.
Result<std::uint64_t> query_number(std::string_view query, std::string_view name);

// May this stand in a header? Tokens for names; no control characters in values.
bool is_header_name(std::string_view name);
bool is_header_value(std::string_view value);

struct HttpUrl {
  bool tls = false;
  std::string host;  // without brackets
  std::uint16_t port = 80;
  std::string path;  // what follows the authority, without a trailing slash; may be empty
};
// http://host[:port][/path] or https://...; no user names, queries or fragments.
Result<HttpUrl> parse_url(std::string_view url);

// Status line and fields up to the empty line. Fields that are not valid HTTP are left out: a handler's
// mistake must not split the response.
std::string render_head(const HttpResponse& response, bool keep_alive);

}  // namespace sotto::net
