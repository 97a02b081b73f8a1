// A device and a blind server as they are in production, over loopback.

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <future>
#include <set>
#include <thread>
#include <utility>

#include "base/random.h"
#include "base/thread_pool.h"
#include "blind/guide.h"
#include "device/device.h"
#include "device/wire/pack_codec.h"
#include "device/wire/server_calls.h"
#include "net/http_client.h"
#include "net/negotiation.h"
#include "privacy/ledger/ledger_statement.h"
#include "serving/http/blind_api.h"
#include "serving/http/serving_server.h"
#include "serving/pool/synthetic_pool.h"
#include "serving/start_time.h"
#include "test_paths.h"
#include "transport/http_transport.h"

namespace sotto::serving {
namespace {

using Source = device::Recommendations::Source;
using ::testing::HasSubstr;
using testing::start_time;
constexpr std::size_t items = 1500;

// What goes over the wire, remembered, and cut off when asked to.
class Recording final : public device::Transport {
 public:
  explicit Recording(transport::HttpTransport way) : way_(std::move(way)) {}
  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    if (call.path == "/v1/recommend") ++others;
    const bool asks = call.path == "/v1/blind";
    if (asks) questions.push_back(call.body);
    if (asks && cut) return failed("no network");
    SOTTO_TRY(device::ServerAnswer answer, way_.send(call));
    if (call.path.starts_with("/v1/blind/") && damaged)
      answer.body[answer.body.size() / 2] = static_cast<char>(answer.body[answer.body.size() / 2] ^ 1);
    if (call.path.starts_with("/v1/pack")) pack_bytes = answer.body.size();
    if (!asks || !lying) return answer;
    SOTTO_TRY(auto words, blind::decode_answer(answer.body));
    for (std::uint32_t& word : words.words) word ^= 0x5a5a5a5a;
    return device::ServerAnswer{200, blind::encode_answer(words)};
  }
  bool cut = false, lying = false, damaged = false;
  int others = 0;
  std::size_t pack_bytes = 0;  // of the last pack or difference
  std::vector<std::string> questions;

 private:
  transport::HttpTransport way_;
};

class BlindServing : public ::testing::Test {
 protected:
  explicit BlindServing(std::int64_t whole_bytes = 0) {
    settings_.model = folder_ / "pack";
    settings_.catalogue = folder_ / "catalogue";
    settings_.pack_seconds = 1;
    settings_.durability = Durability::process_end;
    settings_.blind.enabled = true;
    settings_.blind.rebuild_seconds = 5;
    settings_.blind.hint_bytes = std::int64_t{64} * 4096;  // clusters of at most 64
    settings_.blind.whole_bytes = whole_bytes;
    EXPECT_TRUE(
        write_file_atomically(settings_.model, device::encode_pack(synthetic_pack().value()).value()));
    server_ = ServingServer::start(settings_, [](const device::DevicePack&) {
                return Result<std::shared_ptr<const ItemEncoder>>(nullptr);
              }).value();
    EXPECT_TRUE(fill_with_synthetic_items(server_->pool(), items, start_time, 1000));
    if (whole_bytes == 0) tick_until_rebuilt();
    way_.emplace(transport::HttpTransport::create({.url = server_->url()}).value());
  }
  // Ticks, ten seconds apart by the server's clock, until a new edition is published.
  void tick_until_rebuilt() {
    const auto before = server_->blind()->newest();
    for (int tick = 0; tick < 20'000 && server_->blind()->newest() == before; ++tick) {
      ASSERT_TRUE(server_->tick(server_time_ += 10));
      std::this_thread::yield();
    }
    ASSERT_NE(server_->blind()->newest(), before);
  }
  device::Device device(const std::string& name = "device") {
    device::DeviceSettings settings;
    settings.ranking = "blind";
    settings.query.wanted = 200;
    auto opened =
        device::Device::open(
            folder_ / name, settings,
            {[this] { return privacy::UtcTime(std::chrono::seconds(device_time_)); }, nullptr, first_use_})
            .value();
    EXPECT_TRUE(opened.agree(opened.terms(server_->url(), "A page for you", {.asking = true})));
    return opened;
  }
  // What a reader of one synthetic item has as user vector, and the exact scores of all live items.
  std::vector<std::pair<float, std::string>> exact(std::span<const float> user) {
    const auto model = server_->pool().current();
    std::vector<std::pair<float, std::string>> scores;
    for (const StoredItemPtr& item : server_->pool().catalogue().all()) {
      const auto vector = model->vector_of(item->number);
      float score = 0;
      for (std::size_t i = 0; i < user.size(); ++i) score += user[i] * (*vector)[i];
      scores.emplace_back(-score, item->item.id);
    }
    std::sort(scores.begin(), scores.end());
    return scores;
  }
  CatalogueItem article(const std::string& id, std::span<const float> vector) const {
    CatalogueItem made;
    made.id = id;
    made.title = id;
    made.category = "sports";
    made.published = start_time;
    made.vector.assign(vector.begin(), vector.end());
    made.encoded_by = server_->pool().current()->model().version();
    return made;
  }
  // Opened by its reader, who gets its vector along.
  device::Device::OpenedItem opened(const std::string& id) {
    const auto stored = server_->pool().catalogue().find(id);
    return {id, *server_->pool().current()->vector_of(stored->number), stored->item.category};
  }

