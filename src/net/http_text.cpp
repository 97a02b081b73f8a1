#include "net/http_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <iterator>

namespace sotto::net {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z'); }

// The Date field, written once per second and thread.
const std::string& date_now() {
  thread_local std::time_t written_at = -1;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now != written_at) {
    static constexpr std::string_view days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::string_view months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm utc{};
    gmtime_r(&now, &utc);
    text = fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", days[utc.tm_wday], utc.tm_mday,
                       months[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
    written_at = now;
  }
  return text;
}

// Fields that the server alone decides about.
bool is_framing(std::string_view name) {
  for (const std::string_view own : {"content-length", "transfer-encoding", "connection", "date"}) {
    if (equal_ignoring_case(name, own)) return true;
  }
  return false;
}

void append_field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim_spaces(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> list_elements(std::string_view list) {
  std::vector<std::string_view> elements;
  while (!list.empty()) {
    const std::string_view element = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), element.size() + 1));
    if (const std::string_view trimmed = trim_spaces(element); !trimmed.empty()) elements.push_back(trimmed);
  }
  return elements;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    decoded += c;
  }
  return decoded;
}

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded += c;
    } else {
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (percent_decode(pair.substr(0, equals)) != name) continue;
    return percent_decode(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1));
  }
  return std::nullopt;
}

Result<std::uint64_t> query_number(std::string_view query, std::string_view name) {
  const auto text = query_value(query, name);
  std::uint64_t number = 0;
  if (!text) return bad_input("?{}=NUMBER is missing", name);
  const auto [end, wrong] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (wrong != std::errc() || end != text->data() + text->size())
    return bad_input("?{}= is not a whole number", name);
  return number;
}

bool is_header_name(std::string_view name) {
  static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return is_alphanumeric(c) || marks.find(c) != std::string_view::npos;
  });
}

bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

Result<HttpUrl> parse_url(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return bad_input("\"{}\" {}: write it as http://host:port or https://host:port", text, why);
  };
  HttpUrl url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    url.tls = true;
    url.port = 443;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return refuse("begins with neither http:// nor https://");
  }
  if (!is_header_value(rest) || rest.find_first_of("?#@ \t\\") != std::string_view::npos) {
    return refuse("holds a user name, query, fragment or space");
  }
  std::string_view authority = rest.substr(0, rest.find('/'));
  url.path = rest.substr(authority.size());
  while (url.path.ends_with('/')) url.path.pop_back();
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return refuse("has no closing bracket");
    url.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    if (!port.empty() && port.front() != ':') return refuse("has something between host and port");
  } else {
    const std::size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) port = authority.substr(colon);
  }
  if (url.host.empty()) return refuse("names no host");
  if (!port.empty()) {
    port.remove_prefix(1);
    const auto [end, wrong] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (wrong != std::errc{} || end != port.data() + port.size() || url.port == 0) {
      return refuse("has no port between 1 and 65535");
    }
  }
  return url;
}

std::string render_head(const HttpResponse& response, bool keep_alive) {
  std::string head;
  head.reserve(256);
  fmt::format_to(std::back_inserter(head), "HTTP/1.1 {} {}\r\n", response.status,
                 reason_phrase(response.status));
  append_field(head, "Date", date_now());
  if (!response.content_type.empty() && is_header_value(response.content_type)) {
    append_field(head, "Content-Type", response.content_type);
  }
  for (const auto& [name, value] : response.headers) {
    if (is_header_name(name) && is_header_value(value) && !is_framing(name)) append_field(head, name, value);
  }
  if (response.status != 204 && response.status != 304) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", response.bytes().size());
  }
  if (!keep_alive) append_field(head, "Connection", "close");
  head += "\r\n";
  return head;
}

}  // namespace sotto::net
