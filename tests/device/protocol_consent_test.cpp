// Nothing is asked, enrolled or trained without its person; what they take back is gone.

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "device/device_fixture.h"
#include "device/sdk/blind_ranking.h"
#include "privacy/ledger/ledger_statement.h"
#include "rounds/enrolment.h"
#include "rounds/round_messages.h"
#include "rounds/small_campaign.h"

namespace sotto::device {
namespace {

using Source = Recommendations::Source;
using testing::DeviceTest;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

// A coordinator that enrols everybody, and notes what it is told.
class Enrolling final : public Transport {
 public:
  Result<ServerAnswer> send(const ServerCall& call) override {
    calls.push_back(call);
    return ServerAnswer{call.path == "/v1/enrol" ? 200 : 404, {}};
  }
  std::vector<ServerCall> calls;
};

class ConsentTest : public DeviceTest {
 protected:
  ConsentTest() { agrees = false; }
  std::string token() const { return rounds::sign_token({{}, true, now + 24h}, rounds::operator_key()); }
  static RoundHooks hooks() {
    return {[] { return false; }, [](std::chrono::milliseconds) {}};
  }
  const rounds::OperatorKeys operator_key{rounds::operator_key().public_key()};
  Enrolling coordinator;
};

TEST_F(ConsentTest, NothingIsSentBeforeSomebodyAgreed) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));  // public, the same for everybody
  for (const char* ranking : {"private", "popular"}) {
    settings.ranking = ranking;
    const auto page = device.recommend(server, 5);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->source, Source::local);
    EXPECT_THAT(page->note, HasSubstr("nobody agreed"));
  }
  EXPECT_TRUE(server.requests.empty());
  EXPECT_THAT(device.enrol(coordinator, token(), operator_key).error().message, HasSubstr("nobody agreed"));
  EXPECT_THAT(device.take_part(coordinator, hooks()).error().message, HasSubstr("nobody agreed"));
  EXPECT_TRUE(coordinator.calls.empty());
  EXPECT_EQ(device.statement()->records, 1U + 1U) << "settings and categories, no charge";
}

TEST_F(ConsentTest, IsForWhatWasAgreedToAndNotForMore) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.agree(device.terms("paper.example", "A page for you", {.asking = true})));
  EXPECT_EQ(device.recommend(server, 5)->source, Source::fresh_query);
  EXPECT_THAT(device.enrol(coordinator, token(), operator_key).error().message,
              HasSubstr("not to train: ask for that first"));
  ASSERT_TRUE(device.agree(device.terms("paper.example", "Better pages", {.training = true})));
  EXPECT_TRUE(device.enrol(coordinator, token(), operator_key));
  EXPECT_THAT(device.recommend(server, 5)->note, HasSubstr("not to ask a server"));
}

TEST_F(ConsentTest, SettingsThatAllowMoreNeedAnother) {
  {
    Device device = open();
    ASSERT_TRUE(
        device.agree(device.terms("paper.example", "Better pages", {.training = true, .asking = true})));
  }
  const DeviceSettings agreed = settings;
  const auto train = [&] { return open().take_part(coordinator, hooks()).error().message; };
  EXPECT_THAT(train(), HasSubstr("enrolled nowhere")) << "agreed, as it is";
  const auto loosen = [&](auto change, const char* name) {
    settings = agreed;
    change(settings.training);
    EXPECT_THAT(train(), HasSubstr(name));
    EXPECT_THAT(train(), HasSubstr("ask the person again"));
  };
  loosen([](TrainingSettings& one) { one.epsilon *= 2; }, "training_epsilon");
  loosen([](TrainingSettings& one) { one.delta *= 2; }, "training_delta");
  loosen([](TrainingSettings& one) { one.least_group -= 1; }, "least_group");
  loosen([](TrainingSettings& one) { one.least_corrupted /= 2; }, "least_corrupted");
  loosen([](TrainingSettings& one) { one.most_upload_bytes += 1; }, "most_upload_bytes");
  loosen([](TrainingSettings& one) { one.most_seconds += 1; }, "most_training_seconds");
  loosen([](TrainingSettings& one) { one.security_bits -= 1; }, "least_security_bits");
  settings = agreed;
  settings.training.epsilon /= 2;  // stricter is nobody's business
  EXPECT_THAT(train(), HasSubstr("enrolled nowhere"));

  const auto ask = [&](auto change) {
    settings = agreed;
    change(settings);
    Device device = open();
    EXPECT_TRUE(device.refresh(server));
    return device.recommend(server, 5)->note;
  };
  EXPECT_THAT(ask([](DeviceSettings& one) { one.query.epsilon *= 2; }), HasSubstr("ask the person again"));
  EXPECT_THAT(ask([](DeviceSettings& one) { one.query.refresh_hours /= 2; }), HasSubstr("refresh_hours"));
  EXPECT_THAT(ask([](DeviceSettings& one) { one.lifetime_epsilon *= 2; }), HasSubstr("lifetime_epsilon"));
  EXPECT_TRUE(server.requests.empty());
}

