// sotto_device.h as a program in another language uses it. examples/reader_c is a whole one.

#include <nlohmann/json.hpp>

#include "device/device_fixture.h"
#include "device/sotto_device.h"
#include "rounds/enrolment.h"
#include "rounds/small_campaign.h"

namespace sotto::device {
namespace {

using testing::FakeServer;
using ::testing::HasSubstr;

struct Text {
  explicit Text(char* given) : text(given) {}
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() { sotto_text_free(text); }
  nlohmann::json json() const { return nlohmann::json::parse(text); }
  char* text;
};

class CDevice : public ::testing::Test {
 protected:
  ~CDevice() override { sotto_device_close(device); }
  void open(const char* settings = "ranking=private\nepsilon=1\nlifetime_epsilon=2\n") {
    device = sotto_device_open((folder / "device").c_str(), settings, &host, &error);
    ASSERT_NE(device, nullptr) << error.message;
  }
  void agree(std::uint32_t scope) {
    const Text terms(sotto_device_terms(device, "paper.example", "A page for you", scope, &error));
    ASSERT_NE(terms.text, nullptr) << error.message;
    ASSERT_EQ(sotto_device_agree(device, terms.text, &error), SOTTO_OK) << error.message;
  }
  // Carries a talk out as a host does.
  nlohmann::json carry_out(sotto_talk* talk, Transport& way) {
    EXPECT_NE(talk, nullptr) << error.message;
    if (talk == nullptr) return nullptr;
    while (true) {
      sotto_step step;
      EXPECT_EQ(sotto_talk_next(talk, &step, &error), SOTTO_OK) << error.message;
      if (step.kind == SOTTO_DONE) break;
      if (step.kind == SOTTO_WAIT) continue;
      ServerCall call{step.method,
                      step.path,
                      {},
                      std::string(reinterpret_cast<const char*>(step.body), step.body_length)};
      for (std::size_t i = 0; i < step.header_count; ++i)
        call.headers.emplace_back(step.header_names[i], step.header_values[i]);
      const auto answer = way.send(call);
      if (answer)
        sotto_talk_received(talk, answer->status, reinterpret_cast<const std::uint8_t*>(answer->body.data()),
                            answer->body.size(), &error);
      else
        sotto_talk_lost(talk, answer.error().message.c_str(), &error);
    }
    const Text result(sotto_talk_result(talk, &error));
    sotto_talk_free(talk);
    return result.text == nullptr ? nlohmann::json(nullptr) : result.json();
  }

