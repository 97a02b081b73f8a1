#include "net/request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/buffer_traits.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>

#include "net/http_text.h"
#include "net/negotiation.h"

namespace sotto::net {

namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using Step = RequestReader::Step;

constexpr std::size_t field_bytes = 256;
constexpr std::string_view no_room = "the server holds as much as it can: try again later";

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// A body that grows with what has arrived, not with what is announced, and asks the budget before it grows.
struct ChargedBody {
  struct value_type {
    std::string bytes;
    HeldBytes held;
    std::int64_t head_bytes = 0;
    std::size_t most = 0;  // as announced, or allowed
  };
  class reader {
   public:
    template <bool is_request, class Fields>
    reader(http::header<is_request, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, error_code&) {}
    template <class Buffers>
    std::size_t put(const Buffers& buffers, error_code& wrong) {
      const std::size_t more = boost::beast::buffer_bytes(buffers);
      if (!make_room(body_.bytes.size() + more)) {
        wrong = make_error_code(boost::system::errc::not_enough_memory);
        return 0;
      }
      for (const auto part : boost::beast::buffers_range_ref(buffers)) {
        body_.bytes.append(static_cast<const char*>(part.data()), part.size());
      }
      return more;
    }
    void finish(error_code&) {}

   private:
    bool make_room(std::size_t size) {
      const std::size_t now = body_.bytes.capacity();
      if (size <= now) return true;
      const std::size_t next = std::max(size, std::min(2 * now, body_.most));
      // While it moves, the old bytes are there too.
      if (!body_.held.hold(body_.head_bytes + static_cast<std::int64_t>(now + next))) return false;
      std::string larger;  // a string that has bytes would reserve twice what it has
      larger.reserve(next);
      larger += body_.bytes;
      body_.bytes.swap(larger);
      return body_.held.hold(body_.head_bytes + static_cast<std::int64_t>(body_.bytes.capacity()));
    }
    value_type& body_;
  };
};

// 0, or the status that refuses the head: what Beast would let pass.
int check_lines(std::string_view head) {
  std::size_t lines = 0;
  for (std::size_t at = 0; at < head.size(); ++at) {
    const char c = head[at];
    if (c == '\0') return 400;
    if (c == '\n') return 400;  // without its carriage return: those are passed below
    if (c != '\r') continue;
    if (at + 1 >= head.size() || head[at + 1] != '\n') return 400;
    ++at;
    if (++lines > RequestReader::most_fields + 2) return 431;
    if (at + 1 < head.size() && (head[at + 1] == ' ' || head[at + 1] == '\t')) return 400;
  }
  return 0;
}

// A chunk's line is there and Beast still waits: for the end of a quoted extension, which it would look for
// behind the line, counting the chunk against the limit every time it looks again. The line of the last chunk
// rightly waits for the trailers.
bool has_unfinished_extension(std::string_view waiting) {
  if (waiting.starts_with("\r\n")) waiting.remove_prefix(2);  // of the chunk before
  if (waiting.find("\r\n") == std::string_view::npos) return false;
  const std::string_view size = waiting.substr(0, waiting.find_first_not_of("0123456789abcdefABCDEF"));
  return size.find_first_not_of('0') != std::string_view::npos;
}

bool is_host(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return alphanumeric || std::string_view("-._~!$&'()*+;=:[]%").find(c) != std::string_view::npos;
  });
}

std::optional<HttpMethod> method_of(http::verb given) {
  switch (given) {
    case http::verb::get:
      return HttpMethod::get;
    case http::verb::head:
      return HttpMethod::head;
    case http::verb::post:
      return HttpMethod::post;
    case http::verb::put:
      return HttpMethod::put;
    case http::verb::patch:
      return HttpMethod::patch;
    case http::verb::delete_:
      return HttpMethod::remove;
    case http::verb::options:
      return HttpMethod::options;
    default:
      return std::nullopt;
  }
}

// "/path?query", also behind a scheme and a host.
void split_target(std::string_view target, HttpRequest& request) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find('/', scheme.size());
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
    break;
  }
  const std::size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string_view::npos) request.query = target.substr(mark + 1);
}

}  // namespace

struct RequestReader::Parser : http::request_parser<ChargedBody> {};

RequestReader::RequestReader(const Router& router, const RequestLimits& limits,
                             std::shared_ptr<ConnectionBudget> budget)
    : router_(router), limits_(limits), parser_(std::make_unique<Parser>()) {
  parser_->header_limit(static_cast<std::uint32_t>(limits.head_bytes));
  parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // until the route is known
  parser_->get().body().held = HeldBytes(std::move(budget));
}
RequestReader::~RequestReader() = default;

Step RequestReader::refuse(int status, std::string_view why) {
  HttpResponse answer = error_response(request, status, why);
  if (status == 429 || status == 503) answer.headers.emplace_back("Retry-After", "1");
  return refuse(std::move(answer));
}

Step RequestReader::refuse(HttpResponse answer) {
  refusal_ = std::move(answer);
  return Step::refused;
}

Step RequestReader::take(std::string_view& bytes) {
  if (refusal_) return Step::refused;
  return parser_->is_header_done() ? take_body(bytes) : take_head(bytes);
}

