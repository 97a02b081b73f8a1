#include "net/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "net/http_text.h"

namespace sotto::net {

namespace {

bool is_name(std::string_view segment) { return segment.starts_with('{'); }

std::vector<std::string> split(std::string_view pattern) {
  const auto wrong = [&](std::string_view why) {
    return std::logic_error(fmt::format("the route \"{}\" {}", pattern, why));
  };
  if (!pattern.starts_with('/')) throw wrong("does not begin with /");
  std::vector<std::string> segments;
  std::string_view rest = pattern;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(segment.size());
    if (is_name(segment) && (segment.size() < 3 || !segment.ends_with('}')))
      throw wrong("has a broken {name}");
    segments.emplace_back(segment);
  }
  return segments;
}

// Would the same paths match?
bool same_paths(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const std::string& x, const std::string& y) {
    return x == y || (is_name(x) && is_name(y));
  });
}

// A fixed segment that comes earlier is the more special pattern.
bool more_special(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const std::string& x, const std::string& y) { return !is_name(x) && is_name(y); });
}

bool matches(const std::vector<std::string>& segments, std::string_view path) {
  for (const std::string& segment : segments) {
    if (!path.starts_with('/')) return false;
    path.remove_prefix(1);
    const std::string_view given = path.substr(0, path.find('/'));
    path.remove_prefix(given.size());
    if (is_name(segment) ? given.empty() : given != segment) return false;
  }
  return path.empty();
}

// False for a parameter that does not decode.
bool take_parameters(const std::vector<std::string>& segments, std::string_view path,
                     HttpFields& parameters) {
  for (const std::string& segment : segments) {
    path.remove_prefix(1);
    const std::string_view given = path.substr(0, path.find('/'));
    path.remove_prefix(given.size());
    if (!is_name(segment)) continue;
    auto decoded = percent_decode(given);
    if (!decoded) return false;
    parameters.emplace_back(segment.substr(1, segment.size() - 2), std::move(*decoded));
  }
  return true;
}

}  // namespace

void Router::add(HttpMethod method, std::string_view pattern, HttpHandler handler, std::uint64_t body_limit,
                 Credential credential) {
  Route route{method,     std::string(pattern), split(pattern), std::move(handler),
              body_limit, std::move(credential)};
  for (const Route& other : routes_) {
    if (other.method == method && same_paths(other.segments, route.segments)) {
      throw std::logic_error(
          fmt::format("the route \"{}\" matches the same paths as \"{}\"", pattern, other.pattern));
    }
  }
  const auto before = std::find_if(routes_.begin(), routes_.end(), [&](const Route& other) {
    return more_special(route.segments, other.segments);
  });
  routes_.insert(before, std::move(route));
}

void Router::add(HttpMethod method, std::string_view pattern,
                 std::function<HttpResponse(const HttpRequest&)> handler, std::uint64_t body_limit,
                 Credential credential) {
  add(method, pattern, HttpHandler([handler = std::move(handler)](HttpRequest&& request, HttpReply reply) {
        std::move(reply)(handler(request));
      }),
      body_limit, std::move(credential));
}

Router::Match Router::match(HttpMethod method, std::string_view path) const {
  const HttpMethod wanted = method == HttpMethod::head ? HttpMethod::get : method;
  Match match;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const Route& route = routes_[i];
    if (!matches(route.segments, path)) continue;
    if (route.method == wanted && take_parameters(route.segments, path, match.parameters)) {
      match.route = i;
      match.allowed.clear();
      return match;
    }
    match.parameters.clear();
    std::string words(name(route.method));
    if (route.method == HttpMethod::get) words += ", HEAD";
    if (match.allowed.find(words) == std::string::npos) {
      match.allowed += (match.allowed.empty() ? "" : ", ") + words;
    }
  }
  return match;
}

}  // namespace sotto::net
