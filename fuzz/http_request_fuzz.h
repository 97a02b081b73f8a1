#pragma once
// A request read from bytes that come in pieces, and what must hold whatever they are.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "net/http_text.h"
#include "net/request_reader.h"

namespace sotto {

struct FuzzedRequest {
  static constexpr std::int64_t budget = 1 << 20;
  static constexpr std::size_t body_limit = 64 << 10;

  FuzzedRequest(const net::Router& router, std::string_view bytes, std::size_t piece)
      : process(std::make_shared<net::ProcessBudget>(budget)),
        reader(router, {4096, body_limit, body_limit},
               std::make_shared<net::ConnectionBudget>(process, budget)) {
    std::string buffer;
    while (true) {
      std::string_view unread = buffer;
      step = reader.take(unread);
      buffer.erase(0, buffer.size() - unread.size());
      if (step == net::RequestReader::Step::head) {
        check_head();
        step = reader.admit();
        if (step == net::RequestReader::Step::more) continue;
      }
      // What is kept until more comes is bounded.
      if (step == net::RequestReader::Step::more && buffer.size() > 4096) std::abort();
      if (step != net::RequestReader::Step::more || bytes.empty()) break;
      buffer += bytes.substr(0, piece);
      bytes.remove_prefix(std::min(piece, bytes.size()));
    }
    if (process->held() > budget || reader.request.body.size() > body_limit) std::abort();
    unused = buffer.size() + bytes.size();
    if (step == net::RequestReader::Step::refused) {
      const int status = reader.answer_without_handler().status;
      if (status < 400 || status > 599) std::abort();
    }
  }

  bool same_as(const FuzzedRequest& other) const {
    const net::HttpRequest& a = reader.request;
    const net::HttpRequest& b = other.reader.request;
    return step == other.step && (step != net::RequestReader::Step::complete ||
                                  (unused == other.unused && a.method == b.method && a.path == b.path &&
                                   a.query == b.query && a.headers == b.headers && a.body == b.body &&
                                   a.parameters == b.parameters && reader.route == other.reader.route));
  }

  std::shared_ptr<net::ProcessBudget> process;
  net::RequestReader reader;
  net::RequestReader::Step step = net::RequestReader::Step::more;
  std::size_t unused = 0;

 private:
  // One reading only: nothing in it that another reader of the same bytes could frame differently.
  void check_head() const {
    std::size_t hosts = 0;
    std::size_t lengths = 0;
    std::size_t codings = 0;
    for (const auto& [name, value] : reader.request.headers) {
      if (!net::is_header_name(name) ||
          value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
        std::abort();
      hosts += net::equal_ignoring_case(name, "Host") ? 1 : 0;
      lengths += net::equal_ignoring_case(name, "Content-Length") ? 1 : 0;
      if (!net::equal_ignoring_case(name, "Transfer-Encoding")) continue;
      ++codings;
      if (!net::equal_ignoring_case(value, "chunked")) std::abort();
    }
    if (hosts > 1 || lengths + codings > 1 || reader.request.headers.size() > net::RequestReader::most_fields)
      std::abort();
    if (!net::percent_decode(reader.request.path)) std::abort();
  }
};

inline net::Router fuzzed_routes() {
  const auto echo = [](const net::HttpRequest&) { return net::HttpResponse{}; };
  net::Router router;
  router.add(net::HttpMethod::get, "/v1/popular", echo);
  router.add(net::HttpMethod::get, "/v1/items/{id}", echo);
  router.add(net::HttpMethod::get, "/v1/{kind}/all", echo);
  router.add(net::HttpMethod::post, "/v1/recommend", echo);
  router.add(net::HttpMethod::put, "/v1/items", echo, FuzzedRequest::body_limit,
             [](const net::HttpRequest& head) -> std::optional<net::HttpResponse> {
               if (head.header("Authorization") == "Bearer secret") return std::nullopt;
               net::HttpResponse refused;
               refused.status = 401;
               return refused;
             });
  return router;
}

}  // namespace sotto
