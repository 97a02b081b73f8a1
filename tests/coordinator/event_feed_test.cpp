#include "coordinator/http/event_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto::coordinator {
namespace {

using ::testing::HasSubstr;
using Clock = EventFeed::Clock;

// A page that asks, and what it heard.
class Asker final : public net::HttpReply::Slot {
 public:
  void answer(net::HttpResponse response) override { heard = std::move(response); }
  std::optional<net::HttpResponse> heard;
};

std::shared_ptr<Asker> ask(EventFeed& feed, const std::string& last_seen = {}) {
  auto asker = std::make_shared<Asker>();
  net::HttpRequest request;
  if (!last_seen.empty()) request.headers.emplace_back("Last-Event-ID", last_seen);
  feed.wait(request, net::HttpReply(asker));
  return asker;
}

std::string id_in(const net::HttpResponse& response) {
  const std::size_t begin = response.body.find("id: ") + 4;
  return response.body.substr(begin, response.body.find('\n', begin) - begin);
}

TEST(EventFeed, TellsANewPageHowItStandsAndThenWhatChanged) {
  EventFeed feed("start");
  feed.tell(R"({"round":1})", Clock::now());
  const auto first = ask(feed);
  ASSERT_TRUE(first->heard);
  EXPECT_EQ(first->heard->content_type, "text/event-stream");
  EXPECT_THAT(first->heard->body, HasSubstr("event: status\ndata: {\"round\":1}\n\n"));

  const auto second = ask(feed, id_in(*first->heard));
  EXPECT_FALSE(second->heard) << "it knows that already";
  feed.tell(R"({"round":1})", Clock::now());
  EXPECT_FALSE(second->heard) << "the same is no news";
  feed.tell(R"({"round":2})", Clock::now());
  ASSERT_TRUE(second->heard);
  EXPECT_THAT(second->heard->body, HasSubstr("data: {\"round\":2}\n\n"));
  EXPECT_NE(id_in(*second->heard), id_in(*first->heard));
}

TEST(EventFeed, SaysThatSomebodyIsThereWhenNothingHappens) {
  EventFeed feed("start");
  const auto now = Clock::now();
  feed.tell("{}", now);
  const auto page = ask(feed, "start-1");
  feed.tell("{}", now + EventFeed::hold_time - std::chrono::seconds(1));
  EXPECT_FALSE(page->heard);
  feed.tell("{}", now + EventFeed::hold_time + std::chrono::seconds(1));
  ASSERT_TRUE(page->heard);
  EXPECT_EQ(id_in(*page->heard), "start-1");
}

TEST(EventFeed, DoesNotTakeAStateOfAnEarlierProcessForItsOwn) {
  EventFeed feed("second start");
  feed.tell("{}", Clock::now());
  EXPECT_TRUE(ask(feed, "first start-1")->heard);
}

TEST(EventFeed, HoldsNoMorePagesThanItSaysAndNoneAfterTheEnd) {
  EventFeed feed("start");
  feed.tell("{}", Clock::now());
  std::vector<std::shared_ptr<Asker>> pages;
  for (std::size_t i = 0; i < EventFeed::most_held; ++i) pages.push_back(ask(feed, "start-1"));
  EXPECT_FALSE(pages.back()->heard);
  const auto one_more = ask(feed, "start-1");
  ASSERT_TRUE(one_more->heard);
  EXPECT_THAT(one_more->heard->body, HasSubstr("retry: 5000\n"));
  feed.close();
  for (const auto& page : pages) EXPECT_TRUE(page->heard);
  EXPECT_TRUE(ask(feed, "start-1")->heard);
}

}  // namespace
}  // namespace sotto::coordinator