  bool first_use_ = true;
  const TempFolder folder_;
  ServeSettings settings_;
  std::int64_t server_time_ = start_time, device_time_ = start_time;
  std::unique_ptr<ServingServer> server_;
  std::optional<Recording> way_;
};

TEST_F(BlindServing, ADeviceFindsItsBestItemsAndTheServerSeesOnlyCiphertexts) {
  device::Device reader = device();
  ASSERT_TRUE(reader.refresh(*way_).value());
  EXPECT_THAT(reader.click("item-7").error().message, HasSubstr("does not have the item"));
  ASSERT_TRUE(reader.click(opened("item-7")));
  ASSERT_TRUE(reader.prepare(*way_));
  const auto page = reader.recommend(*way_, 10);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->source, Source::blind_query) << page->note;
  ASSERT_EQ(page->items.size(), 10U);
  EXPECT_EQ(way_->others, 0);
  // The user vector is the one click; it has been seen, so it is not among them. Of the true ten best most
  // are.
  auto best = exact(opened("item-7").vector);
  std::erase_if(best, [](const auto& item) { return item.second == "item-7"; });
  std::set<std::string> wanted;
  for (std::size_t i = 0; i < 10; ++i) wanted.insert(best[i].second);
  std::size_t found = 0;
  for (const auto& item : page->items) {
    found += wanted.count(item.item);
    const auto at =
        std::find_if(best.begin(), best.end(), [&](const auto& other) { return other.second == item.item; });
    ASSERT_NE(at, best.end());
    EXPECT_NEAR(item.score, -at->first, 0.05) << item.item;
  }
  EXPECT_GE(found, 6U);
  // The ledger knows of it: nothing was spent.
  const auto statement = reader.statement().value();
  EXPECT_EQ(statement.total.charges, 1U);
  EXPECT_EQ(statement.total.spent.epsilon, 0);
  EXPECT_THAT(privacy::to_text(statement), HasSubstr("(0, "));
}

TEST_F(BlindServing, ALedgerThatLostItsPastDoesNotStopQuestionsThatCostNothing) {
  first_use_ = false;
  device::Device reader = device();
  ASSERT_TRUE(reader.refresh(*way_).value());
  const auto page = reader.recommend(*way_, 5);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->source, Source::blind_query) << page->note;
}

