#pragma once
// How the coordinator stands, told to pages as it changes: server-sent events over answers that are held. A
// page names the state it has last seen (Last-Event-ID) and is answered when there is another one, or after a
// while with the same: it hears at least every hold_time that somebody is there. Each answer holds one event
// and ends; browsers ask again by themselves, `retry` milliseconds later.
//
// Thread-safe. Holds a bounded number of pages: whoever comes beyond that is answered at once and asks more
// seldom.

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "net/http_message.h"

namespace sotto::coordinator {

class EventFeed {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds hold_time{10};
  static constexpr std::size_t most_held = 64;

  // begun: tells states of this process from those of one before it.
  explicit EventFeed(std::string begun) : begun_(std::move(begun)) {}
  ~EventFeed() { close(); }
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // GET /v1/events
  void wait(const net::HttpRequest& request, net::HttpReply reply);
  // The state now, as one line of JSON. The same again is no news; whoever has waited long enough hears it
  // all the same.
  void tell(std::string state, Clock::time_point now);
  // Whoever waits is answered, and nobody is held from now on.
  void close();

 private:
  struct Held {
    net::HttpReply reply;
    Clock::time_point until;
  };
  std::string id() const { return begun_ + "-" + std::to_string(number_); }
  net::HttpResponse event(std::chrono::milliseconds retry) const;

  const std::string begun_;
  std::mutex mutex_;
  std::uint64_t number_ = 0;
  std::string state_;
  std::vector<Held> held_;
  bool closed_ = false;
};

}  // namespace sotto::coordinator
