#include "coordinator/http/event_feed.h"

#include <fmt/format.h>

namespace sotto::coordinator {

namespace {
constexpr std::chrono::milliseconds soon{200}, seldom{5000};
}

net::HttpResponse EventFeed::event(std::chrono::milliseconds retry) const {
  net::HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("Cache-Control", "no-store");
  response.body = fmt::format("retry: {}\nid: {}\nevent: status\ndata: {}\n\n", retry.count(), id(), state_);
  return response;
}

void EventFeed::wait(const net::HttpRequest& request, net::HttpReply reply) {
  net::HttpResponse at_once;
  {
    const std::lock_guard lock(mutex_);
    const bool is_known = number_ == 0 || request.header("Last-Event-ID") == id();
    if (is_known && !closed_ && held_.size() < most_held) {
      held_.push_back({std::move(reply), Clock::now() + hold_time});
      return;
    }
    at_once = event(is_known ? seldom : soon);
  }
  std::move(reply)(std::move(at_once));
}

void EventFeed::tell(std::string state, Clock::time_point now) {
  std::vector<Held> answered;
  net::HttpResponse response;
  {
    const std::lock_guard lock(mutex_);
    const bool is_news = state != state_;
    if (is_news) {
      state_ = std::move(state);
      ++number_;
    }
    std::vector<Held> still;
    for (Held& held : held_) (is_news || now >= held.until ? answered : still).push_back(std::move(held));
    held_ = std::move(still);
    response = event(soon);
  }
  for (Held& held : answered) std::move(held.reply)(response);
}

void EventFeed::close() {
  std::vector<Held> answered;
  net::HttpResponse response;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    answered.swap(held_);
    response = event(seldom);
  }
  for (Held& held : answered) std::move(held.reply)(response);
}

}  // namespace sotto::coordinator
