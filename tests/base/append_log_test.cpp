// Logs of both kinds of links: what is read back, what an interrupted append leaves, what is damage.

#include "base/append_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/chain_hash.h"
#include "base/files.h"
#include "plain_files.h"
#include "test_paths.h"

namespace sotto {
namespace {

using ::testing::HasSubstr;

LogFormat format_of(LogFormat::Link link, bool garbled = false) {
  return {"diary", "SOTTODIA", 1, 4, link, 64, 4096, garbled, "restore it"};
}

class AppendLogs : public ::testing::TestWithParam<LogFormat::Link> {
 protected:
  void SetUp() override {
    if (GetParam() == LogFormat::Link::blake2b && !chain_hash({})) GTEST_SKIP() << "no libsodium";
  }
  Result<std::vector<std::string>> read(const LogFormat& format) {
    std::vector<std::string> bodies;
    SOTTO_TRY(auto log, AppendLog::open(path_, format, Durability::power_loss,
                                        [&](std::string_view body, std::string_view) -> Status {
                                          bodies.emplace_back(body);
                                          return {};
                                        }));
    SOTTO_CHECK(log.settle());
    return bodies;
  }
  Status append(const LogFormat& format, std::vector<std::string> bodies) {
    SOTTO_TRY(auto log,
              AppendLog::open(path_, format, Durability::process_end, [](auto, auto) { return Status{}; }));
    return log.append(bodies);
  }
  using Bodies = std::vector<std::string>;
  TempFolder folder_;
  const fs::path path_ = folder_ / "log";
  const LogFormat format_ = format_of(GetParam());
};

TEST_P(AppendLogs, ReadBackWhatWasAppendedAndBelongToOneOwner) {
  {
    auto log = AppendLog::create(path_, format_, "open", Bodies{"first"}, Durability::power_loss);
    ASSERT_TRUE(log) << log.error().message;
    ASSERT_TRUE(log->append(Bodies{"second", "third"}));
    EXPECT_EQ(log->bytes(), fs::file_size(path_));
    EXPECT_THAT(read(format_).error().message, HasSubstr("in use"));
  }
  EXPECT_EQ(fs::status(path_).permissions() & fs::perms::all, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(read(format_).value(), (Bodies{"first", "second", "third"}));
  EXPECT_THAT(AppendLog::create(path_, format_, "open", {}, Durability::power_loss).error().message,
              HasSubstr("exists already"));
  EXPECT_FALSE(append(format_, {std::string(65, 'x')}));
  EXPECT_FALSE(append(format_, {""}));
}

TEST_P(AppendLogs, CutOffAnInterruptedAppendOfAnyLength) {
  ASSERT_TRUE(AppendLog::create(path_, format_, "open", Bodies{"first"}, Durability::power_loss));
  const std::string kept = get(path_);
  ASSERT_TRUE(append(format_, {"second"}));
  const std::string whole = get(path_);
  for (std::size_t length = kept.size(); length < whole.size(); ++length) {
    put(path_, whole.substr(0, length));
    ASSERT_EQ(read(format_).value(), Bodies{"first"}) << length;
    ASSERT_EQ(get(path_), kept);
    put(path_, kept + std::string(length - kept.size(), '\0'));
    ASSERT_EQ(read(format_).value(), Bodies{"first"}) << length;
    ASSERT_EQ(get(path_), kept);
  }
}

TEST_P(AppendLogs, CallEveryOtherChangeDamage) {
  ASSERT_TRUE(AppendLog::create(path_, format_, "open", Bodies{"first", "second"}, Durability::power_loss));
  const std::string whole = get(path_);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    put(path_, damaged);
    ASSERT_FALSE(read(format_)) << at;
    ASSERT_EQ(get(path_), damaged);
  }
}

TEST_P(AppendLogs, LetTheLastFrameBeGarbledWhereAppendsAreNotSynced) {
  const LogFormat lenient = format_of(GetParam(), true);
  ASSERT_TRUE(AppendLog::create(path_, lenient, "open", Bodies{"first", "second"}, Durability::power_loss));
  std::string damaged = get(path_);
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  put(path_, damaged);
  EXPECT_EQ(read(lenient).value(), Bodies{"first"});
}

TEST_P(AppendLogs, RefuseAFileThatSomebodyElseChanged) {
  auto log = AppendLog::create(path_, format_, "open", Bodies{"first"}, Durability::power_loss);
  ASSERT_TRUE(log);
  std::ofstream(path_, std::ios::app) << 'x';
  EXPECT_THAT(log->append(Bodies{"second"}).error().message, HasSubstr("changed by another program"));
  EXPECT_TRUE(log->is_broken());
  fs::remove(path_);
  auto gone = AppendLog::create(path_, format_, "open", Bodies{"first"}, Durability::power_loss);
  fs::remove(path_);
  EXPECT_THAT(gone->append(Bodies{"second"}).error().message, HasSubstr("deleted by another program"));
}

INSTANTIATE_TEST_SUITE_P(BothLinks, AppendLogs,
                         ::testing::Values(LogFormat::Link::xxh3, LogFormat::Link::blake2b),
                         [](const auto& link) {
                           return link.param == LogFormat::Link::xxh3 ? "Xxh3" : "Blake2b";
                         });

TEST(AppendLog, NamesAnotherVersion) {
  const TempFolder folder;
  const LogFormat old{"diary", "SOTTODIA", 1, 4, LogFormat::Link::xxh3, 64, 4096, false, "restore it"};
  LogFormat later = old;
  later.version = 2;
  later.opening_bytes = 8;
  std::string bytes;
  ASSERT_TRUE(LogEncoder::begin(old, "open", bytes));
  bytes += std::string(64, 'x');
  EXPECT_THAT(LogReader::open(later, bytes).error().message,
              HasSubstr("has format 1, this program knows format 2"));
}

}  // namespace
}  // namespace sotto
