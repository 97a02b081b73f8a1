#include "net/http_client.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/rfc2818_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffer_traits.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>
#include <optional>

#include "net/http_text.h"
#include "net/tls_context.h"

namespace sotto::net {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::awaitable;
using asio::ip::tcp;
using boost::system::error_code;
using TlsStream = asio::ssl::stream<beast::tcp_stream>;

constexpr std::size_t read_bytes = 64 << 10;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// A body that grows with what has come, and no further than is announced: Beast's own makes room for all that
// a server announces, before anybody has looked whether that may be.
struct ArrivingBody {
  using value_type = std::string;
  class reader {
   public:
    template <bool is_request, class Fields>
    reader(http::header<is_request, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>& announced, error_code&) {
      if (announced) most_ = static_cast<std::size_t>(*announced);
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, error_code&) {
      const std::size_t more = beast::buffer_bytes(buffers);
      make_room(body_.size() + more);
      for (const auto part : beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(part.data()), part.size());
      }
      return more;
    }
    void finish(error_code&) {}

   private:
    void make_room(std::size_t size) {
      if (size <= body_.capacity()) return;
      std::string larger;  // a string that has bytes would reserve twice what it has
      larger.reserve(std::max(size, std::min(2 * body_.capacity(), most_)));
      larger += body_;
      body_.swap(larger);
    }
    value_type& body_;
    std::size_t most_ = std::numeric_limits<std::size_t>::max();
  };
};
using Parser = http::response_parser<ArrivingBody>;

}  // namespace

struct HttpClient::State {
  HttpClientSettings settings;
  HttpUrl url;
  TlsContext tls;  // none: plain HTTP
  asio::io_context context{1};
  std::optional<beast::tcp_stream> plain;
  std::optional<TlsStream> secure;
  beast::flat_buffer buffer;
  std::atomic<bool> cancelled = false;

  beast::tcp_stream* connection() {
    if (secure) return &secure->next_layer();
    return plain ? &*plain : nullptr;
  }
  void disconnect() {
    plain.reset();
    secure.reset();
    buffer.clear();
  }

  // Runs one coroutine to its end on the caller's thread.
  Status run(awaitable<Status> work) {
    if (cancelled) return failed("the call to {} port {} was cancelled", url.host, url.port);
    Status status;
    asio::co_spawn(
        context,
        [&status, work = std::move(work)]() mutable -> awaitable<void> { status = co_await std::move(work); },
        asio::detached);
    context.restart();
    context.run();
    return status;
  }

  Error explain(std::string_view doing, const error_code& wrong) {
    std::string advice = wrong.message();
    if (wrong == beast::error::timeout) advice = "it took too long";
    if (wrong == asio::error::connection_refused) advice = "connection refused: is the server running there?";
    if (wrong == asio::error::host_not_found) advice = "there is no such host";
    if (wrong.category() == asio::error::get_ssl_category()) advice = explain_tls(wrong);
    if (wrong == asio::error::eof && !tls)
      advice = "it ended the connection without a word: if it speaks TLS, write https://";
    return explained(doing, advice);
  }
  Error explained(std::string_view doing, std::string_view advice) const {
    return Error{ErrorKind::failed, fmt::format("{} {} port {}: {}", doing, url.host, url.port, advice)};
  }

