#pragma once
// How many bytes strangers may make the server hold: one budget for the process, and one for each connection
// that takes from it. Heads, bodies and unread answers are charged before they are stored.
//
// A connection's first small_bytes may use the whole budget of the process, what goes beyond them three
// quarters of it: small requests are answered while large ones are turned away. Thread-safe; shared, because
// a handler may keep a request for longer than its connection, or the server, lives.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace sotto::net {

class ProcessBudget {
 public:
  explicit ProcessBudget(std::int64_t limit) : limit_(limit) {}
  // What of a budget is for everybody; the rest is for small requests.
  static constexpr std::int64_t for_large(std::int64_t limit) { return limit / 4 * 3; }

  bool take(std::int64_t bytes, bool small);
  void give_back(std::int64_t bytes) { held_ -= bytes; }
  std::int64_t held() const { return held_; }

  // An allocator keeps what is freed. When much less is held than before, free pages go back to the system;
  // when somewhat less is, once it grows no more: what an attack leaves goes in any case. Called now and
  // then, by one thread.
  void release_free_pages();

 private:
  const std::int64_t limit_;
  std::atomic<std::int64_t> held_{0};
  std::atomic<std::int64_t> peak_{0};  // since pages were released
  std::int64_t last_look_ = 0;         // what was held then
};

class ConnectionBudget {
 public:
  static constexpr std::int64_t small_bytes = 32 << 10;

  ConnectionBudget(std::shared_ptr<ProcessBudget> process, std::int64_t limit)
      : process_(std::move(process)), limit_(limit) {}
  ~ConnectionBudget() { process_->give_back(held_); }
  ConnectionBudget(const ConnectionBudget&) = delete;
  ConnectionBudget& operator=(const ConnectionBudget&) = delete;

  bool take(std::int64_t bytes);
  void give_back(std::int64_t bytes);

 private:
  const std::shared_ptr<ProcessBudget> process_;
  const std::int64_t limit_;
  std::mutex mutex_;
  std::int64_t held_ = 0;
};

// Bytes held for one purpose; given back on destruction. Movable. Not thread-safe, but may end in any thread.
class HeldBytes {
 public:
  HeldBytes() = default;
  explicit HeldBytes(std::shared_ptr<ConnectionBudget> budget) : budget_(std::move(budget)) {}
  HeldBytes(HeldBytes&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  HeldBytes& operator=(HeldBytes&& other) noexcept;
  ~HeldBytes() { hold(0); }

  // This many from now on. False: there is no room, and nothing changes.
  bool hold(std::int64_t bytes);
  std::int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<ConnectionBudget> budget_;
  std::int64_t bytes_ = 0;
};

}  // namespace sotto::net