TEST_F(BlindServing, AsksByTheClockAloneWhateverIsRead) {
  device::Device reader = device();
  ASSERT_TRUE(reader.refresh(*way_).value());
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(reader.recommend(*way_, 5));
    ASSERT_TRUE(reader.click(opened("item-" + std::to_string(i))));
  }
  EXPECT_EQ(way_->questions.size(), 1U);
  EXPECT_EQ(reader.recommend(*way_, 5)->source, Source::repeated_query);
  device_time_ += 24 * 3600;
  EXPECT_EQ(reader.recommend(*way_, 5)->source, Source::blind_query);
  ASSERT_EQ(way_->questions.size(), 2U);
  // As long as the first, and unlike it.
  const auto first = blind::decode_query(way_->questions[0]).value(),
             second = blind::decode_query(way_->questions[1]).value();
  EXPECT_EQ(first.words.size(),
            server_->blind()->newest()->shape().columns() * server_->blind()->newest()->shape().probes);
  ASSERT_EQ(second.words.size(), first.words.size());
  std::size_t same = 0;
  for (std::size_t i = 0; i < first.words.size(); ++i) same += first.words[i] == second.words[i] ? 1 : 0;
  EXPECT_LT(same, 3U);
}

TEST_F(BlindServing, AQuestionWithoutAnAnswerIsSentAgainByteByByte) {
  device::Device reader = device();
  ASSERT_TRUE(reader.refresh(*way_).value());
  way_->cut = true;
  for (int i = 0; i < 3; ++i) {
    const auto page = reader.recommend(*way_, 5);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->source, Source::popular);
    EXPECT_THAT(page->note, HasSubstr("no network"));
    ASSERT_TRUE(reader.click(opened("item-" + std::to_string(i))));
  }
  way_->cut = false;
  EXPECT_EQ(reader.recommend(*way_, 5)->source, Source::blind_query);
  ASSERT_EQ(way_->questions.size(), 4U);
  for (const std::string& question : way_->questions) EXPECT_EQ(question, way_->questions.front());
  EXPECT_EQ(reader.statement()->total.charges, 1U);
}

// Neither key nor question outlives the device: one that is closed in the middle, or whose folder is put
// back, asks under another secret.
TEST_F(BlindServing, NoSecretSurvivesARestartOrARestoredFolder) {
  {
    device::Device reader = device();
    ASSERT_TRUE(reader.refresh(*way_).value());
    ASSERT_TRUE(reader.prepare(*way_));
    way_->cut = true;
    ASSERT_TRUE(reader.recommend(*way_, 5));
  }
  fs::copy(folder_ / "device", folder_ / "backup", fs::copy_options::recursive);
  ASSERT_TRUE(device().recommend(*way_, 5));
  fs::remove_all(folder_ / "device");
  fs::rename(folder_ / "backup", folder_ / "device");
  ASSERT_TRUE(device().recommend(*way_, 5));
  ASSERT_EQ(way_->questions.size(), 3U);
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto one = blind::decode_query(way_->questions[a]).value(),
                 other = blind::decode_query(way_->questions[b]).value();
      std::size_t near = 0;  // under one secret all words but those of a few blocks would differ by little
      for (std::size_t i = 0; i < one.words.size(); ++i)
        near += std::abs(static_cast<double>(static_cast<std::int32_t>(one.words[i] - other.words[i]))) < 1000
                    ? 1
                    : 0;
      EXPECT_LT(near, 5U);
    }
  }
}

TEST_F(BlindServing, ALyingServerChangesWhatIsShownAndNothingThatIsSent) {
  device::Device honest = device("honest"), lied_to = device("lied");
  for (device::Device* reader : {&honest, &lied_to}) ASSERT_TRUE(reader->refresh(*way_).value());
  ASSERT_EQ(honest.recommend(*way_, 5)->source, Source::blind_query);
  way_->lying = true;
  const auto page = lied_to.recommend(*way_, 5);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->source, Source::blind_query);
  EXPECT_EQ(page->note, "");
  EXPECT_EQ(lied_to.recommend(*way_, 5)->source, Source::repeated_query);
  EXPECT_EQ(way_->questions.size(), 2U);
  EXPECT_EQ(way_->questions[0].size(), way_->questions[1].size());
}

TEST_F(BlindServing, AGuideThatDoesNotBelongToThePackIsNoticed) {
  device::Device reader = device();
  ASSERT_TRUE(reader.refresh(*way_).value());
  way_->damaged = true;
  EXPECT_THAT(reader.prepare(*way_).error().message, HasSubstr("not the one that the pack names"));
  const auto page = reader.recommend(*way_, 5);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->source, Source::popular);
  EXPECT_TRUE(way_->questions.empty());
  way_->damaged = false;
  EXPECT_EQ(reader.recommend(*way_, 5)->source, Source::blind_query);
}