TEST_F(ConsentTest, NamesWhoAsksWhatForAndTheLimitsOfTheSettings) {
  Device device = open();
  EXPECT_THAT(device.agree(device.terms("", "Better pages", {.asking = true})).error().message,
              HasSubstr("who asks"));
  EXPECT_THAT(device.agree(device.terms("paper.example", "", {.asking = true})).error().message,
              HasSubstr("what for"));
  EXPECT_FALSE(device.agree(device.terms("paper.example", "Better pages", {})));
  ConsentTerms terms = device.terms("paper.example", "Better pages", {.training = true});
  terms.training_limits.epsilon.value = 1000;  // so that settings could follow
  EXPECT_THAT(device.agree(terms).error().message, HasSubstr("not those of the settings"));
  EXPECT_FALSE(device.consent());
}

TEST_F(ConsentTest, BytesAreReadBackAndOthersAreNone) {
  Device device = open();
  const Consent given{device.terms("paper.example", "Better pages", {.training = true}), now};
  const std::string bytes = encode(given);
  const auto read = decode_consent(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(encode(*read), bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_FALSE(decode_consent(bytes.substr(0, i)));
  EXPECT_FALSE(decode_consent(bytes + "x"));
  // What a file says that is no consent was not agreed to.
  ASSERT_TRUE(write_file_atomically(folder / "device" / "consent.sotto", "yes"));
  { const Device closed = std::move(device); }
  EXPECT_FALSE(open().consent());
}

TEST_F(ConsentTest, WithdrawalStopsEverything) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(
      device.agree(device.terms("paper.example", "Better pages", {.training = true, .asking = true})));
  ASSERT_TRUE(device.enrol(coordinator, token(), operator_key));
  ASSERT_NE(device.identity(), nullptr);
  auto round = device.take_part([] { return false; });
  ASSERT_TRUE(std::holds_alternative<ServerCall>(round.next()));  // under way
  ASSERT_TRUE(device.withdraw());
  round.lost("no network");
  EXPECT_TRUE(std::holds_alternative<ServerDone>(round.next())) << "it is not tried again";
  EXPECT_EQ(device.identity(), nullptr);
  for (const char* file : {"consent.sotto", "identity.sotto", "enrolment.sotto"})
    EXPECT_FALSE(fs::exists(folder / "device" / file)) << file;
  EXPECT_THAT(device.recommend(server, 5)->note, HasSubstr("nobody agreed"));
  EXPECT_FALSE(device.take_part(coordinator, hooks()));
  EXPECT_FALSE(device.enrol(coordinator, token(), operator_key));
  EXPECT_TRUE(server.requests.empty());
}

// The keys of the operator are gone from the device by then, and what is said with them is not kept again.
TEST_F(ConsentTest, AnOrderThatComesAfterAWithdrawalIsNotLookedAt) {
  Device device = open();
  ASSERT_TRUE(device.agree(device.terms("paper.example", "Better pages", {.training = true})));
  ASSERT_TRUE(device.enrol(coordinator, token(), operator_key));
  auto round = device.take_part([] { return false; });
  ASSERT_TRUE(std::holds_alternative<ServerCall>(round.next()));
  ASSERT_TRUE(device.withdraw());
  round.received({200, encode(rounds::OfferMessage{})});
  ASSERT_TRUE(std::holds_alternative<ServerDone>(round.next()));
  const auto done = round.result();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->outcome, Participation::Outcome::ended);
  for (const char* file : {"enrolment.sotto", "public-log.sotto"})
    EXPECT_FALSE(fs::exists(folder / "device" / file)) << file;
}

