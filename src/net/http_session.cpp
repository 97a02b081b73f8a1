#include "net/http_session.h"

#include <poll.h>

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <type_traits>

#include "base/log.h"
#include "net/http_text.h"
#include "net/kept_bytes.h"
#include "net/negotiation.h"

namespace sotto::net {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::awaitable;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using asio::ip::tcp;
using TlsStream = asio::ssl::stream<tcp::socket>;
using Step = RequestReader::Step;

constexpr std::size_t idle_read_bytes = 2 << 10;  // what an idle connection holds
constexpr std::size_t read_bytes = 16 << 10;
constexpr std::size_t joined_bytes = 16 << 10;  // smaller bodies travel in one write with their head
// One write at most: then it is another connection's turn, and what was taken counts as progress.
constexpr std::size_t write_bytes = 64 << 10;
constexpr std::size_t linger_bytes = 4 << 20;
constexpr double linger_seconds = 2;
constexpr double last_read_seconds = 0.5;  // for bytes that are at hand when the server stops
constexpr std::string_view no_room = "the server holds as much as it can: try again later";

Clock::duration seconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
}

// All fields of that name as one list: a proxy may add a line of its own instead of lengthening the client's.
std::string joined(const HttpFields& fields, std::string_view name) {
  std::string list;
  for (const auto& [field, value] : fields) {
    if (equal_ignoring_case(field, name)) list.append(list.empty() ? "" : ",").append(value);
  }
  return list;
}