TEST_F(BlindServing, FreshArticlesComeWithThePackAndRemovedOnesAreNotShown) {
  device::Device reader = device();
  ASSERT_TRUE(reader.refresh(*way_).value());
  ASSERT_TRUE(reader.click(opened("item-7")));
  const auto first = reader.recommend(*way_, 5);
  ASSERT_TRUE(first);
  const std::string removed = first->items[0].item;
  std::vector<float> better = opened("item-7").vector;
  for (float& number : better) number *= 3;
  ASSERT_TRUE(server_->pool().put({article("fresh", better)}));
  ASSERT_TRUE(server_->pool().remove(std::vector<std::string>{removed}));
  ASSERT_TRUE(server_->tick(server_time_ += 10));
  const std::size_t whole = way_->pack_bytes;
  ASSERT_TRUE(reader.refresh(*way_).value());
  EXPECT_LT(way_->pack_bytes, whole / 2) << "the difference";
  const auto second = reader.recommend(*way_, 5);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->source, Source::repeated_query);
  EXPECT_EQ(second->items[0].item, "fresh");
  for (const auto& item : second->items) EXPECT_NE(item.item, removed);
  device_time_ += 24 * 3600;  // and when it asks again
  const auto third = reader.recommend(*way_, 100);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->source, Source::blind_query);
  std::set<std::string> shown;  // items stand in several clusters
  for (const auto& item : third->items) {
    EXPECT_NE(item.item, removed);
    EXPECT_TRUE(shown.insert(item.item).second) << item.item;
  }
}

TEST_F(BlindServing, ANewDatabaseTakesOverWithItsHintAndTheOldOneIsAnswered) {
  device::Device late = device("late"), early = device("early");
  for (device::Device* reader : {&late, &early}) {
    ASSERT_TRUE(reader->refresh(*way_).value());
    ASSERT_TRUE(reader->click(opened("item-7")));
    ASSERT_TRUE(reader->prepare(*way_));
  }
  std::vector<CatalogueItem> more;
  for (int i = 0; i < 200; ++i) {
    std::vector<float> vector = opened("item-7").vector;
    for (float& number : vector) number *= 2;
    vector[static_cast<std::size_t>(i) % vector.size()] += 0.1F;
    more.push_back(article("more-" + std::to_string(i), vector));
  }
  ASSERT_TRUE(server_->pool().put(more));
  const auto before = server_->blind()->newest();
  tick_until_rebuilt();
  const auto after = server_->blind()->newest();
  EXPECT_FALSE(before->has(server_->pool().catalogue().find("more-1")->number));
  EXPECT_TRUE(after->has(server_->pool().catalogue().find("more-1")->number));
  // With the old guide, by the old matrix.
  const auto old = late.recommend(*way_, 10);
  ASSERT_TRUE(old);
  EXPECT_EQ(old->source, Source::blind_query) << old->note;
  // With the new one.
  ASSERT_TRUE(early.refresh(*way_).value());
  const auto page = early.recommend(*way_, 10);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->source, Source::blind_query) << page->note;
  EXPECT_THAT(page->items[0].item, HasSubstr("more-"));
  EXPECT_NE(blind::decode_query(way_->questions[0])->guide, blind::decode_query(way_->questions[1])->guide);
}

// Where the pool with a few hundred items more is still small enough to travel whole.
class BlindServingOfASmallPool : public BlindServing {
 protected:
  BlindServingOfASmallPool() : BlindServing((items + 300) * (64 + 33)) {}
  std::vector<CatalogueItem> more(int count) {
    std::vector<CatalogueItem> made;
    for (int i = 0; i < count; ++i)
      made.push_back(article("more-" + std::to_string(i), opened("item-" + std::to_string(i)).vector));
    return made;
  }
};

