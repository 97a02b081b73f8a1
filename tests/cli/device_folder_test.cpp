#ifdef SOTTO_HAVE_NET

#include "cli/device_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "device/small_pack.h"
#include "device/wire/pack_codec.h"
#include "privacy/ledger/ledger_statement.h"
#include "test_paths.h"

namespace sotto::cli {
namespace {

using ::testing::HasSubstr;

class DeviceFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("XDG_STATE_HOME")) before_ = before;
    ::setenv("XDG_STATE_HOME", (work / "state").c_str(), 1);
  }
  void TearDown() override {
    if (before_)
      ::setenv("XDG_STATE_HOME", before_->c_str(), 1);
    else
      ::unsetenv("XDG_STATE_HOME");
  }

  // Made by a host that states a first use, as whoever deleted the folder would.
  Status begin(const fs::path& folder, const std::string& file = {}) {
    SOTTO_TRY(anchor, anchor_of(folder, file));
    SOTTO_CHECK(begin_device(folder, first_settings(), anchor, true));
    return {};
  }
  static bool is_spent(device::Device& device) {
    const auto statement = device.statement().value();
    return !statement.budgets.empty() && statement.budgets[0].closed.has_value();
  }
  static Result<bool> is_spent(const fs::path& folder, const std::string& file = {}) {
    SOTTO_TRY(const auto settings, read_settings(folder));
    SOTTO_TRY(auto device, open_device(folder, settings, file));
    return is_spent(device);
  }

  TempFolder work;
  DeviceAnchor anchor;

 private:
  std::optional<std::string> before_;
};

TEST_F(DeviceFolder, ThatIsDeletedDoesNotBringTheBudgetBack) {
  const fs::path folder = work / "reader";
  ASSERT_TRUE(begin(folder));
  EXPECT_FALSE(anchor.was_there);
  EXPECT_TRUE(anchor.file.string().starts_with((work / "state").string())) << anchor.file;
  EXPECT_FALSE(is_spent(folder).value());
  fs::remove_all(folder);
  ASSERT_TRUE(begin(folder));
  EXPECT_TRUE(anchor.was_there);
  EXPECT_TRUE(is_spent(folder).value());
  ASSERT_TRUE(begin(work / "another"));
  EXPECT_FALSE(is_spent(work / "another").value()) << "another device has its own";
}

TEST_F(DeviceFolder, AnOlderCopyOfItBringsNothingBack) {
  const fs::path folder = work / "reader";
  ASSERT_TRUE(begin(folder));
  fs::copy(folder, work / "older", fs::copy_options::recursive);
  auto more = read_settings(folder).value();
  more.lifetime_epsilon *= 2;  // the ledger has one record more
  ASSERT_TRUE(open_device(folder, more, {}));
  fs::remove_all(folder);
  fs::rename(work / "older", folder);
  EXPECT_TRUE(is_spent(folder).value());
}

TEST_F(DeviceFolder, TakesItsAnchorAlongWhenItIsMoved) {
  const std::string file = (work / "elsewhere" / "anchor").string();
  ASSERT_TRUE(begin(work / "reader", file));
  EXPECT_EQ(anchor.file, file);
  EXPECT_TRUE(fs::exists(file));
  fs::rename(work / "reader", work / "moved");
  EXPECT_FALSE(is_spent(work / "moved").value()) << "where it is, is noted";
  EXPECT_FALSE(is_spent(work / "moved", file).value());
  fs::remove(file);
  EXPECT_TRUE(is_spent(work / "moved").value()) << "gone with its past";
}

// An operator that calls reads about health "sports" could ask for them exactly: the person is shown.
TEST_F(DeviceFolder, ItsStatusShowsWhatTheOperatorCallsByAnotherNameNow) {
  const fs::path folder = work / "reader";
  ASSERT_TRUE(begin(folder));
  const auto status = [&](std::vector<std::string> flags) {
    std::vector<std::string> words = {"sotto", "device", "--store", folder.string(), "status"};
    words.insert(words.begin() + 1, flags.begin(), flags.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(run(static_cast<int>(argv.size()), argv.data(), add_commands), 0);
    return ::testing::internal::GetCapturedStdout();
  };
  constexpr std::size_t items = 40;
  device::DevicePack pack = device::testing::small_pack(items);
  const auto install = [&] {
    auto device = open_device(folder, read_settings(folder).value(), {}).value();
    ASSERT_TRUE(device.install(device::encode_pack(pack).value()));
  };
  install();
  EXPECT_THAT(status({}), ::testing::Not(HasSubstr("something else than before")));
  const auto at = std::find(pack.items.ids.begin(), pack.items.ids.end(), "N3") - pack.items.ids.begin();
  pack.items.categories[static_cast<std::size_t>(at)] = 2;
  install();
  std::string text = status({});
  EXPECT_THAT(text, HasSubstr("the operator calls 1 item something else than before"));
  EXPECT_THAT(text, HasSubstr("  N3: sports, before health (seen on 20"));
  const auto line = nlohmann::json::parse(status({"--json"}));
  ASSERT_EQ(line.at("label_changes").size(), 1U) << line;
  EXPECT_EQ(line["label_changes"][0]["item"], "N3");
  EXPECT_EQ(line["label_changes"][0]["before"], "health");
  EXPECT_EQ(line["label_changes"][0]["after"], "sports");

  for (auto& category : pack.items.categories) category = device::no_category;
  install();
  text = status({});
  const std::size_t all = nlohmann::json::parse(status({"--json"})).at("label_changes").size();
  EXPECT_GT(all, 10U);
  EXPECT_THAT(text, HasSubstr("without a category, before "));
  EXPECT_THAT(text, HasSubstr(fmt::format("and {} earlier ones: see --json", all - 10)));
}

TEST_F(DeviceFolder, OneThatHadNoAnchorIsGivenOneAsItIs) {
  const fs::path folder = work / "reader";
  ASSERT_TRUE(device::Device::open(folder, first_settings(), {.first_use = true}));
  ASSERT_TRUE(write_file_atomically(settings_file(folder), "", FileReaders::owner));
  EXPECT_FALSE(is_spent(folder).value());
  fs::remove(folder / "ledger.sotto");
  EXPECT_TRUE(is_spent(folder).value());
}

TEST_F(DeviceFolder, DoesNotHoldTheAnchorItself) {
  const auto inside = anchor_of(work / "reader", (work / "reader" / "anchor").string());
  ASSERT_FALSE(inside);
  EXPECT_THAT(inside.error().message, HasSubstr("name a file elsewhere"));
  EXPECT_FALSE(fs::exists(work / "reader"));
}

TEST_F(DeviceFolder, OneThatCannotBeMadeLeavesNothing) {
  const fs::path folder = work / "reader";
  auto settings = first_settings();
  settings.log.key = "no key";
  anchor = anchor_of(folder, {}).value();
  EXPECT_FALSE(begin_device(folder, settings, anchor, true));
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_FALSE(fs::exists(anchor.file));
  ASSERT_TRUE(begin(folder));
  EXPECT_FALSE(is_spent(folder).value());
}

}  // namespace
}  // namespace sotto::cli

#endif