  TempFolder folder;
  sotto_error error{};
  sotto_host host{sizeof(sotto_host), 1, nullptr, nullptr, nullptr, nullptr, nullptr};
  sotto_device* device = nullptr;
  FakeServer server{testing::small_pack(40)};
};

TEST_F(CDevice, RecommendsAsDevicesInCxxDo) {
  open();
  EXPECT_EQ(carry_out(sotto_device_refresh(device, &error), server)["new"], true);
  agree(SOTTO_ASKING);
  ASSERT_EQ(sotto_device_click(device, "N3", &error), SOTTO_OK) << error.message;
  const auto page = carry_out(sotto_device_recommend(device, 5, &error), server);
  EXPECT_EQ(page["source"], "fresh query") << page;
  EXPECT_EQ(page["items"].size(), 5U);
  const Text statement(sotto_device_statement(device, &error));
  EXPECT_EQ(statement.json()["total"]["charges"], 1) << statement.text;
}

TEST_F(CDevice, ConsentIsTheVeryTextThatWasShown) {
  open();
  EXPECT_EQ(carry_out(sotto_device_refresh(device, &error), server)["new"], true);
  EXPECT_EQ(carry_out(sotto_device_recommend(device, 5, &error), server)["source"], "local");
  const std::string token = rounds::sign_token({{}, true, rounds::campaign_begin}, rounds::operator_key());
  EXPECT_TRUE(carry_out(sotto_device_enrol(device, reinterpret_cast<const std::uint8_t*>(token.data()),
                                           token.size(), std::string(64, 'a').c_str(), nullptr, &error),
                        server)
                  .is_null());
  EXPECT_THAT(error.message, HasSubstr("nobody agreed"));
  EXPECT_TRUE(carry_out(sotto_device_train(device, &error), server).is_null());
  EXPECT_TRUE(server.requests.empty());

  const Text terms(sotto_device_terms(device, "paper.example", "A page for you", SOTTO_ASKING, &error));
  std::string other = terms.text;
  other.replace(other.find("\"epsilon\":1.0"), 13, "\"epsilon\":9.0");
  EXPECT_EQ(sotto_device_agree(device, other.c_str(), &error), SOTTO_WRONG_USE);
  EXPECT_EQ(sotto_device_agree(device, "{}", &error), SOTTO_WRONG_USE);
  EXPECT_EQ(sotto_device_agree(device, "yes", &error), SOTTO_WRONG_USE);
  EXPECT_STREQ(Text(sotto_device_consent(device, &error)).text, "null");
  ASSERT_EQ(sotto_device_agree(device, terms.text, &error), SOTTO_OK) << error.message;
  EXPECT_EQ(Text(sotto_device_consent(device, &error)).json()["purpose"], "A page for you");
  ASSERT_EQ(sotto_device_withdraw(device, &error), SOTTO_OK);
  EXPECT_EQ(carry_out(sotto_device_recommend(device, 5, &error), server)["source"], "local");
}

// A person's word about categories comes as a setting, like everything else that they decide.
TEST_F(CDevice, AsksExactlyAndForNothingWithCategoriesThatArentSensitive) {
  open("ranking=private\nreads=unprotected\nmechanism=coefficients\nnot_sensitive=sports, finance\n");
  const Text statement(sotto_device_statement(device, &error));
  EXPECT_EQ(statement.json()["not_sensitive"], nlohmann::json::array({"sports", "finance"}));
  agree(SOTTO_ASKING);
  carry_out(sotto_device_refresh(device, &error), server);
  EXPECT_EQ(carry_out(sotto_device_recommend(device, 5, &error), server)["source"], "fresh query");
  const Text after(sotto_device_statement(device, &error));
  EXPECT_EQ(after.json()["total"]["charges"], 0);
  EXPECT_EQ(sotto_device_open((folder / "x").c_str(), "not_sensitive=uncategorised", nullptr, &error),
            nullptr);
  EXPECT_THAT(error.message, HasSubstr("always sensitive"));
}

TEST_F(CDevice, ListsWhatItsOperatorCallsByAnotherNameNow) {
  open();
  DevicePack pack = testing::small_pack(40);
  const auto install = [&] {
    const std::string bytes = *encode_pack(pack);
    ASSERT_EQ(sotto_device_install_pack(device, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                        bytes.size(), &error),
              SOTTO_OK)
        << error.message;
  };
  install();
  EXPECT_EQ(Text(sotto_device_label_changes(device, &error)).json(), nlohmann::json::array());
  const auto at = std::find(pack.items.ids.begin(), pack.items.ids.end(), "N3") - pack.items.ids.begin();
  pack.items.categories[static_cast<std::size_t>(at)] = 2;
  install();
  const auto changes = Text(sotto_device_label_changes(device, &error)).json();
  ASSERT_EQ(changes.size(), 1U) << changes;
  EXPECT_EQ(changes[0]["item"], "N3");
  EXPECT_EQ(changes[0]["before"], "health");
  EXPECT_EQ(changes[0]["after"], "sports");
  EXPECT_EQ(Text(sotto_device_export(device, &error)).json()["label_changes"], changes);
  EXPECT_EQ(sotto_device_label_changes(nullptr, &error), nullptr);
  EXPECT_STREQ(error.message, "the device is NULL");
}

TEST_F(CDevice, SaysWhatIsWrongInsteadOfThrowing) {
  EXPECT_EQ(sotto_device_open(nullptr, nullptr, nullptr, &error), nullptr);
  EXPECT_STREQ(error.message, "the folder is NULL");
  EXPECT_EQ(error.code, SOTTO_WRONG_USE);
  EXPECT_EQ(sotto_device_open((folder / "x").c_str(), "rankin=local", nullptr, &error), nullptr);
  EXPECT_THAT(error.message, HasSubstr("ranking"));
  EXPECT_EQ(sotto_device_click(nullptr, "N1", nullptr), SOTTO_WRONG_USE) << "errors may go unread";
  sotto_host short_host = host;
  short_host.size = 4;
  EXPECT_EQ(sotto_device_open((folder / "x").c_str(), nullptr, &short_host, &error), nullptr);
  open();
  EXPECT_EQ(sotto_device_open((folder / "device").c_str(), nullptr, nullptr, &error), nullptr);
  EXPECT_EQ(sotto_device_click(device, "N1", &error), SOTTO_WRONG_USE);
  EXPECT_THAT(error.message, HasSubstr("no pack is installed"));
  EXPECT_EQ(sotto_device_install_pack(device, reinterpret_cast<const std::uint8_t*>("no"), 2, &error),
            SOTTO_WRONG_USE);
  sotto_talk* talk = sotto_device_refresh(device, &error);
  EXPECT_EQ(sotto_talk_result(talk, &error), nullptr);
  EXPECT_THAT(error.message, HasSubstr("not over"));
  EXPECT_EQ(sotto_device_erase(device, &error), SOTTO_WRONG_USE) << "a talk is under way";
  sotto_talk_free(talk);
  EXPECT_THAT(Text(sotto_device_settings()).text, HasSubstr("train_only_charging"));
  EXPECT_EQ(sotto_device_version(), static_cast<std::uint32_t>(SOTTO_DEVICE_VERSION));
}

TEST_F(CDevice, TalksKeepTheirDeviceAndGiveTheSameCallUntilItIsAnswered) {
  open();
  sotto_talk* talk = sotto_device_refresh(device, &error);
  sotto_device_close(device);
  device = nullptr;
  sotto_step step;
  ASSERT_EQ(sotto_talk_next(talk, &step, &error), SOTTO_OK);
  EXPECT_STREQ(step.path, "/v1/pack");
  ASSERT_EQ(sotto_talk_next(talk, &step, &error), SOTTO_OK);
  EXPECT_STREQ(step.path, "/v1/pack");
  sotto_talk_lost(talk, nullptr, &error);
  ASSERT_EQ(sotto_talk_next(talk, &step, &error), SOTTO_OK);
  EXPECT_EQ(step.kind, SOTTO_DONE);
  sotto_talk_received(talk, 200, nullptr, 0, &error);  // too late: changes nothing
  EXPECT_EQ(sotto_talk_result(talk, &error), nullptr);
  EXPECT_EQ(error.code, SOTTO_FAILED);
  sotto_talk_free(talk);
}

TEST_F(CDevice, TheHostKeepsTheAnchorAndTellsTheTime) {
  struct Kept {
    std::string anchor;
    std::int64_t time = 1'800'000'000;
  } kept;
  host.context = &kept;
  host.load_anchor = [](void* context, std::uint8_t* bytes, std::size_t* length) {
    const std::string& anchor = static_cast<Kept*>(context)->anchor;
    std::copy(anchor.begin(), anchor.end(), bytes);
    *length = anchor.size();
    return 0;
  };
  host.store_anchor = [](void* context, const std::uint8_t* bytes, std::size_t length) {
    static_cast<Kept*>(context)->anchor.assign(reinterpret_cast<const char*>(bytes), length);
    return 0;
  };
  host.read_clock = [](void* context, sotto_clock* now) {
    *now = {static_cast<Kept*>(context)->time, 0, 0, 1};
    return 0;
  };
  open();
  EXPECT_FALSE(kept.anchor.empty());
  carry_out(sotto_device_refresh(device, &error), server);
  agree(SOTTO_ASKING);
  EXPECT_EQ(carry_out(sotto_device_recommend(device, 5, &error), server)["source"], "fresh query");
  EXPECT_EQ(carry_out(sotto_device_recommend(device, 5, &error), server)["source"], "repeated query");
  kept.time += 24 * 3600;
  EXPECT_EQ(carry_out(sotto_device_recommend(device, 5, &error), server)["source"], "fresh query");
  ASSERT_EQ(sotto_device_erase(device, &error), SOTTO_OK) << error.message;
  device = nullptr;
  EXPECT_FALSE(fs::exists(folder / "device"));
  open();  // the host states first use as always; its anchor knows better
  carry_out(sotto_device_refresh(device, &error), server);
  agree(SOTTO_ASKING);
  EXPECT_EQ(carry_out(sotto_device_recommend(device, 5, &error), server)["source"], "popular");
}

TEST_F(CDevice, PagesStayHereAndAreForgotten) {
  open();
  const char* shown[] = {"A1", "A2", "A3"};
  const std::uint8_t clicked[] = {0, 1, 0}, wrong[] = {0, 2, 0};
  ASSERT_EQ(sotto_device_add_page(device, shown, clicked, 3, &error), SOTTO_OK) << error.message;
  EXPECT_EQ(sotto_device_add_page(device, shown, wrong, 3, &error), SOTTO_WRONG_USE);
  EXPECT_EQ(Text(sotto_device_export(device, &error)).json()["pages"].size(), 1U);
  const char *features[] = {"weather"}, *values[] = {"rain"}, *nothing[] = {nullptr};
  const float rating = 4.5F;
  ASSERT_EQ(sotto_device_add_row(device, "M1", &rating, features, values, 1, &error), SOTTO_OK)
      << error.message;
  ASSERT_EQ(sotto_device_add_row(device, "M2", nullptr, nullptr, nullptr, 0, &error), SOTTO_OK);
  EXPECT_EQ(sotto_device_add_row(device, "M3", nullptr, features, nothing, 1, &error), SOTTO_WRONG_USE);
  ASSERT_EQ(sotto_device_set_profile(device, features, values, 1, &error), SOTTO_OK);
  const auto kept = Text(sotto_device_export(device, &error)).json();
  ASSERT_EQ(kept["rows"].size(), 2U);
  EXPECT_EQ(kept["rows"][0]["rating"], 4.5);
  EXPECT_EQ(kept["rows"][0]["situation"][0]["value"], "rain");
  EXPECT_TRUE(kept["rows"][1]["rating"].is_null());
  EXPECT_EQ(kept["profile"][0]["feature"], "weather");
  ASSERT_EQ(sotto_device_forget(device, &error), SOTTO_OK);
  const auto left = Text(sotto_device_export(device, &error)).json();
  for (const char* list : {"pages", "rows", "profile"}) EXPECT_TRUE(left[list].empty()) << list;
}

}  // namespace
}  // namespace sotto::device
