#pragma once
// One HTTP/1.1 request while it arrives, without I/O: bytes in, and out comes a request that a route takes,
// or the answer that refuses it.
//
// Beast parses; what it is generous about is refused here, because two readers of one stream (this one and a
// proxy before it) must not see different requests in it: folded fields, bare line ends, a Host that is
// missing or said twice, any Transfer-Encoding but chunked, chunked beside a Content-Length. Head, chunk
// lines and trailers are bounded, and a body is charged to the connection's budget as it grows. Not
// thread-safe.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/memory_budget.h"
#include "net/router.h"

namespace sotto::net {

struct RequestLimits {
  std::size_t head_bytes = 16 << 10;
  std::size_t body_bytes = 16 << 20;
  std::size_t anonymous_body_bytes = 64 << 10;  // where the route asks for no credential
};

class RequestReader {
 public:
  static constexpr std::size_t most_fields = 128;
  static constexpr std::size_t chunk_line_bytes = 4 << 10;  // a chunk's size and extensions; all trailers

  RequestReader(const Router& router, const RequestLimits& limits, std::shared_ptr<ConnectionBudget> budget);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  enum class Step { more, head, complete, refused };
  // Takes what it can use from the front of `bytes`. `head` comes once, when the head is complete; then
  // admit() decides whether reading goes on. Bytes that are left with `more` must be offered again, with more
  // behind them; they are never more than the limits allow.
  Step take(std::string_view& bytes);
  // The route, its credential and the announced length: everything that can be refused without the body.
  Step admit();
  // Answers this instead of calling a handler.
  Step refuse(int status, std::string_view why);
  Step refuse(HttpResponse answer);

  HttpRequest request;               // the head after `head`, the body after `complete`
  std::optional<std::size_t> route;  // after admit()
  bool keep_alive() const;           // what the client wishes
  std::size_t body_received() const;
  // For requests that are refused, or complete without a route.
  HttpResponse answer_without_handler();
  // What the request holds; goes with it to the handler.
  HeldBytes take_held();

 private:
  Step take_head(std::string_view& bytes);
  Step take_body(std::string_view& bytes);
  Step check_fields();
  bool has_body() const;

  struct Parser;
  const Router& router_;
  const RequestLimits limits_;
  std::unique_ptr<Parser> parser_;
  std::size_t searched_ = 0;  // of the head, for its end
  std::string allowed_;       // methods of the path, when the route does not exist
  std::optional<HttpResponse> refusal_;
};

}  // namespace sotto::net