TEST_F(ConsentTest, TrainsOnlyUnderTheConditionsThatItsOwnerDemands) {
  Conditions now_is{.idle = true, .unmetered = true, .charging = true};
  auto device = Device::open(folder / "phone", settings,
                             {.clock = [this] { return privacy::ClockReading(now); },
                              .first_use = true,
                              .conditions = [&] { return now_is; }});
  ASSERT_TRUE(device) << device.error().message;
  ASSERT_TRUE(device->agree(device->terms("paper.example", "Better pages", {.training = true})));
  ASSERT_TRUE(device->enrol(coordinator, token(), operator_key));
  const auto outcome = [&] { return device->take_part(coordinator, hooks())->outcome; };
  EXPECT_EQ(outcome(), Participation::Outcome::no_round);
  const std::size_t calls = coordinator.calls.size();
  for (bool Conditions::*one : {&Conditions::idle, &Conditions::unmetered, &Conditions::charging}) {
    now_is.*one = false;
    EXPECT_EQ(outcome(), Participation::Outcome::not_now);
    now_is.*one = true;
  }
  EXPECT_EQ(coordinator.calls.size(), calls) << "nothing was sent";
}

// Every byte of every file below a folder.
std::string all_bytes(const fs::path& folder) {
  std::string bytes;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    bytes += entry.path().string();
    std::ifstream file(entry.path(), std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(file), {});
  }
  return bytes;
}

TEST_F(ConsentTest, WhatWasReadIsForgottenToTheLastByte) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.agree(device.terms("paper.example", "A page for you", {.asking = true})));
  ASSERT_TRUE(device.add_page({"N7", "secret-page"}, {1, 0}));
  EXPECT_EQ(device.clicks(), 1U);
  ASSERT_TRUE(device.add_row("secret-film", 4.0F, {{"weather", "secret-rain"}}));
  ASSERT_TRUE(device.set_profile({{"town", "secret-town"}}));
  ASSERT_TRUE(device.recommend(server, 5));
  const std::vector<std::string> secrets = {"secret-page", "secret-film", "secret-rain", "secret-town"};
  for (const std::string& secret : secrets) EXPECT_THAT(all_bytes(folder / "device"), HasSubstr(secret));
  ASSERT_TRUE(device.forget_reading());
  EXPECT_THAT(all_bytes(folder / "device"), ::testing::Not(HasSubstr("secret-")));
  for (const char* file : {"history.sotto", "impressions.sotto", "rows.sotto", "answers.sotto"})
    EXPECT_FALSE(fs::exists(folder / "device" / file)) << file;
  EXPECT_EQ(device.clicks(), 0U);
  EXPECT_TRUE(device.pages().empty());
  EXPECT_EQ(device.rows(), StoredRows());
  EXPECT_EQ(device.statement()->total.charges, 1U) << "what was told stays told";
  ASSERT_TRUE(Device::erase(std::move(device)));
  EXPECT_FALSE(fs::exists(folder / "device"));
}

