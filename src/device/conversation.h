#pragma once
// What a device says to a server and hears from it, without I/O. A conversation is driven by whoever carries
// its bytes, over whatever there is (sotto::transport, a phone's own client, a browser's fetch):
//
//   auto talk = device.recommend(10);
//   while (true) {
//     ServerStep step = talk.next();
//     if (step is a ServerCall) talk.received(carry it out);      // or talk.lost(why)
//     if (step is a ServerPause) wait, at least so long;
//     if (step is a ServerDone) break;                            // talk.result()
//   }
//
// Inside it is one function that reads from top to bottom: a coroutine that waits for answers (Talk) through
// an Exchange. Destroying a conversation ends it wherever it stands and wipes what it held. The device must
// outlive it. Movable. Not thread-safe.

#include <chrono>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace sotto::device {

struct ServerCall {
  std::string method, path;  // the path with its query, percent-encoded
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};
struct ServerAnswer {
  int status = 0;
  std::string body;  // without the coding it travelled in
};
struct ServerPause {
  std::chrono::milliseconds time{0};
};
struct ServerDone {};
using ServerStep = std::variant<ServerCall, ServerPause, ServerDone>;

// How a device reaches a server. Implementations add nothing to a call that tells devices apart. An error
// means that no answer came; any status is one.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Result<ServerAnswer> send(const ServerCall& call) = 0;
};

// Between a coroutine and whoever drives it: what it waits for, and what came.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // co_await: the answer, or why there is none.
  auto send(ServerCall call) {
    step_ = std::move(call);
    answer_.reset();
    struct Waits : Suspended {
      Result<ServerAnswer> await_resume() {
        Result<ServerAnswer> came = *std::move(exchange.answer_);
        exchange.answer_.reset();
        return came;
      }
    };
    return Waits{{*this}};
  }
  // co_await: time that passes.
  auto pause(std::chrono::milliseconds time) {
    step_ = ServerPause{time};
    struct Waits : Suspended {
      void await_resume() const {}
    };
    return Waits{{*this}};
  }

  // For the driver.
  const ServerStep& step() const { return step_; }
  void answer(Result<ServerAnswer> given) { answer_ = std::move(given); }
  bool has_answer() const { return answer_.has_value(); }
  void resume() { std::exchange(waiting_, nullptr).resume(); }

 private:
  struct Suspended {
    Exchange& exchange;
    static bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> handle) const { exchange.waiting_ = handle; }
  };
  std::coroutine_handle<> waiting_;
  ServerStep step_ = ServerDone{};
  std::optional<Result<ServerAnswer>> answer_;
};

// One function goes on in another by a plain call: what would keep the stack flat, returning a handle, needs
// tail calls, which WebAssembly got late. The stack is as deep as functions that end without waiting for a
// server. Out of line, because the frame around such a call may be gone when it is over, and because a
// compiler would make a tail call of one that stands last.
__attribute__((noinline)) inline void go_on(std::coroutine_handle<> next) { next.resume(); }
__attribute__((noinline)) inline void end(std::coroutine_handle<> talk) { talk.destroy(); }

// A function that may wait for a server, and gives a T in the end. Begins when it is first waited for.
template <class T>
class [[nodiscard]] Talk {
 public:
  struct promise_type {
    std::optional<T> value;
    std::exception_ptr problem;
    std::coroutine_handle<> continuation = std::noop_coroutine();

    Talk get_return_object() { return Talk(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct GoesOn {
        bool await_ready() noexcept { return false; }
        void await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
          go_on(ended.promise().continuation);
        }
        void await_resume() noexcept {}
      };
      return GoesOn{};
    }
    void return_value(T given) { value.emplace(std::move(given)); }
    // The machine has no memory left. Thrown again in whoever waits for it, and so out of next() in the end.
    void unhandled_exception() noexcept { problem = std::current_exception(); }
  };

  Talk(Talk&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Talk& operator=(Talk&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Talk() {
    if (handle_) end(handle_);
  }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().continuation = awaiting;
    go_on(handle_);
  }
  T await_resume() {
    rethrow();
    return *std::move(handle_.promise().value);
  }

  void begin() { handle_.resume(); }
  void rethrow() const {
    if (handle_.promise().problem) std::rethrow_exception(handle_.promise().problem);
  }
  bool is_over() const { return handle_.done(); }
  T& value() { return *handle_.promise().value; }

 private:
  explicit Talk(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

template <class T>
class Conversation {
 public:
  // `make`: given an exchange that outlives it, the function that is to run.
  template <class Make>
  explicit Conversation(const Make& make)
      : exchange_(std::make_unique<Exchange>()), talk_(make(*exchange_)) {}

  // What to do next. The same call is given until it is answered or lost.
  ServerStep next() {
    if (!has_begun_) {
      has_begun_ = true;
      talk_.begin();
    } else if (!talk_.is_over() && (exchange_->has_answer() || std::exchange(has_paused_, false))) {
      exchange_->resume();
    }
    if (talk_.is_over()) {
      talk_.rethrow();
      return ServerDone{};
    }
    has_paused_ = std::holds_alternative<ServerPause>(exchange_->step());
    return exchange_->step();
  }
  // The answer to the call that next() gave. One that nobody waits for changes nothing.
  void received(ServerAnswer answer) {
    if (is_calling()) exchange_->answer(std::move(answer));
  }
  // The server was not reached, or gave no answer in time.
  void lost(std::string why) {
    if (is_calling()) exchange_->answer(tl::unexpected(Error{ErrorKind::failed, std::move(why)}));
  }

  bool is_over() const { return has_begun_ && talk_.is_over(); }
  Result<T>& result() { return talk_.value(); }  // once it is over

 private:
  bool is_calling() const {
    return has_begun_ && !talk_.is_over() && std::holds_alternative<ServerCall>(exchange_->step());
  }
  std::unique_ptr<Exchange> exchange_;
  Talk<Result<T>> talk_;
  bool has_begun_ = false, has_paused_ = false;
};

inline void no_pause(std::chrono::milliseconds) {}  // for conversations that have none

// Carries a conversation out. `wait` sleeps for about so long.
template <class T, class Wait>
Result<T> carry(Conversation<T> talk, Transport& transport, const Wait& wait) {
  while (true) {
    const ServerStep step = talk.next();
    if (std::holds_alternative<ServerDone>(step)) {
      Result<T> result = std::move(talk.result());
      return result;
    }
    if (const auto* pause = std::get_if<ServerPause>(&step)) {
      wait(pause->time);
      continue;
    }
    Result<ServerAnswer> answer = transport.send(std::get<ServerCall>(step));
    if (answer)
      talk.received(*std::move(answer));
    else
      talk.lost(std::move(answer).error().message);
  }
}

}  // namespace sotto::device

// SOTTO_TRY and SOTTO_CHECK in a coroutine.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SOTTO_CO_TRY(declaration, expression) \
  SOTTO_CO_TRY_INNER(SOTTO_CONCAT(sotto_result_, __COUNTER__), declaration, expression)
#define SOTTO_CO_TRY_INNER(result, declaration, expression)                         \
  auto result = (expression);                                                       \
  if (!result) co_return tl::unexpected<::sotto::Error>(std::move(result).error()); \
  declaration = std::move(*result)
#define SOTTO_CO_CHECK(expression)                                                                \
  do {                                                                                            \
    auto sotto_status = (expression);                                                             \
    if (!sotto_status) co_return tl::unexpected<::sotto::Error>(std::move(sotto_status).error()); \
  } while (false)
// NOLINTEND(bugprone-macro-parentheses)
