#pragma once
// A request while it arrives: the parser, what its head says, and why it is refused if it is. Private to
// http_session.cpp, which alone should pay for Beast's parser.

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "net/http_text.h"
#include "net/negotiation.h"
#include "net/server_shared.h"

namespace sotto {

struct IncomingRequest {
  boost::beast::http::request_parser<boost::beast::http::string_body> parser;
  std::optional<std::size_t> route;
  HttpRequest request;
  std::string allowed;  // methods of the path, when the route does not exist
  int refusal = 0;      // the status to answer with instead of calling a handler
  std::string why;

  explicit IncomingRequest(const HttpServerSettings& settings) {
    parser.header_limit(static_cast<std::uint32_t>(settings.max_header_bytes));
    parser.body_limit(static_cast<std::uint64_t>(settings.max_body_bytes));
  }

  // False, so that callers can return it.
  bool refuse(int status, std::string_view reason) {
    refusal = status;
    why = reason;
    return false;
  }

  bool refuse_malformed(const boost::system::error_code& wrong) {
    namespace http = boost::beast::http;
    if (wrong == http::error::header_limit || wrong == http::error::buffer_overflow) {
      return refuse(431, "the request head is too large");
    }
    if (wrong == http::error::body_limit) return refuse(413, "the request body is too large");
    if (wrong == http::error::bad_version) return refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    return refuse(400, "this is not an HTTP request");
  }

  // The head is there: may this request go on? Chooses the route.
  bool admit(ServerShared& shared, const AddressLimits::Address& address) {
    for (const auto& field : parser.get().base()) {
      request.headers.emplace_back(view(field.name_string()), view(field.value()));
    }
    if (!shared.addresses.request(address, AddressLimits::Clock::now())) {
      return refuse(429, "too many requests from this address: wait a moment");
    }
    const auto method = method_of(parser.get().method());
    if (!method) return refuse(501, "this method is not known here");
    request.method = *method;
    split_target(view(parser.get().target()));
    if (!percent_decode(request.path)) return refuse(400, "the path has a broken % escape");
    Router::Match match = shared.router.match(*method, request.path);
    route = match.route;
    allowed = std::move(match.allowed);
    request.parameters = std::move(match.parameters);
    const auto limit =
        std::min(static_cast<std::uint64_t>(shared.settings.max_body_bytes),
                 route ? shared.router.routes()[*route].body_limit : Router::default_body_limit);
    parser.body_limit(limit);
    if (const auto length = parser.content_length(); length && *length > limit) {
      return refuse(413,
                    fmt::format("the request body is too large: at most {} bytes are taken here", limit));
    }
    return true;
  }

  // For requests that are refused or that no route takes.
  HttpResponse answer_without_handler() const {
    HttpResponse response;
    if (refusal != 0) {
      response = error_response(request, refusal, why);
      if (refusal == 429) response.headers.emplace_back("Retry-After", "1");
    } else if (allowed.empty()) {
      response = error_response(request, 404, "there is nothing at this path");
    } else {
      if (request.method == HttpMethod::options) {
        response.status = 204;
      } else {
        response = error_response(request, 405, "this path takes only " + allowed);
      }
      response.headers.emplace_back("Allow", allowed);
    }
    return response;
  }

 private:
  static std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

  // "/path?query", also behind a scheme and a host.
  void split_target(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
      if (!target.starts_with(scheme)) continue;
      const std::size_t slash = target.find('/', scheme.size());
      target = slash == std::string_view::npos ? "/" : target.substr(slash);
    }
    const std::size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    if (mark != std::string_view::npos) request.query = target.substr(mark + 1);
  }

  static std::optional<HttpMethod> method_of(boost::beast::http::verb given) {
    using boost::beast::http::verb;
    switch (given) {
      case verb::get:
        return HttpMethod::get;
      case verb::head:
        return HttpMethod::head;
      case verb::post:
        return HttpMethod::post;
      case verb::put:
        return HttpMethod::put;
      case verb::patch:
        return HttpMethod::patch;
      case verb::delete_:
        return HttpMethod::remove;
      case verb::options:
        return HttpMethod::options;
      default:
        return std::nullopt;
    }
  }
};

}  // namespace sotto
