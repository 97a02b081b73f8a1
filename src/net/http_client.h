#pragma once
// A small synchronous HTTP/1.1 client, for devices and tests: one server, one connection that is kept open
// between calls, TLS with the server's certificate and name checked, limits on time and size.
//
// It sends nothing but what it is given: no cookies, no user agent, no session to recognise it by. It follows
// no redirects and repeats no request (fetch in http_fetch.h goes on with one that broke off); a kept
// connection that the server closed meanwhile is noticed before sending and opened again. Movable. One call
// at a time; cancel() alone may come from elsewhere.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "net/http_message.h"

namespace sotto::net {

struct HttpClientSettings {
  std::string url;       // http://host:port or https://host:port, and a path that all requests begin with
  fs::path authorities;  // PEM file of certificates to trust; empty: those of the system
  std::chrono::milliseconds connect_timeout{5'000};  // name lookup, connection and TLS
  // Then for sending and the answer, and the longer the more of it has come: a large one over a slow line is
  // not cut off as long as it keeps this rate.
  std::chrono::milliseconds timeout{30'000};
  double min_bytes_per_second = 4096;
  std::uint64_t max_header_bytes = 16 << 10;
  std::uint64_t max_body_bytes = std::uint64_t{256} << 20;
};

class HttpClient {
 public:
  static Result<HttpClient> create(const HttpClientSettings& settings);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  struct Call {
    HttpMethod method = HttpMethod::get;
    std::string path;  // percent-encoded, with the query if any
    HttpFields headers;
    std::string_view body;
    std::string_view content_type;
  };
  // What had come of an answer when its connection broke off: its head, and some of the bytes of its body.
  struct BrokenOff {
    HttpResponse so_far;
    std::uint64_t announced_bytes = 0;  // of the whole body; 0: nobody said
  };
  // Any status is an answer; an error means that there was none. `broken`, if given, is filled where the
  // connection ended behind the answer's head, and nothing but that was wrong.
  Result<HttpResponse> send(const Call& call, BrokenOff* broken = nullptr);
  Result<HttpResponse> get(std::string_view path, HttpFields headers = {});
  Result<HttpResponse> post(std::string_view path, std::string_view body, std::string_view content_type);
  // How long an answer of that size may take, after connecting.
  std::chrono::milliseconds time_for(std::uint64_t bytes) const;
  // From any thread: the call that is under way, and every further one, ends with an error.
  void cancel();

 private:
  struct State;
  explicit HttpClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sotto::net
