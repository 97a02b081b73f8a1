// What happens to a ledger's file: cut anywhere, changed anywhere, rolled back, shared, full.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "ledger_fixture.h"
#include "privacy/ledger/ledger_record.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;

class LedgerFile : public LedgerTest {
 protected:
  // Settings and four charges of different length; returns where each record ends.
  std::vector<std::size_t> write_five_records() {
    auto ledger = create(settings({lifetime(10)}));
    std::vector<std::size_t> ends = {bytes_of(file()).size()};
    for (const char* about : {"", "a", "round seventeen", "front page"}) {
      EXPECT_TRUE(ledger->charge(serving(pure(0.5), about), noon));
      ends.push_back(bytes_of(file()).size());
    }
    return ends;
  }
};

TEST_F(LedgerFile, OpensAfterBeingCutAtEveryByte) {
  const std::vector<std::size_t> ends = write_five_records();
  const std::string whole = bytes_of(file());
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    put_bytes(file(), whole.substr(0, length));
    const auto complete = static_cast<std::uint64_t>(
        std::count_if(ends.begin(), ends.end(), [&](auto end) { return end <= length; }));
    auto ledger = Ledger::open(file(), noon);
    ASSERT_EQ(ledger.has_value(), complete > 0) << length;
    if (!ledger) continue;
    ASSERT_EQ(ledger->records(), complete) << length;
    ASSERT_EQ(bytes_of(file()).size(), ends[complete - 1]) << "the rest is cut off";
    if (length % 16 != 0) continue;  // every charge waits for the disk
    ASSERT_TRUE(ledger->charge(serving(pure(0.5)), noon)) << "and the ledger goes on";
    ASSERT_EQ(read_statement(file(), noon)->records, complete + 1);
  }
}

TEST_F(LedgerFile, RefusesEveryChangedByteAndLeavesTheFileAlone) {
  write_five_records();
  const std::string whole = bytes_of(file());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const unsigned char flip : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ flip);
      put_bytes(file(), changed);
      ASSERT_FALSE(Ledger::open(file(), noon)) << "byte " << i;
      ASSERT_EQ(bytes_of(file()), changed) << "evidence is kept";
    }
  }
}

TEST_F(LedgerFile, RefusesRemovedRepeatedAndSwappedRecords) {
  const std::vector<std::size_t> ends = write_five_records();
  const std::string whole = bytes_of(file());
  const auto record = [&](std::size_t i) { return whole.substr(ends[i - 1], ends[i] - ends[i - 1]); };
  const std::string before = whole.substr(0, ends[0]);
  for (const std::string& changed :
       {before + record(2) + record(3) + record(4), before + record(1) + record(3) + record(4),
        before + record(1) + record(1) + record(2), before + record(2) + record(1)}) {
    put_bytes(file(), changed);
    EXPECT_TRUE(refused(Ledger::open(file(), noon), "damaged at record"));
  }
  put_bytes(file(), whole + "more");
  EXPECT_TRUE(Ledger::open(file(), noon)) << "fewer bytes than a head are an interrupted append";
  put_bytes(file(), whole + std::string(100, 'x'));
  EXPECT_TRUE(refused(Ledger::open(file(), noon), "damaged at record 6"));
}

TEST_F(LedgerFile, ZerosAfterAPowerFailureAreAnInterruptedAppend) {
  const std::vector<std::size_t> ends = write_five_records();
  const std::string whole = bytes_of(file());
  for (std::size_t kept = ends[3]; kept <= ends[4] - 32; ++kept) {
    std::string torn = whole.substr(0, kept);
    torn.resize(whole.size(), '\0');
    put_bytes(file(), torn);
    const auto ledger = Ledger::open(file(), noon);
    ASSERT_TRUE(ledger) << kept << ": " << ledger.error().message;
    ASSERT_EQ(ledger->records(), 4U);
  }
}

TEST_F(LedgerFile, HasOneOwnerAtATime) {
  auto ledger = create(settings({lifetime(10)}));
  EXPECT_TRUE(refused(Ledger::open(file(), noon), "in use"));
  ASSERT_TRUE(read_statement(file(), noon)) << "but anyone may look";
  { const Ledger closed = std::move(*ledger); }
  EXPECT_TRUE(Ledger::open(file(), noon));
}

