#include "net/http_session.h"

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <type_traits>

#include "base/log.h"
#include "net/incoming_request.h"
#include "net/waiting_reply.h"

namespace sotto {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::awaitable;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using asio::ip::tcp;
using TlsStream = asio::ssl::stream<tcp::socket>;

constexpr std::size_t kFirstReadBytes = 2 << 10;  // what an idle connection holds
constexpr std::size_t kReadBytes = 16 << 10;
constexpr std::size_t kJoinedBytes = 16 << 10;  // smaller bodies travel in one write with their head
constexpr std::size_t kLingerBytes = 4 << 20;
constexpr double kLingerSeconds = 2;

Clock::duration seconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
}

template <class Stream>
class Session final : public HttpSession, public std::enable_shared_from_this<Session<Stream>> {
 public:
  template <class... Args>
  Session(ServerShared& shared, SessionSet& sessions, const AddressLimits::Address& address, Args&&... stream)
      : shared_(shared),
        sessions_(sessions),
        address_(address),
        stream_(std::forward<Args>(stream)...),
        watchdog_(stream_.get_executor()),
        answer_timer_(stream_.get_executor()) {}
  ~Session() override { shared_.close(address_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  auto executor() { return stream_.get_executor(); }

  awaitable<void> run(std::shared_ptr<Session> self) {
    const Running running(*self);
    allow(shared_.settings.read_seconds);
    watch();
    if (co_await handshake()) {
      bool more = true;
      while (more) more = co_await one_request();
    }
    co_await finish();
  }

  void drain() override {
    if (idle_) cancel();
  }
  void cut() override {
    cut_ = true;
    error_code ignored;
    socket().close(ignored);
    answer_timer_.cancel();
  }

 private:
  static constexpr bool is_tls = std::is_same_v<Stream, TlsStream>;

  // In the set of sessions as long as the coroutine runs, however it ends.
  struct Running {
    explicit Running(Session& session) : running(session) { running.sessions_.insert(&running); }
    ~Running() {
      running.ended_ = true;
      running.watchdog_.cancel();
      running.sessions_.erase(&running);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    Session& running;
  };

  tcp::socket& socket() {
    if constexpr (is_tls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }
  void cancel() {
    error_code ignored;
    socket().cancel(ignored);
  }

  // What is waited for from now on may take this long; then it is cancelled, and the connection still works.
  void allow(double time) {
    timed_out_ = false;
    deadline_ = Clock::now() + seconds(time);
    if (deadline_ < watching_until_) watchdog_.cancel();
  }
  // One timer for all waits of a connection. It is set again only when it runs out, or when an earlier end
  // comes: not for every operation.
  void watch() {
    watching_until_ = deadline_;
    watchdog_.expires_at(deadline_);
    watchdog_.async_wait([self = this->shared_from_this()](const error_code&) {
      if (self->ended_) return;
      if (Clock::now() >= self->deadline_) {
        self->timed_out_ = true;
        self->cancel();
        self->deadline_ = Clock::time_point::max();
      }
      self->watch();
    });
  }

  awaitable<bool> handshake() {
    if constexpr (is_tls) {
      error_code wrong;
      co_await stream_.async_handshake(asio::ssl::stream_base::server,
                                       asio::redirect_error(asio::use_awaitable, wrong));
      co_return !wrong;
    }
    co_return true;
  }

  // Reads once. False at the end of the stream, after a timeout or when cut.
  awaitable<bool> read_more(error_code& wrong, std::size_t most = kReadBytes) {
    const std::size_t read = co_await stream_.async_read_some(
        buffer_.prepare(most), asio::redirect_error(asio::use_awaitable, wrong));
    buffer_.commit(read);
    shared_.metrics.bytes_in.add(read);
    co_return !wrong;
  }

  // Waits for the first byte of a request. Closing here is no loss to anybody.
  awaitable<bool> wait_for_request() {
    if (buffer_.size() > 0) co_return true;
    if (shared_.draining) co_return false;
    allow(shared_.settings.idle_seconds);
    if (buffer_.capacity() > kReadBytes) buffer_.shrink_to_fit();
    error_code wrong;
    idle_ = true;
    const bool come = co_await read_more(wrong, kFirstReadBytes);
    idle_ = false;
    co_return come;
  }

  // Feeds the parser until `done()`.
  template <class Done>
  awaitable<bool> parse_until(IncomingRequest& incoming, Done done) {
    allow(shared_.settings.read_seconds);
    while (!done()) {
      error_code wrong;
      if (buffer_.size() > 0) {
        buffer_.consume(incoming.parser.put(buffer_.data(), wrong));
        if (done()) break;
      }
      if (wrong && wrong != http::error::need_more) {
        co_return incoming.refuse_malformed(wrong);
      }
      wrong = {};
      if (co_await read_more(wrong)) continue;
      if (timed_out_) {
        incoming.refuse(408, "the request did not arrive in time");
      } else if (wrong == asio::error::eof) {
        incoming.refuse(400, "the request ends too early");
      } else {
        cut_ = true;
      }
      co_return false;
    }
    co_return true;
  }

  // False: incoming.refusal says why, or nobody is there any more.
  awaitable<bool> read_request(IncomingRequest& incoming) {
    incoming.parser.eager(false);
    if (!co_await parse_until(incoming, [&] { return incoming.parser.is_header_done(); })) co_return false;
    if (!incoming.admit(shared_, address_)) co_return false;
    if (equal_ignoring_case(incoming.request.header("Expect"), "100-continue")) {
      if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n", {})) co_return false;
    }
    incoming.parser.eager(true);
    if (!co_await parse_until(incoming, [&] { return incoming.parser.is_done(); })) co_return false;
    incoming.request.body = std::move(incoming.parser.get().body());
    co_return true;
  }

  awaitable<HttpResponse> call_handler(IncomingRequest& incoming) {
    const Router::Route& route = shared_.router.routes()[*incoming.route];
    const BodyForm form = wanted_form(incoming.request);
    auto slot = std::make_shared<WaitingReply>([self = this->shared_from_this()] {
      asio::post(self->executor(), [self] { self->answer_timer_.cancel(); });
    });
    try {
      route.handler(std::move(incoming.request), HttpReply(slot));
    } catch (...) {
      // What it says may hold parts of the request.
      error("a handler of {} {} threw an exception", name(route.method), route.pattern);
    }
    const auto deadline = Clock::now() + seconds(shared_.settings.handler_seconds);
    deadline_ = Clock::time_point::max();
    while (!slot->answered_or_wait() && !cut_ && Clock::now() < deadline) {
      answer_timer_.expires_at(deadline);
      error_code ignored;
      co_await answer_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    if (auto response = slot->take()) {
      if (response->status == 500 && response->bytes().empty()) {
        co_return error_response(form, 500, "the server could not answer this");
      }
      co_return std::move(*response);
    }
    co_return error_response(form, 503, "the answer took too long: try again later");
  }

  awaitable<bool> write(std::string_view head, std::string_view body) {
    allow(shared_.settings.write_seconds);
    error_code wrong;
    const std::array<asio::const_buffer, 2> parts{asio::buffer(head.data(), head.size()),
                                                  asio::buffer(body.data(), body.size())};
    const std::size_t written =
        co_await asio::async_write(stream_, parts, asio::redirect_error(asio::use_awaitable, wrong));
    shared_.metrics.bytes_out.add(written);
    co_return !wrong;
  }

  // One request and its answer. False: the connection ends.
  awaitable<bool> one_request() {
    if (!co_await wait_for_request()) co_return false;
    IncomingRequest incoming(shared_.settings);
    const bool complete = co_await read_request(incoming);
    if (!complete && (incoming.refusal == 0 || cut_)) co_return false;
    const auto begun = Clock::now();
    const bool is_head = incoming.request.method == HttpMethod::head;
    bool keep_alive = complete && incoming.parser.get().keep_alive();

    HttpResponse response;
    if (complete && incoming.route) {
      response = co_await call_handler(incoming);
    } else {
      response = incoming.answer_without_handler();
    }
    shared_.metrics.answered(incoming.route.value_or(shared_.metrics.no_route()), response.status,
                             std::chrono::duration<double>(Clock::now() - begun).count());
    keep_alive = keep_alive && !shared_.draining;
    std::string head = render_head(response, keep_alive);
    bool has_body = !is_head && response.status != 204 && response.status != 304;
    if (has_body && response.bytes().size() <= kJoinedBytes) {
      head += response.bytes();
      has_body = false;
    }
    answered_last_ = !keep_alive;
    const bool written =
        co_await write(head, has_body ? std::string_view(response.bytes()) : std::string_view{});
    co_return written&& keep_alive;
  }

  // Closing while the client still sends would destroy the answer on its way: say that no more comes, then
  // read what is left for a moment.
  awaitable<void> finish() {
    error_code ignored;
    if (cut_ || !socket().is_open()) co_return;
    allow(kLingerSeconds);
    if constexpr (is_tls) {
      co_await stream_.async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
      ignored = {};
    }
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    std::size_t left = answered_last_ ? kLingerBytes : 0;
    while (!ignored && left > 0 && !cut_) {
      buffer_.clear();
      const std::size_t read = co_await socket().async_read_some(
          buffer_.prepare(kReadBytes), asio::redirect_error(asio::use_awaitable, ignored));
      left -= std::min(left, read);
    }
    socket().close(ignored);
  }

  ServerShared& shared_;
  SessionSet& sessions_;
  const AddressLimits::Address address_;
  Stream stream_;
  asio::steady_timer watchdog_;
  asio::steady_timer answer_timer_;
  beast::flat_buffer buffer_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point watching_until_ = Clock::time_point::max();
  bool timed_out_ = false;
  bool idle_ = false;           // between requests
  bool answered_last_ = false;  // the answer said that the connection ends
  bool cut_ = false;            // nobody is there any more
  bool ended_ = false;          // the watchdog may rest
};

template <class S>
void spawn(std::shared_ptr<S> session) {
  auto executor = session->executor();
  auto* raw = session.get();
  asio::co_spawn(executor, raw->run(std::move(session)), asio::detached);
}

}  // namespace

void start_session(ServerShared& shared, SessionSet& sessions, asio::ip::tcp::socket socket,
                   const AddressLimits::Address& address) {
  if (shared.tls) {
    spawn(std::make_shared<Session<TlsStream>>(shared, sessions, address, std::move(socket), *shared.tls));
  } else {
    spawn(std::make_shared<Session<tcp::socket>>(shared, sessions, address, std::move(socket)));
  }
}

void refuse_connection(asio::ip::tcp::socket socket, bool tls) {
  error_code ignored;
  if (tls) return;
  HttpResponse response = error_response(BodyForm::json, 503, "too many connections: try again later");
  response.headers.emplace_back("Retry-After", "1");
  const std::string text = render_head(response, false) + response.body;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(text), ignored);
  socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace sotto