TEST_F(BlindServingOfASmallPool, ThePackHoldsAllAndNothingIsAsked) {
  ASSERT_EQ(server_->pool().current()->model().dimension(), 64U);
  ASSERT_TRUE(server_->tick(server_time_ += 10));
  device::Device reader = device();
  ASSERT_TRUE(reader.refresh(*way_).value());
  ASSERT_TRUE(reader.click("item-7"));
  EXPECT_TRUE(reader.prepare(*way_));
  const auto page = reader.recommend(*way_, 10);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->source, Source::local);
  EXPECT_EQ(page->note, "");
  EXPECT_TRUE(way_->questions.empty());
  EXPECT_EQ(way_->others, 0);
  EXPECT_EQ(reader.statement()->total.charges, 0U);
  // All of the ten best, whatever a cluster would have held.
  auto best = exact(opened("item-7").vector);
  std::erase_if(best, [](const auto& item) { return item.second == "item-7"; });
  ASSERT_EQ(page->items.size(), 10U);
  std::size_t found = 0;
  for (std::size_t i = 0; i < 10; ++i)
    for (const auto& item : page->items) found += item.item == best[i].second ? 1 : 0;
  EXPECT_GE(found, 9U);  // vectors of a pack have eight bits
}

TEST_F(BlindServingOfASmallPool, IsAskedAboutOnceItHasGrownAndNoMoreWhenItHasShrunk) {
  ASSERT_TRUE(server_->tick(server_time_ += 10));
  EXPECT_EQ(server_->blind()->newest(), nullptr);
  ASSERT_TRUE(server_->pool().put(more(400)));
  tick_until_rebuilt();
  device::Device reader = device();
  ASSERT_TRUE(reader.refresh(*way_).value());
  EXPECT_EQ(reader.recommend(*way_, 10)->source, Source::blind_query);
  std::vector<std::string> gone;
  for (const CatalogueItem& item : more(400)) gone.push_back(item.id);
  ASSERT_TRUE(server_->pool().remove(gone));
  tick_until_rebuilt();
  EXPECT_EQ(server_->blind()->newest(), nullptr);
  ASSERT_TRUE(reader.refresh(*way_).value());
  EXPECT_EQ(reader.recommend(*way_, 10)->source, Source::local);
  EXPECT_EQ(way_->questions.size(), 1U);
}

TEST_F(BlindServing, WrongQuestionsAreRefusedWithTheReason) {
  auto client = net::HttpClient::create({.url = server_->url()}).value();
  const auto ask = [&](std::string_view body) {
    return client.post("/v1/blind", body, net::flat_buffers_type).value();
  };
  const auto edition = server_->blind()->newest();
  EXPECT_EQ(ask("nothing").status, 400);
  EXPECT_EQ(ask(blind::encode_query({edition->version(), {1, 2, 3}})).status, 400);
  EXPECT_EQ(ask(blind::encode_query({std::string(64, 'a'), {1}})).status, 409);
  EXPECT_EQ(ask(std::string(static_cast<std::size_t>(settings_.blind.refresh_bytes) + 4096, 'x')).status,
            413);
  EXPECT_EQ(client.get("/v1/blind/" + std::string(64, 'a'))->status, 404);
  EXPECT_EQ(client.get("/v1/items/nothing")->status, 404);
  EXPECT_THAT(client.get("/v1/items/item-3")->body, HasSubstr("\"vector\":["));
  // Other routes keep their own limits.
  EXPECT_EQ(client.post("/v1/recommend", std::string(100 << 10, ' '), net::json_type)->status, 413);
}

