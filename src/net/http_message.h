#pragma once
// One HTTP request and one response, as handlers and callers see them: plain values without any networking
// type.
//
// There is no peer address in a request, on purpose: nothing behind the server can log or store who asked.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto::net {

enum class HttpMethod : std::uint8_t { get, head, post, put, patch, remove, options };
std::string_view name(HttpMethod method);  // "GET", ..., "DELETE"

using HttpField = std::pair<std::string, std::string>;
using HttpFields = std::vector<HttpField>;

// The value of the first field of that name (any case), or an empty view.
std::string_view find_field(const HttpFields& fields, std::string_view name);

struct HttpRequest {
  HttpMethod method = HttpMethod::get;
  std::string path;   // as sent, percent-encoded, without the query
  std::string query;  // as sent, without the question mark
  HttpFields headers;
  HttpFields parameters;  // {names} of the route, decoded
  std::string body;

  std::string_view header(std::string_view name) const { return find_field(headers, name); }
  std::string_view parameter(std::string_view name) const { return find_field(parameters, name); }
};

class KeptBytes;

struct HttpResponse {
  int status = 200;
  std::string content_type;  // left out when empty
  HttpFields headers;        // further ones; the server writes lengths and connection fields itself
  std::string body;
  // Sent instead of `body` when set: large answers that many ask for are kept once. Of them this slice.
  std::shared_ptr<KeptBytes> shared_body;
  std::size_t slice_begin = 0, slice_size = std::string_view::npos;

  std::string_view header(std::string_view name) const { return find_field(headers, name); }
  std::string_view bytes() const;
};

std::string_view reason_phrase(int status);

// Where a handler puts its answer: now or later, from any thread, once. One that is destroyed unused answers
// 500. After the server gave up waiting (or stopped) an answer is dropped silently. Movable.
class HttpReply {
 public:
  class Slot {  // the server's end
   public:
    virtual ~Slot() = default;
    virtual void answer(HttpResponse response) = 0;
    virtual bool is_live() const { return true; }
  };

  explicit HttpReply(std::shared_ptr<Slot> slot) : slot_(std::move(slot)) {}
  HttpReply(HttpReply&&) noexcept = default;
  HttpReply& operator=(HttpReply&&) noexcept = delete;
  HttpReply(const HttpReply&) = delete;
  HttpReply& operator=(const HttpReply&) = delete;
  ~HttpReply();

  void operator()(HttpResponse response) &&;
  // Whether somebody may still read the answer, from any thread: false when the other side has closed the
  // connection, and when this was used. A peer that vanished without a word is live until the system notices.
  bool is_live() const { return slot_ && slot_->is_live(); }

 private:
  std::shared_ptr<Slot> slot_;
};

// Runs on a network thread: must not block. Long work goes to threads of its own and answers later.
using HttpHandler = std::function<void(HttpRequest&&, HttpReply)>;

}  // namespace sotto::net