TEST_F(LedgerFile, IsReadableByItsOwnerOnlyAndNeverReplaced) {
  {
    auto ledger = create(settings({lifetime(10)}));
    ASSERT_TRUE(ledger);
  }
  struct stat status {};
  ASSERT_EQ(stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_TRUE(refused(create(settings({lifetime(10)})), "exists already"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1) << "no temporary file";
  EXPECT_TRUE(refused(Ledger::open(folder_ / "nothing", noon), "No such file"));
  EXPECT_FALSE(Ledger::open(folder_.path(), noon));
}

TEST_F(LedgerFile, AFullDiskGivesNoReceiptAndLeavesAValidFile) {
  auto ledger = create(settings({lifetime(10)}));
  const std::string before = bytes_of(file());
  for (std::size_t room = 0; room < 60; room += 7) {
    const FullDisk disk(before.size() + room);
    const auto receipt = ledger->charge(serving(pure(0.1)), noon);
    ASSERT_FALSE(receipt);
    EXPECT_EQ(receipt.error().kind, ErrorKind::failed);
  }
  EXPECT_EQ(bytes_of(file()), before);
  EXPECT_TRUE(ledger->charge(serving(pure(0.1)), noon)) << "there is room again";
  EXPECT_EQ(ledger->records(), 2U);
  EXPECT_EQ(read_statement(file(), noon)->records, 2U);
}

TEST_F(LedgerFile, NoticesWhenItIsDeletedOrChangedWhileOpen) {
  auto ledger = create(settings({lifetime(10)}));
  const std::string before = bytes_of(file());
  std::filesystem::resize_file(file(), before.size() - 1);
  EXPECT_TRUE(refused(ledger->charge(serving(pure(0.1)), noon), "changed by another program"));
  put_bytes(file(), before);
  EXPECT_TRUE(refused(ledger->charge(serving(pure(0.1)), noon), "open it again"));
  { const Ledger closed = std::move(*ledger); }
  auto again = Ledger::open(file(), noon);
  std::filesystem::remove(file());
  EXPECT_TRUE(refused(again->charge(serving(pure(0.1)), noon), "deleted by another program"));
}

TEST_F(LedgerFile, RecordsHaveOneEncoding) {
  LedgerSettings with = settings({lifetime(10), {BudgetWindow::day, health_category, 0.5, 1e-7}});
  const std::vector<Mechanism> mechanisms = {
      GaussianNoise{1.5},       LaplaceNoise{2},
      RandomisedResponse{1, 7}, DiscreteGaussianNoise{9, 3, 100, 20, 5},
      SkellamNoise{100, 20, 5}, PureDp{0.1},
      ApproximateDp{0.1, 1e-9}, ConcentratedDp{0.2}};
  std::vector<LedgerRecord> records = {SettingsRecord{noon, with}};
  records.emplace_back(ChargeRecord{noon, {ReleasePurpose::labels, std::nullopt, {}, "freie Wörter"}});
  records.emplace_back(ClosingRecord{noon, ClosingReason::past_unknown});
  records.emplace_back(
      ClosingRecord{Moment(noon, RunningTime{7, std::chrono::hours(1)}), ClosingReason::clock_mended});
  for (const Mechanism& mechanism : mechanisms) {
    PrivacyEvent event{mechanism, Adjacency::replace_one, Unit::impression, NoSampling{}, 3, 1e-12};
    records.emplace_back(
        ChargeRecord{noon, {ReleasePurpose::training, event, {health_category, sports_category}, "x"}});
    event.log_ratio = 1e-15;
    records.emplace_back(ChargeRecord{noon, {ReleasePurpose::training, event, {health_category}, "y"}});
  }
  for (const LedgerRecord& record : records) {
    const std::string bytes = encode(record);
    const auto decoded = decode_record(bytes);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(encode(*decoded), bytes);
    if (const auto* charge = std::get_if<ChargeRecord>(&record); charge != nullptr && charge->charge.event) {
      EXPECT_EQ(std::get<ChargeRecord>(*decoded).charge.event->log_ratio, charge->charge.event->log_ratio);
    }
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(decode_record(std::string_view(bytes).substr(0, length))) << length;
    }
    EXPECT_FALSE(decode_record(bytes + '\0'));
  }
}

// A chain that verifies may still have been written by something else.
TEST_F(LedgerFile, RefusesRecordsThatCannotFollowEachOther) {
  const auto settings_body = encode(SettingsRecord{noon, settings({lifetime(10)})});
  const auto charge_body = [](UtcTime time, Charge charge) {
    return encode(ChargeRecord{time, std::move(charge)});
  };
  const Charge good{ReleasePurpose::serving, pure(0.1), {health_category}, ""};
  Charge unknown = good;
  unknown.categories = {9};
  Charge click = good;
  click.event->unit = Unit::click;
  LedgerSettings other = settings({lifetime(10)});
  other.order = RequestOrder::planned;
  struct Case {
    std::vector<std::string> bodies;
    const char* words;
  };
  for (const Case& c : {Case{{charge_body(noon, good)}, "does not begin with its settings"},
                        Case{{settings_body, charge_body(at(2026, 3, 13), good)}, "dated before"},
                        Case{{settings_body, charge_body(noon, unknown)}, "category"},
                        Case{{settings_body, charge_body(noon, click)}, "whole user"},
                        Case{{settings_body, encode(SettingsRecord{noon, other})}, "keeps"},
                        Case{{settings_body, "nonsense"}, "record 2"}}) {
    std::filesystem::remove(file());
    const std::string id(ledger_format.opening_bytes, 'i');
    ASSERT_TRUE(AppendLog::create(file(), ledger_format, id, c.bodies, Durability::power_loss));
    EXPECT_TRUE(refused(Ledger::open(file(), noon), c.words));
  }
}

}  // namespace
}  // namespace sotto::privacy