  std::string explain_tls(const error_code& wrong) {
    const auto reason = ERR_GET_REASON(static_cast<unsigned long>(wrong.value()));
    if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST)
      return "it does not speak TLS: write http:// if nobody can be on the way";
    if (reason != SSL_R_CERTIFICATE_VERIFY_FAILED) return fmt::format("TLS: {}", wrong.message());
    const long found = SSL_get_verify_result(secure->native_handle());
    // OpenSSL has no complaint of its own where it was we who found another name.
    const bool other_name = found == X509_V_OK || found == X509_V_ERR_UNSPECIFIED;
    return fmt::format(
        "TLS: its certificate is refused ({}). It must be valid, name this host and come from a trusted "
        "authority, or be given as one (authorities)",
        other_name ? "it does not name " + url.host : X509_verify_cert_error_string(found));
  }

  // The server may have closed a connection that was kept: then there is an end of stream to read.
  bool still_open() {
    beast::tcp_stream* stream = connection();
    if (stream == nullptr || !stream->socket().is_open() || buffer.size() > 0) return false;
    error_code wrong;
    char byte = 0;
    stream->socket().non_blocking(true, wrong);
    stream->socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, wrong);
    return wrong == asio::error::would_block;
  }

  awaitable<Status> connect() {
    error_code wrong;
    const auto token = [&wrong] { return asio::redirect_error(asio::use_awaitable, wrong); };
    tcp::resolver resolver(context);
    const auto endpoints = co_await resolver.async_resolve(url.host, std::to_string(url.port), token());
    if (wrong) co_return tl::unexpected(explain("cannot look up", wrong));
    if (tls) {
      secure.emplace(context, *tls);
    } else {
      plain.emplace(context);
    }
    connection()->expires_after(settings.connect_timeout);
    co_await connection()->async_connect(endpoints, token());
    if (wrong) co_return tl::unexpected(explain("cannot connect to", wrong));
    connection()->socket().set_option(tcp::no_delay(true), wrong);
    if (tls) {
      SSL_set_tlsext_host_name(secure->native_handle(), url.host.c_str());
      secure->set_verify_callback(asio::ssl::rfc2818_verification(url.host));
      co_await secure->async_handshake(asio::ssl::stream_base::client, token());
      // A server without TLS waits for the rest of what it takes for a request.
      if (wrong == beast::error::timeout)
        co_return tl::unexpected(
            explained("cannot agree with", "it took too long: if it does not speak TLS, write http://"));
      if (wrong) co_return tl::unexpected(explain("cannot agree with", wrong));
    }
    co_return Status{};
  }

  std::chrono::milliseconds time_for(std::uint64_t bytes) const {
    return settings.timeout + std::chrono::milliseconds(static_cast<std::int64_t>(
                                  1000 * static_cast<double>(bytes) / settings.min_bytes_per_second));
  }

  // Chunks cost a few bytes each. Without an end to all bytes together, whoever sends line after line would
  // be listened to for ever.
  std::uint64_t most_received() const {
    return 2 * settings.max_body_bytes + settings.max_header_bytes + read_bytes;
  }

  // broke_off: whether the connection ended too early, and nothing but that was wrong.
  template <class Stream>
  awaitable<Status> exchange(Stream& stream, std::string_view head, std::string_view body, Parser& parser,
                             bool& broke_off) {
    error_code wrong;
    const auto token = [&wrong] { return asio::redirect_error(asio::use_awaitable, wrong); };
    const std::array<asio::const_buffer, 2> parts{asio::buffer(head.data(), head.size()),
                                                  asio::buffer(body.data(), body.size())};
    const auto begun = std::chrono::steady_clock::now();
    std::size_t received = 0;
    connection()->expires_after(settings.timeout);
    co_await asio::async_write(stream, parts, token());
    // A server that refuses early answers and closes without reading on: read the answer all the same.
    const error_code send_error = wrong;
    while (!parser.is_done()) {
      wrong = {};
      connection()->expires_at(begun + time_for(received));
      const std::size_t read = co_await stream.async_read_some(buffer.prepare(read_bytes), token());
      buffer.commit(read);
      received += read;
      if (wrong == asio::error::eof && parser.got_some()) {
        wrong = {};
        parser.put_eof(wrong);
        if (!wrong && parser.is_done()) break;
      }
      if (wrong) {
        broke_off = wrong != beast::error::timeout && !cancelled;
        co_return tl::unexpected(explain("no answer from", send_error ? send_error : wrong));
      }
      while (buffer.size() > 0 && !parser.is_done()) {
        const std::size_t used = parser.put(buffer.data(), wrong);
        buffer.consume(used);
        // Beast forgets that it found the announced length too large when bytes of the body lie behind it.
        if (parser.is_header_done() && parser.content_length().value_or(0) > settings.max_body_bytes)
          wrong = http::error::body_limit;
        if (wrong == http::error::need_more || (!wrong && used == 0)) break;
        if (wrong == http::error::body_limit || wrong == http::error::header_limit) {
          co_return failed(
              "the answer of {} port {} is larger than the {} bytes allowed", url.host, url.port,
              wrong == http::error::body_limit ? settings.max_body_bytes : settings.max_header_bytes);
        }
        if (wrong) co_return failed("{} port {} does not answer in HTTP", url.host, url.port);
      }
      // What waits is the beginning of a chunk's line or of the trailers; neither counts as body.
      if (!parser.is_done() && (buffer.size() > settings.max_header_bytes || received > most_received()))
        co_return failed("the answer of {} port {} is larger around its body than the {} bytes allowed",
                         url.host, url.port, settings.max_header_bytes);
    }
    co_return Status{};
  }
};