TEST_F(ConsentTest, LetsGoWhatIsOlderThanItsOwnerKeepsIt) {
  settings.keep_days = 30;
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.add_page({"N1", "N2"}, {1, 0}));
  now += 20 * 24h;
  ASSERT_TRUE(device.add_page({"N3", "N4"}, {1, 0}));
  EXPECT_EQ(device.clicks(), 2U);
  EXPECT_THAT(device.pages().back().history, ::testing::ElementsAre("N1"));
  now += 20 * 24h;
  ASSERT_TRUE(device.recommend(server, 5));
  EXPECT_EQ(device.clicks(), 1U);
  EXPECT_EQ(device.pages().size(), 1U);
  now += 20 * 24h;
  { const Device closed = std::move(device); }
  EXPECT_EQ(open().clicks(), 0U) << "also when it was closed meanwhile";
}

TEST_F(ConsentTest, ExportsEverythingThatIsKept) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(
      device.agree(device.terms("paper.example", "Better pages", {.training = true, .asking = true})));
  ASSERT_TRUE(device.add_page({"N1", "N2"}, {1, 0}));
  ASSERT_TRUE(device.add_row("film", 4.0F, {{"weather", "rain"}}));
  ASSERT_TRUE(device.set_profile({{"town", "here"}}));
  ASSERT_TRUE(device.enrol(coordinator, token(), operator_key));
  ASSERT_EQ(device.recommend(server, 5)->source, Source::fresh_query);
  // Of a page that was asked for blindly.
  const BlindAnswerKept blind{now + 24h, {{"N3", 0.5F}}};
  ASSERT_TRUE(write_file_atomically(folder / "device" / "blind.sotto", encode(blind)));
  { const Device closed = std::move(device); }
  device = open();
  const auto text = device.export_all();
  ASSERT_TRUE(text) << text.error().message;
  const auto all = nlohmann::json::parse(*text);
  EXPECT_EQ(all["consent"]["purpose"], "Better pages");
  EXPECT_EQ(all["rows"][0]["item"], "film");
  EXPECT_EQ(all["rows"][0]["situation"][0]["value"], "rain");
  EXPECT_EQ(all["profile"][0]["value"], "here");
  EXPECT_EQ(all["settings"]["keep_days"], settings.keep_days);
  EXPECT_EQ(all["last_blind_answer"]["items"][0]["item"], "N3");
  ASSERT_EQ(all["questions"].size(), 1U);
  EXPECT_EQ(all["questions"][0]["record"], device.statement()->records) << "the charge that paid for it";
  EXPECT_FALSE(all["questions"][0]["question"].empty());
  // Whatever else comes to lie there must be thought of: it is exported, or the same for everybody.
  const std::map<std::string, std::string> exported = {{"history.sotto", "clicks"},
                                                       {"impressions.sotto", "pages"},
                                                       {"rows.sotto", "rows"},
                                                       {"answers.sotto", "questions"},
                                                       {"blind.sotto", "last_blind_answer"},
                                                       {"consent.sotto", "consent"},
                                                       {"enrolment.sotto", "enrolled_with"},
                                                       {"identity.sotto", "known_as"},
                                                       {"ledger.sotto", "ledger"}};
  const std::set<std::string> common = {"pack.sotto", "guide.sotto", "items.sotto", "public-log.sotto",
                                        "served-log.sotto"};
  std::size_t personal = 0;
  for (const auto& entry : fs::directory_iterator(folder / "device")) {
    const std::string file = entry.path().filename();
    if (common.contains(file)) continue;
    ASSERT_TRUE(exported.contains(file)) << file;
    EXPECT_FALSE(all[exported.at(file)].empty()) << file;
    ++personal;
  }
  EXPECT_EQ(personal, exported.size()) << "all of them are there";
  EXPECT_EQ(all["clicks"][0]["item"], "N1");
  EXPECT_EQ(all["pages"][0]["shown"][1]["item"], "N2");
  EXPECT_EQ(all["pages"][0]["shown"][0]["clicked"], true);
  EXPECT_TRUE(all["ledger"].is_object());
}

}  // namespace
}  // namespace sotto::device