// 503 that says when to come again.
HttpResponse try_later(BodyForm form, std::string_view why) {
  HttpResponse response = error_response(form, 503, why);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

// A reply that a handler holds while its session waits for it, and what the request holds. The handler
// answers from any thread. `wake` is called at most once, and never after take(): a late answer reaches
// neither the session nor anything that died with it.
class WaitingReply final : public HttpReply::Slot {
 public:
  WaitingReply(std::function<void()> wake, HeldBytes request, int socket)
      : request_(std::move(request)), wake_(std::move(wake)), socket_(socket) {}

  void answer(HttpResponse response) override {
    const std::lock_guard lock(mutex_);
    if (!wake_ || response_) return;
    response_ = std::move(response);
    if (waiting_) wake_();
  }
  // Asked of the system, not read: what a client sent ahead stays where it is, and a TLS goodbye comes with
  // the end of the stream.
  bool is_live() const override {
    const std::lock_guard lock(mutex_);
    if (!wake_) return false;
    pollfd connection{socket_, POLLRDHUP, 0};
    return ::poll(&connection, 1, 0) == 0;
  }
  // True when there is nothing to wait for.
  bool answered_or_wait() {
    const std::lock_guard lock(mutex_);
    waiting_ = true;
    return response_.has_value();
  }
  // The answer, if there is one; later ones are dropped, and the session is no longer referred to.
  std::optional<HttpResponse> take() {
    std::function<void()> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(wake_);
    return std::exchange(response_, std::nullopt);
  }

 private:
  const HeldBytes request_;  // until the handler lets go, however long the session waits
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  const int socket_;  // open until take()
  std::optional<HttpResponse> response_;
  bool waiting_ = false;
};

template <class Stream>
class Session final : public HttpSession, public std::enable_shared_from_this<Session<Stream>> {
 public:
  template <class... Args>
  Session(ServerShared& shared, SessionSet& sessions, const PeerAddress& address, Args&&... stream)
      : shared_(shared),
        sessions_(sessions),
        address_(address),
        stream_(std::forward<Args>(stream)...),
        watchdog_(stream_.get_executor()),
        answer_timer_(stream_.get_executor()),
        budget_(std::make_shared<ConnectionBudget>(shared.budget, shared.settings.max_connection_bytes)),
        // What a reader may leave unread, and the next bytes behind it.
        buffer_(std::max(shared.request_limits.head_bytes, RequestReader::chunk_line_bytes) + read_bytes),
        buffer_held_(budget_) {}
  ~Session() override { shared_.close(address_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  auto executor() { return stream_.get_executor(); }

  awaitable<void> run(std::shared_ptr<Session> self) {
    const Running running(*self);
    allow(shared_.settings.read_seconds);
    watch();
    set_waiting(true);
    if (co_await handshake()) {
      bool more = true;
      while (more) more = co_await one_request();
    }
    co_await finish();
  }

  void drain() override {
    if (reading_) cancel();
  }
  void cut() override {
    if (busy_) ++shared_.cut_while_stopping;
    cut_ = true;
    error_code ignored;
    socket().close(ignored);
    answer_timer_.cancel();
  }
  void shed() override {
    leave_word([](Session& self) {
      self.shed_ = true;
      if (self.waiting_ || self.transferring_) self.abandon();
    });
  }

 private:
  static constexpr bool is_tls = std::is_same_v<Stream, TlsStream>;

  // Known to the server as long as the coroutine runs, however it ends.
  struct Running {
    explicit Running(Session& session) : running(session) {
      running.sessions_.insert(&running);
      running.place_ = running.shared_.enter(running, running.address_);
    }
    ~Running() {
      running.ended_ = true;
      running.watchdog_.cancel();
      running.shared_.leave(running.place_);
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
  void abandon() {
    cut_ = true;
    cancel();
  }
  // From any thread: done in the session's own, if it still lives then.
  template <class Act>
  void leave_word(Act act) {
    asio::post(executor(), [weak = this->weak_from_this(), act] {
      if (const auto self = weak.lock()) act(*self);
    });
  }
  void set_waiting(bool waiting) {
    if (waiting_ == waiting) return;
    waiting_ = waiting;
    shared_.set_waiting(place_, waiting);
  }

  // The bytes of a body or an answer on their way; the server may choose a slow one to make room.
  struct Transfer {
    explicit Transfer(Session& session) : of(session) {
      of.transferring_ = true;
      of.place_->begin_transfer(begun);
    }
    ~Transfer() {
      of.transferring_ = false;
      of.place_->end_transfer();
    }
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    void progress(double time, std::size_t moved) {
      of.place_->moved(moved);
      of.allow_progress(time, begun, moved);
    }
    Session& of;
    const Clock::time_point begun = Clock::now();
  };

  // What is waited for from now on may take this long (0: for ever); then it is cancelled, and the connection
  // still works.
  void allow(double time) {
    timed_out_ = false;
    deadline_ = time > 0 ? Clock::now() + seconds(time) : Clock::time_point::max();
    if (deadline_ < watching_until_) watchdog_.cancel();
  }
  // A transfer that began then and has moved so many bytes: whoever keeps up the least rate is not cut off,
  // however large the transfer is. Without a least rate only a standstill counts.
  void allow_progress(double time, Clock::time_point begun, std::size_t moved) {
    const auto rate = static_cast<double>(shared_.settings.min_bytes_per_second);
    if (time == 0 || rate == 0) return allow(time);
    const double passed = std::chrono::duration<double>(Clock::now() - begun).count();
    allow(std::max(1e-3, time + static_cast<double>(moved) / rate - passed));
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
      reading_ = true;
      co_await stream_.async_handshake(asio::ssl::stream_base::server,
                                       asio::redirect_error(asio::use_awaitable, wrong));
      reading_ = false;
      co_return !wrong;
    }
    co_return true;
  }

  bool bytes_at_hand() {
    error_code wrong;
    const std::size_t available = socket().available(wrong);
    return !wrong && available > 0;
  }

  // What the buffer will take up with so many more bytes: when it has to grow, Beast doubles it.
  std::size_t capacity_with(std::size_t more) const {
    const std::size_t size = buffer_.size();
    if (size + more <= buffer_.capacity()) return buffer_.capacity();
    return std::min(buffer_.max_size(), std::max(2 * size, size + more));
  }

  enum class Read { some, ended, timed_out, stopping, full, broken };
  // Reads once. When the server stops, what has already arrived is still taken.
  awaitable<Read> read_more(std::size_t most) {
    if (!buffer_held_.hold(static_cast<std::int64_t>(capacity_with(most)))) co_return Read::full;
    while (true) {
      if (shared_.draining) {
        if (!bytes_at_hand()) co_return Read::stopping;
        allow(last_read_seconds);
      }
      error_code wrong;
      reading_ = true;
      const std::size_t read = co_await stream_.async_read_some(
          buffer_.prepare(most), asio::redirect_error(asio::use_awaitable, wrong));
      reading_ = false;
      buffer_.commit(read);
      shared_.metrics.bytes_in.add(read);
      if (!wrong) co_return Read::some;
      if (timed_out_) co_return shared_.draining ? Read::stopping : Read::timed_out;
      if (wrong == asio::error::eof) co_return Read::ended;
      // Cancelled, to look whether anything is at hand.
      if (wrong != asio::error::operation_aborted || !shared_.draining || cut_) co_return Read::broken;
    }
  }

  // Waits for the first byte of a request. Closing here is no loss to anybody.
  awaitable<bool> wait_for_request() {
    set_waiting(true);
    if (buffer_.size() > 0) co_return true;
    allow(shared_.settings.idle_seconds);
    if (buffer_.capacity() > idle_read_bytes) {
      buffer_.shrink_to_fit();
      buffer_held_.hold(0);
    }
    const Read outcome = co_await read_more(idle_read_bytes);
    co_return outcome == Read::some;
  }

  Step take_from_buffer(RequestReader& reader) {
    std::string_view bytes(static_cast<const char*>(buffer_.data().data()), buffer_.size());
    const Step step = reader.take(bytes);
    buffer_.consume(buffer_.size() - bytes.size());
    return step;
  }

  awaitable<Step> read_on(RequestReader& reader) {
    const Read outcome = co_await read_more(read_bytes);
    cut_ = cut_ || outcome == Read::broken;
    co_return outcome == Read::some ? take_from_buffer(reader) : refuse(reader, outcome);
  }
  // Until the head is there, or refused. Nobody may be there any more: then cut_ is set. A head is short: it
  // has its time.
  awaitable<Step> read_head(RequestReader& reader) {
    allow(shared_.settings.read_seconds);
    Step step = take_from_buffer(reader);
    while (step == Step::more) step = co_await read_on(reader);
    co_return step;
  }
  // The same for the body, which may take longer the more of it has come.
  awaitable<Step> read_body(RequestReader& reader) {
    Step step = take_from_buffer(reader);
    if (step != Step::more) co_return step;
    Transfer transfer(*this);
    allow(shared_.settings.read_seconds);
    std::size_t received = 0;
    while (step == Step::more && !cut_) {
      if (reader.body_received() > received) {
        received = reader.body_received();
        transfer.progress(shared_.settings.read_seconds, received);
      }
      step = co_await read_on(reader);
    }
    co_return step;
  }

  static Step refuse(RequestReader& reader, Read outcome) {
    switch (outcome) {
      case Read::timed_out:
        return reader.refuse(408, "the request did not arrive in time");
      case Read::stopping:
        return reader.refuse(503, "the server is stopping, and nothing of this request was done");
      case Read::full:
        return reader.refuse(503, no_room);
      default:
        return reader.refuse(400, "the request ends too early");
    }
  }

  // Has whom the request counts for asked too often? A head that is refused counts as one that is taken.
  bool asks_too_often(const RequestReader& reader) {
    PeerAddress client = address_;
    if (shared_.proxies.contain(address_)) {
      client = shared_.proxies.client_of(address_, joined(reader.request.headers, "X-Forwarded-For"));
    }
    return !shared_.addresses.request(client, AddressLimits::Clock::now());
  }

  Step admit(RequestReader& reader) {
    // Handlers do not learn who asked, from a proxy as little as from the socket.
    std::erase_if(reader.request.headers, [](const HttpField& field) {
      return equal_ignoring_case(field.first, "X-Forwarded-For") ||
             equal_ignoring_case(field.first, "Forwarded") || equal_ignoring_case(field.first, "X-Real-IP");
    });
    return reader.admit();
  }

  // Complete or refused.
  awaitable<Step> read_request(RequestReader& reader) {
    Step step = co_await read_head(reader);
    set_waiting(false);
    if (!shared_.draining && asks_too_often(reader)) {
      co_return reader.refuse(429, "too many requests from this address: wait a moment");
    }
    if (step == Step::head) step = admit(reader);
    if (step == Step::refused) co_return step;
    if (equal_ignoring_case(reader.request.header("Expect"), "100-continue")) {
      const bool written = co_await write("HTTP/1.1 100 Continue\r\n\r\n", {});
      cut_ = cut_ || !written;
    }
    co_return co_await read_body(reader);
  }

  awaitable<HttpResponse> call_handler(RequestReader& reader) {
    const Router::Route& route = shared_.router.routes()[*reader.route];
    const BodyForm form = wanted_form(reader.request);
    auto slot = std::make_shared<WaitingReply>(
        [self = this->shared_from_this()] {
          asio::post(self->executor(), [self] { self->answer_timer_.cancel(); });
        },
        reader.take_held(), socket().native_handle());
    try {
      route.handler(std::move(reader.request), HttpReply(slot));
    } catch (...) {
      // What it says may hold parts of the request.
      error("a handler of {} {} threw an exception", name(route.method), route.pattern);
    }
    const double allowed = shared_.settings.handler_seconds;
    const auto deadline = allowed > 0 ? Clock::now() + seconds(allowed) : Clock::time_point::max();
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
    co_return try_later(form, "the answer took too long: try again later");
  }

  // Piece by piece: other connections have their turn between the pieces.
  awaitable<bool> write(std::string_view head, std::string_view body) {
    Transfer transfer(*this);
    std::size_t written = 0;
    while (!head.empty() || !body.empty()) {
      if (cut_) co_return false;
      transfer.progress(shared_.settings.write_seconds, written);
      const std::string_view first = head.substr(0, write_bytes);
      const std::string_view second =
          first.size() < head.size() ? std::string_view{} : body.substr(0, write_bytes - first.size());
      const std::array<asio::const_buffer, 2> parts{asio::buffer(first.data(), first.size()),
                                                    asio::buffer(second.data(), second.size())};
      error_code wrong;
      const std::size_t taken =
          co_await stream_.async_write_some(parts, asio::redirect_error(asio::use_awaitable, wrong));
      shared_.metrics.bytes_out.add(taken);
      if (wrong) co_return false;
      written += taken;
      body.remove_prefix(taken - std::min(taken, head.size()));
      head.remove_prefix(std::min(taken, head.size()));
    }
    co_return true;
  }

  // An answer and what it holds until it is written.
  struct Answer {
    HttpResponse response;
    bool joined = false;  // body and head in one write
    HeldBytes own;
    std::optional<KeptBytes::Reader> kept;
  };
  // The answer's own bytes are charged to the connection; those that many share, to the process when nobody
  // keeps them. Without room the answer is that there is none.
  Answer charge(HttpResponse response, BodyForm form) {
    Answer answer{std::move(response), false, HeldBytes(budget_), {}};
    const std::size_t size = answer.response.bytes().size();
    answer.joined = size <= joined_bytes;
    const std::size_t own = answer.response.body.capacity() + (answer.joined ? size : 0);
    bool room = answer.own.hold(static_cast<std::int64_t>(own));
    if (room && answer.response.shared_body) {
      answer.kept = KeptBytes::read(answer.response.shared_body, shared_.budget, [this] {
        shared_.metrics.shed_connections.add();
        leave_word([](Session& self) { self.abandon(); });
      });
      room = answer.kept.has_value();
    }
    if (!room) {  // a few words: they are in what every connection is charged
      answer.own.hold(0);
      answer.response = try_later(form, no_room);
      answer.joined = true;
    }
    return answer;
  }

  // One request and its answer. False: the connection ends.
  awaitable<bool> one_request() {
    if (!co_await wait_for_request()) co_return false;
    RequestReader reader(shared_.router, shared_.request_limits, budget_);
    const Step step = co_await read_request(reader);
    if (cut_) co_return false;
    busy_ = true;
    const auto begun = Clock::now();
    const bool is_head = reader.request.method == HttpMethod::head;
    const bool complete = step == Step::complete;
    bool keep_alive = complete && reader.keep_alive();

    const BodyForm form = wanted_form(reader.request);
    HttpResponse made;
    if (complete && reader.route) {
      made = co_await call_handler(reader);
    } else {
      made = reader.answer_without_handler();
    }
    const Answer answer = charge(std::move(made), form);
    const HttpResponse& response = answer.response;
    shared_.metrics.answered(reader.route.value_or(shared_.metrics.no_route()), response.status,
                             std::chrono::duration<double>(Clock::now() - begun).count());
    // While stopping, requests that lie complete behind this one are answered too.
    keep_alive = keep_alive && !shed_ && (!shared_.draining || buffer_.size() > 0);
    std::string head = render_head(response, keep_alive);
    bool has_body = !is_head && response.status != 204 && response.status != 304;
    if (has_body && answer.joined) {
      head += response.bytes();
      has_body = false;
    }
    answered_last_ = !keep_alive;
    const bool written = co_await write(head, has_body ? response.bytes() : std::string_view{});
    busy_ = false;
    if (shared_.draining && written) {
      ++(complete ? shared_.answered_while_stopping : shared_.refused_while_stopping);
    }
    co_return written&& keep_alive;
  }

  // Closing while the client still sends would destroy the answer on its way: say that no more comes, then
  // read what is left for a moment.
  awaitable<void> finish() {
    error_code ignored;
    if (cut_ || !socket().is_open()) co_return;
    allow(linger_seconds);
    if (!shed_) set_waiting(true);  // for the client to close, and no longer than others need the room
    if constexpr (is_tls) {
      co_await stream_.async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
      ignored = {};
    }
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    std::size_t left = answered_last_ ? linger_bytes : 0;
    if (left > 0) {
      buffer_.clear();
      buffer_.shrink_to_fit();
      buffer_held_.hold(0);
    }
    std::array<char, idle_read_bytes> unread{};
    while (!ignored && left > 0 && !cut_) {
      const std::size_t read = co_await socket().async_read_some(
          asio::buffer(unread), asio::redirect_error(asio::use_awaitable, ignored));
      left -= std::min(left, read);
    }
    socket().close(ignored);
  }

  ServerShared& shared_;
  SessionSet& sessions_;
  const PeerAddress address_;
  Stream stream_;
  asio::steady_timer watchdog_;
  asio::steady_timer answer_timer_;
  const std::shared_ptr<ConnectionBudget> budget_;
  beast::flat_buffer buffer_;
  HeldBytes buffer_held_;
  ServerShared::PlaceOf place_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point watching_until_ = Clock::time_point::max();
  bool timed_out_ = false;
  bool reading_ = false;        // waits for bytes of the client
  bool waiting_ = false;        // no request's head is complete
  bool transferring_ = false;   // a body or an answer is on its way
  bool busy_ = false;           // a request is complete or refused, and not yet answered
  bool answered_last_ = false;  // the answer said that the connection ends
  bool shed_ = false;           // another connection has its room
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
                   const PeerAddress& address) {
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

}  // namespace sotto::net