Step RequestReader::take_head(std::string_view& bytes) {
  constexpr std::string_view end = "\r\n\r\n";
  const std::size_t found = bytes.find(end, searched_ < end.size() ? 0 : searched_ - end.size());
  const bool complete = found != std::string_view::npos;
  const std::size_t size = complete ? found + end.size() : bytes.size();
  if (size > limits_.head_bytes) return refuse(431, "the request head is too large");
  searched_ = size;
  if (!complete) return Step::more;
  const std::string_view head = bytes.substr(0, size);
  if (const int status = check_lines(head); status != 0) {
    return refuse(status, status == 431
                              ? fmt::format("a request head has at most {} fields", most_fields)
                              : "this is not an HTTP request: a line of its head is folded or ends wrongly");
  }
  // The parser's fields, and the copy that handlers see: in bytes, and in what the parser and the allocator
  // add to each of them.
  const auto lines = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n'));
  auto& body = parser_->get().body();
  body.head_bytes = static_cast<std::int64_t>(3 * size + lines * field_bytes);
  if (!body.held.hold(body.head_bytes)) return refuse(503, no_room);
  error_code wrong;
  parser_->eager(false);
  parser_->put(boost::asio::buffer(head.data(), head.size()), wrong);
  if (wrong == http::error::bad_version) return refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
  if (wrong == http::error::header_limit) return refuse(431, "the request head is too large");
  if (wrong || !parser_->is_header_done()) return refuse(400, "this is not an HTTP request");
  bytes.remove_prefix(size);
  parser_->eager(true);
  request.headers.reserve(lines);
  for (const auto& field : parser_->get().base()) {
    request.headers.emplace_back(view(field.name_string()), view(field.value()));
  }
  return check_fields();
}

Step RequestReader::check_fields() {
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  std::size_t codings = 0;
  for (const auto& [field, value] : request.headers) {
    if (equal_ignoring_case(field, "Host")) {
      if (++hosts > 1 || !is_host(value)) return refuse(400, "a request names its Host once");
    } else if (equal_ignoring_case(field, "Content-Length")) {
      const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
      if (++lengths > 1 || !digits) return refuse(400, "Content-Length is one number, said once");
    } else if (equal_ignoring_case(field, "Transfer-Encoding")) {
      if (++codings > 1 || !equal_ignoring_case(value, "chunked")) {
        return refuse(400, "the only Transfer-Encoding taken here is chunked, said once");
      }
    }
  }
  const unsigned version = parser_->get().version();
  if (version >= 11 && hosts == 0) return refuse(400, "a request names its Host");
  if (codings > 0 && (lengths > 0 || version < 11)) {
    return refuse(400, "chunked goes with HTTP/1.1 and without Content-Length");
  }
  const auto method = method_of(parser_->get().method());
  if (!method) return refuse(501, "this method is not known here");
  request.method = *method;
  split_target(view(parser_->get().target()), request);
  if (!percent_decode(request.path)) return refuse(400, "the path has a broken % escape");
  return Step::head;
}

bool RequestReader::has_body() const {
  return parser_->chunked() || parser_->content_length().value_or(0) > 0;
}

Step RequestReader::admit() {
  Router::Match match = router_.match(request.method, request.path);
  route = match.route;
  allowed_ = std::move(match.allowed);
  request.parameters = std::move(match.parameters);
  if (!route) return has_body() ? refuse(answer_without_handler()) : Step::more;
  const Router::Route& chosen = router_.routes()[*route];
  std::size_t limit = std::min(limits_.body_bytes, static_cast<std::size_t>(chosen.body_limit));
  if (chosen.credential) {
    if (auto refused = chosen.credential(request)) return refuse(std::move(*refused));
  } else {
    limit = std::min(limit, limits_.anonymous_body_bytes);
  }
  parser_->body_limit(limit);
  const std::uint64_t length = parser_->content_length().value_or(limit);
  if (length > limit) {
    return refuse(413, fmt::format("the request body is too large: at most {} bytes are taken here", limit));
  }
  parser_->get().body().most = static_cast<std::size_t>(length);
  return Step::more;
}

Step RequestReader::take_body(std::string_view& bytes) {
  while (!parser_->is_done() && !bytes.empty()) {
    error_code wrong;
    const std::size_t used = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), wrong);
    bytes.remove_prefix(used);
    if (wrong == http::error::need_more) {
      if (has_unfinished_extension(bytes)) return refuse(400, "the chunks of this body are broken");
      // What is left is the beginning of a chunk's line, or of the trailers.
      if (bytes.size() <= chunk_line_bytes) return Step::more;
      return refuse(400,
                    fmt::format("chunk extensions and trailers have at most {} bytes", chunk_line_bytes));
    }
    if (wrong == http::error::body_limit) return refuse(413, "the request body is too large");
    if (wrong == boost::system::errc::not_enough_memory) return refuse(503, no_room);
    if (wrong) return refuse(400, "the chunks of this body are broken");
    if (used == 0) return Step::more;
  }
  if (!parser_->is_done()) return Step::more;
  request.body = std::move(parser_->get().body().bytes);
  return Step::complete;
}

bool RequestReader::keep_alive() const { return parser_->get().keep_alive(); }

std::size_t RequestReader::body_received() const { return parser_->get().body().bytes.size(); }

HeldBytes RequestReader::take_held() { return std::move(parser_->get().body().held); }

HttpResponse RequestReader::answer_without_handler() {
  if (refusal_) return std::move(*refusal_);
  HttpResponse response;
  if (allowed_.empty()) return error_response(request, 404, "there is nothing at this path");
  if (request.method == HttpMethod::options) {
    response.status = 204;
  } else {
    response = error_response(request, 405, "this path takes only " + allowed_);
  }
  response.headers.emplace_back("Allow", allowed_);
  return response;
}

}  // namespace sotto::net
