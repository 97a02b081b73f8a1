// A host that knows sotto_device.h alone takes part in a real round beside nineteen devices in C++: its
// vector is in the sum, and its ledger is charged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/chain_hash.h"
#include "device/sotto_device.h"
#include "running_deployment.h"

namespace sotto::coordinator {
namespace {

using device::Participation;
using Outcome = Participation::Outcome;

// Everything that it has of the library is C.
class CHost {
 public:
  CHost(const fs::path& folder, std::string url, const rounds::Campaign& campaign) : url_(std::move(url)) {
    sotto_host host{};
    host.size = sizeof host;
    host.first_use = 1;
    const std::string settings = fmt::format(
        "ranking=local\nlifetime_epsilon=1000\nbudget_delta=1e-4\ntraining_epsilon={}\ntraining_delta={}\n"
        "least_group={}\nleast_corrupted=0.1\nmost_training_seconds={}\n",
        campaign.epsilon, campaign.delta, campaign.encoding.devices, campaign.max_training_seconds);
    device_ = sotto_device_open(folder.c_str(), settings.c_str(), &host, &error_);
  }
  ~CHost() { sotto_device_close(device_); }
  CHost(const CHost&) = delete;
  CHost& operator=(const CHost&) = delete;

  bool is_open() const { return device_ != nullptr; }
  const char* error() const { return error_.message; }
  bool agree(const std::string& purpose) {
    char* terms = sotto_device_terms(device_, url_.c_str(), purpose.c_str(), SOTTO_TRAINING, &error_);
    const bool agreed = terms != nullptr && sotto_device_agree(device_, terms, &error_) == SOTTO_OK;
    sotto_text_free(terms);
    return agreed;
  }
  bool see(const std::vector<std::string>& shown, const std::vector<std::uint8_t>& clicked) {
    std::vector<const char*> items;
    for (const std::string& item : shown) items.push_back(item.c_str());
    return sotto_device_add_page(device_, items.data(), clicked.data(), items.size(), &error_) == SOTTO_OK;
  }
  std::string enrol(const std::string& token, const std::string& operator_key) {
    return talk(sotto_device_enrol(device_, reinterpret_cast<const uint8_t*>(token.data()), token.size(),
                                   operator_key.c_str(), nullptr, &error_));
  }
  std::string train() { return talk(sotto_device_train(device_, &error_)); }
  std::string statement() { return text(sotto_device_statement(device_, &error_)); }

 private:
  static std::string text(char* given) {
    std::string own = given == nullptr ? "" : given;
    sotto_text_free(given);
    return own;
  }
  // Carries it out; what came of it, or why nothing did.
  std::string talk(sotto_talk* talk) {
    if (talk == nullptr) return error_.message;
    net::HttpClientSettings http;
    http.url = url_;
    http.timeout = std::chrono::seconds(60);
    auto client = net::HttpClient::create(http).value();
    sotto_step step{};
    while (sotto_talk_next(talk, &step, &error_) == SOTTO_OK && step.kind != SOTTO_DONE) {
      if (step.kind == SOTTO_WAIT) {
        std::this_thread::sleep_for(std::chrono::milliseconds(step.wait_milliseconds));
        continue;
      }
      std::vector<std::pair<std::string, std::string>> headers;
      for (size_t i = 0; i < step.header_count; ++i)
        headers.emplace_back(step.header_names[i], step.header_values[i]);
      const bool posts = std::string_view(step.method) == "POST";
      const auto answer =
          client.send({.method = posts ? net::HttpMethod::post : net::HttpMethod::get,
                       .path = step.path,
                       .headers = headers,
                       .body = std::string(reinterpret_cast<const char*>(step.body), step.body_length),
                       .content_type = posts ? "application/octet-stream" : ""});
      if (!answer)
        sotto_talk_lost(talk, "nobody answers", &error_);
      else
        sotto_talk_received(talk, answer->status, reinterpret_cast<const uint8_t*>(answer->body.data()),
                            answer->body.size(), &error_);
    }
    std::string result = text(sotto_talk_result(talk, &error_));
    sotto_talk_free(talk);
    return result.empty() ? error_.message : result;
  }

  const std::string url_;
  sotto_error error_{};
  sotto_device* device_ = nullptr;
};

TEST(CHostInARound, IsCountedAndChargedLikeEveryOtherDevice) {
  RunningDeployment deployment;
  const auto started = deployment.start();
  ASSERT_TRUE(started) << started.error().message;
  deployment.devices.pop_back();
  CHost host(deployment.folder / "c", deployment.running->url(), deployment.campaign);
  ASSERT_TRUE(host.is_open()) << host.error();
  EXPECT_THAT(host.train(), ::testing::HasSubstr("agree")) << "nobody was asked yet";
  ASSERT_TRUE(host.agree(deployment.campaign.purpose)) << host.error();
  const std::string enrolled = host.enrol(deployed_token(99), to_hex(rounds::operator_key().public_key()));
  ASSERT_NE(enrolled.find('{'), std::string::npos) << enrolled;
  for (const device::StoredImpression& page : impressions_of(50, 3))
    ASSERT_TRUE(host.see(page.shown, page.clicked)) << host.error();

  std::string part;
  std::thread c_host([&] {
    for (int i = 0; i < 200; ++i) {
      part = host.train();
      if (part.find("no round") == std::string::npos) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  const auto others = deployment.everybody();
  c_host.join();
  const auto said = nlohmann::json::parse(part, nullptr, false);
  ASSERT_TRUE(said.is_object()) << part;
  EXPECT_EQ(said["outcome"], "took part") << part;
  // By what it knows that the others were shown the same.
  ASSERT_TRUE(said["checked"].is_object()) << part;
  EXPECT_EQ(said["checked"]["campaign_entry"], 0) << part;
  EXPECT_GE(said["checked"]["log_entries"], 2) << part;
  EXPECT_EQ(said["checked"]["campaign"], to_hex(deployment.running->campaign().hash));
  EXPECT_EQ(said["checked"]["witnesses_needed"], deployment.campaign.witnesses_needed);
  EXPECT_EQ(std::ranges::count(others, Outcome::took_part, &Participation::outcome),
            static_cast<std::ptrdiff_t>(deployed_group) - 1);
  const auto sum = deployment.first_sum();
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->arrived, deployed_group);
  const auto statement = nlohmann::json::parse(host.statement(), nullptr, false);
  ASSERT_TRUE(statement.is_object());
  EXPECT_EQ(statement["total"]["charges"], 1) << statement;
}

}  // namespace
}  // namespace sotto::coordinator