TEST_F(BlindServing, ConcurrentQuestionsAreAnsweredEachWithItsOwn) {
  std::vector<std::thread> readers;
  std::atomic<int> answered{0};
  const auto edition = server_->blind()->newest();
  for (int r = 0; r < 6; ++r) {
    readers.emplace_back([&, r] {
      auto way = transport::HttpTransport::create({.url = server_->url()}).value();
      SeededRandom random(static_cast<std::uint64_t>(r), Purpose::test);
      const blind::Shape& shape = edition->shape();
      blind::BlindWords question{edition->version(),
                                 std::vector<std::uint32_t>(shape.columns() * shape.probes)};
      for (int repeat = 0; repeat < 5; ++repeat) {
        for (std::uint32_t& word : question.words) word = static_cast<std::uint32_t>(random());
        const auto answer =
            blind::decode_answer(way.send(device::blind_call(blind::encode_query(question))).value().body)
                .value();
        std::vector<std::uint32_t> expected;
        for (std::size_t probe = 0; probe < shape.probes; ++probe) {
          const auto plain = edition->database().plain_answer(
              std::span(question.words).subspan(probe * shape.columns(), shape.columns()));
          expected.insert(expected.end(), plain.begin(), plain.end());
        }
        if (answer.words == expected) ++answered;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(answered, 30);
}

// Whoever waits for one question's answer; the first can hold up the thread that answers.
class HeldReply final : public net::HttpReply::Slot {
 public:
  explicit HeldReply(std::shared_future<void> until = {}) : until_(std::move(until)) {}
  void answer(net::HttpResponse response) override {
    answered_.set_value(std::move(response));
    if (until_.valid()) until_.wait();
  }
  std::future<net::HttpResponse> response() { return answered_.get_future(); }

 private:
  std::shared_future<void> until_;
  std::promise<net::HttpResponse> answered_;
};

TEST_F(BlindServing, QuestionsThatWaitDuringAPassShareTheNextOne) {
  const auto edition = server_->blind()->newest();
  const blind::Shape& shape = edition->shape();
  ASSERT_EQ(shape.probes, 3U);
  const int threads = thread_count();
  set_thread_count(1);  // of the passes: the second question cannot have one of its own
  net::MetricsRegistry metrics;
  BlindApi api(server_->pool(), *server_->blind(), metrics);
  set_thread_count(threads);
  net::Router router;
  api.add_routes(router, shape.columns() * shape.probes);
  const auto match = router.match(net::HttpMethod::post, "/v1/blind");
  ASSERT_TRUE(match.route);
  std::promise<void> go_on;
  // Lets the pass end also when an assertion has failed: the api's destructor waits for it.
  struct AtEnd {
    std::promise<void>& promise;
    bool done = false;
    void now() {
      if (!std::exchange(done, true)) promise.set_value();
    }
    ~AtEnd() { now(); }
  } at_end{go_on};
  const auto ask = [&](std::uint32_t number, std::shared_future<void> until = {}) {
    blind::BlindWords question{edition->version(),
                               std::vector<std::uint32_t>(shape.columns() * shape.probes, number)};
    net::HttpRequest request;
    request.method = net::HttpMethod::post;
    request.path = "/v1/blind";
    request.body = blind::encode_query(question);
    auto slot = std::make_shared<HeldReply>(std::move(until));
    auto response = slot->response();
    router.routes()[*match.route].handler(std::move(request), net::HttpReply(slot));
    return response;
  };
  constexpr std::array bounds = {1.0};
  const net::Histogram& passes = metrics.histogram("sotto_blind_probes_per_pass", "", bounds);

  auto first = ask(1, go_on.get_future().share());
  ASSERT_EQ(first.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  std::vector<std::future<net::HttpResponse>> waiting;
  for (std::uint32_t number = 2; number < 9; ++number) waiting.push_back(ask(number));
  at_end.now();
  for (std::uint32_t number = 2; number < 9; ++number) {
    const auto words = blind::decode_answer(waiting[number - 2].get().body).value().words;
    const std::vector<std::uint32_t> probe(shape.columns(), number);
    const auto expected = edition->database().plain_answer(probe);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), words.begin())) << number;
  }
  // 3 probes alone, then those of five questions, which is as many as fit in 16, then those of two.
  EXPECT_EQ(passes.sum(), 24);
  std::vector<std::uint64_t> counts;
  for (std::size_t bucket = 0; bucket <= passes.bounds().size(); ++bucket)
    counts.push_back(passes.count_in(bucket));
  EXPECT_THAT(counts, ::testing::ElementsAre(0, 0, 1, 1, 1, 0)) << "up to 1, 2, 4, 8, 16 and above";
}

}  // namespace
}  // namespace sotto::serving
