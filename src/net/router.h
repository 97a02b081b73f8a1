#pragma once
// From method and path to a handler. Patterns are "/v1/items/{id}": a name in braces takes one non-empty
// segment. A fixed segment wins over a name. HEAD is answered by GET's handler.
//
// Filled before the server starts, then only read: safe to share between threads once filled. A pattern that
// is malformed or given twice is a mistake in the program and throws std::logic_error.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.h"

namespace sotto::net {

class Router {
 public:
  static constexpr std::uint64_t default_body_limit = std::uint64_t{64} << 10;
  // Looks at a request whose body is still unread: an answer refuses it, and the body never comes.
  using Credential = std::function<std::optional<HttpResponse>(const HttpRequest& head)>;

  // body_limit: bytes of a request body; the server's own limits hold as well, and a route without a
  // credential takes no more than anonymous bodies may have.
  void add(HttpMethod method, std::string_view pattern, HttpHandler handler,
           std::uint64_t body_limit = default_body_limit, Credential credential = {});
  // For handlers that answer at once.
  void add(HttpMethod method, std::string_view pattern,
           std::function<HttpResponse(const HttpRequest&)> handler,
           std::uint64_t body_limit = default_body_limit, Credential credential = {});

  struct Route {
    HttpMethod method = HttpMethod::get;
    std::string pattern;
    std::vector<std::string> segments;
    HttpHandler handler;
    std::uint64_t body_limit = default_body_limit;
    Credential credential;
  };
  const std::vector<Route>& routes() const { return routes_; }

  struct Match {
    std::optional<std::size_t> route;  // position in routes()
    HttpFields parameters;
    std::string allowed;  // without a route: the methods of this path ("GET, HEAD"), empty if there are none
  };
  Match match(HttpMethod method, std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace sotto::net