Result<HttpClient> HttpClient::create(const HttpClientSettings& settings) {
  auto state = std::make_unique<State>();
  state->settings = settings;
  SOTTO_TRY(state->url, parse_url(settings.url));
  if (state->url.tls) {
    SOTTO_TRY(state->tls, make_client_tls(settings.authorities));
  }
  return HttpClient(std::move(state));
}

namespace {

HttpResponse to_response(http::response<ArrivingBody> message) {
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  for (const auto& field : message.base()) {
    response.headers.emplace_back(view(field.name_string()), view(field.value()));
  }
  response.content_type = response.header("Content-Type");
  response.body = std::move(message.body());
  return response;
}

}  // namespace

Result<HttpResponse> HttpClient::send(const Call& call, BrokenOff* broken) {
  State& state = *state_;
  const std::string target = state.url.path + call.path;
  if (!target.starts_with('/') || !is_header_value(target) ||
      target.find_first_of(" \t") != std::string::npos) {
    return bad_input("\"{}\" is no path: begin with / and escape everything unusual", call.path);
  }
  const bool v6 = state.url.host.find(':') != std::string::npos;
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: {}{}{}:{}\r\n", name(call.method), target,
                                 v6 ? "[" : "", state.url.host, v6 ? "]" : "", state.url.port);
  if (!call.content_type.empty()) head += fmt::format("Content-Type: {}\r\n", call.content_type);
  if (!call.body.empty() || call.method == HttpMethod::post || call.method == HttpMethod::put) {
    head += fmt::format("Content-Length: {}\r\n", call.body.size());
  }
  for (const auto& [field, value] : call.headers) {
    if (!is_header_name(field) || !is_header_value(value)) return bad_input("\"{}\" is no header", field);
    head += fmt::format("{}: {}\r\n", field, value);
  }
  head += "\r\n";

  if (!state.still_open()) {
    state.disconnect();
    if (auto connected = state.run(state.connect()); !connected) {
      state.disconnect();
      return tl::unexpected(std::move(connected).error());
    }
  }
  Parser parser;
  parser.eager(true);
  parser.header_limit(static_cast<std::uint32_t>(state.settings.max_header_bytes));
  parser.body_limit(state.settings.max_body_bytes);
  parser.skip(call.method == HttpMethod::head);
  bool broke_off = false;
  if (auto done = state.run(state.secure ? state.exchange(*state.secure, head, call.body, parser, broke_off)
                                         : state.exchange(*state.plain, head, call.body, parser, broke_off));
      !done) {
    state.disconnect();
    if (broken != nullptr && broke_off && parser.is_header_done()) {
      broken->announced_bytes = parser.content_length().value_or(0);
      broken->so_far = to_response(parser.release());
    }
    return tl::unexpected(std::move(done).error());
  }
  auto message = parser.release();
  if (!message.keep_alive()) state.disconnect();
  return to_response(std::move(message));
}

std::chrono::milliseconds HttpClient::time_for(std::uint64_t bytes) const { return state_->time_for(bytes); }

Result<HttpResponse> HttpClient::get(std::string_view path, HttpFields headers) {
  return send({.method = HttpMethod::get, .path = std::string(path), .headers = std::move(headers)});
}

Result<HttpResponse> HttpClient::post(std::string_view path, std::string_view body,
                                      std::string_view content_type) {
  return send(
      {.method = HttpMethod::post, .path = std::string(path), .body = body, .content_type = content_type});
}

void HttpClient::cancel() {
  state_->cancelled = true;
  // On the thread of the call, if there is one; otherwise the next call looks first.
  asio::post(state_->context, [state = state_.get()] {
    if (beast::tcp_stream* stream = state->connection()) stream->close();
  });
}

HttpClient::HttpClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

}  // namespace sotto::net
