#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "full_disk.h"
#include "store_fixture.h"

namespace sotto::coordinator {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class StoreCrashes : public StoreTest {};
class StoreFiles : public StoreTest {};
class StoreConnections : public StoreTest {};
SOTTO_FOR_BOTH_STORES(StoreCrashes);
SOTTO_FOR_SQLITE(StoreFiles);
SOTTO_FOR_POSTGRESQL(StoreConnections);

TEST_P(StoreCrashes, EverythingIsThereAfterReopening) {
  {
    const auto store = open();
    ASSERT_TRUE(store->enrol({hash_number(1), hash_number(51), store_begin}));
    const SmallCampaign campaign = small_campaign_in(*store);
    ASSERT_TRUE(campaign.gather(*store, 1));
    ASSERT_TRUE(campaign.fold(*store, 1));
    ASSERT_TRUE(campaign.gather(*store, 2));
    ASSERT_TRUE(store->roll_back(campaign.hash, 0, store_begin, "a test"));
  }
  const auto store = open();
  const Digest campaign = SmallCampaign().hash;
  EXPECT_THAT(store->are_enrolled(std::vector{hash_number(1), hash_number(2)}).value(),
              ElementsAre(true, false));
  EXPECT_THAT(store->campaigns().value(), SizeIs(1));
  EXPECT_THAT(store->versions(campaign).value(), SizeIs(2));
  EXPECT_EQ(store->current_version(campaign).value()->round, 0U);
  EXPECT_THAT(store->log_records(0, 100).value(), SizeIs(6));
  EXPECT_THAT(store->actions(0, 100).value(), SizeIs(1));
  ASSERT_THAT(store->unfinished_orders().value(), SizeIs(1));
  EXPECT_EQ(store->unfinished_orders().value()[0].state, OrderState::summed);
  EXPECT_THAT(store->sums_of(SmallCampaign::round_hash(2)).value(),
              ElementsAre(SmallCampaign::sum(0), SmallCampaign::sum(1)));
  EXPECT_EQ(store->blob(store->versions(campaign).value()[1].model).value(), SmallCampaign::model(1));
  EXPECT_EQ(
      store->acquire("coordinator", "node a", store_begin, std::chrono::seconds(1)).value().fence.number, 2U);
}

// Rounds without end; after each step that returned it says so by one byte.
[[noreturn]] void make_rounds(const std::string& location, const IdentityKey& owner, std::uint8_t life,
                              int told) {
  auto store = open_store(location, owner);
  if (!store) ::_exit(1);
  SmallCampaign campaign;
  campaign.fence = take_lease(**store);
  campaign.attempt = life;
  const auto tell = [&](char what) {
    if (::write(told, &what, 1) != 1) ::_exit(2);
  };
  for (std::uint64_t round = (*store)->next_round(campaign.hash).value(); round < 100; ++round) {
    if (!(*store)->enrol({hash_number(static_cast<std::uint8_t>(round)),
                          hash_number(static_cast<std::uint8_t>(round)), store_begin}))
      ::_exit(3);
    tell('e');
    if (!campaign.gather(**store, round)) ::_exit(4);
    tell('g');
    if (!campaign.fold(**store, round)) ::_exit(5);
    tell('v');
  }
  ::_exit(6);
}

// What was promised before the kill, and nothing in halves.
void check_after_kill(Store& store, const SmallCampaign& campaign, std::uint64_t versions_before,
                      std::string_view told) {
  const auto count = [&](char what) {
    return static_cast<std::uint64_t>(std::count(told.begin(), told.end(), what));
  };
  const auto versions = store.versions(campaign.hash).value();
  EXPECT_GE(versions.size(), versions_before + count('v'));
  EXPECT_LE(versions.size(), versions_before + count('v') + 1);
  EXPECT_GE(store.count_enrolled().value(), count('e'));
  EXPECT_EQ(store.log_size().value(), 2 + 2 * versions.size()) << "every version has its leaf and head";
  EXPECT_EQ(store.current_version(campaign.hash).value(), versions.back());
  for (const ModelVersion& version : versions)
    EXPECT_EQ(store.blob(version.model).value(), SmallCampaign::model(version.round));
  // Of this life.
  for (std::uint64_t round = versions_before; round < versions.size(); ++round) {
    const auto order = store.order(SmallCampaign::round_hash(round, campaign.attempt)).value();
    ASSERT_TRUE(order);
    EXPECT_EQ(order->state, OrderState::folded);
    EXPECT_THAT(store.sums_of(order->round).value(), ::testing::IsEmpty());
  }
  const auto unfinished = store.unfinished_orders().value();
  ASSERT_LE(unfinished.size(), 1U);
  if (count('g') > count('v') && versions.size() == versions_before + count('v')) {
    ASSERT_THAT(unfinished, SizeIs(1));
    EXPECT_EQ(unfinished[0].state, OrderState::summed) << "its sums were sealed";
    EXPECT_THAT(store.sums_of(unfinished[0].round).value(), SizeIs(2));
  }
}

TEST_P(StoreCrashes, AKilledProcessLeavesWhatItPromisedAndNothingInHalves) {
  SmallCampaign campaign = small_campaign_in(*open());
  // Killed after so many words, wherever the process is by then.
  for (const std::size_t words : {1, 2, 3, 5, 7}) {
    const std::uint64_t versions_before = open()->versions(campaign.hash).value().size();
    ++campaign.attempt;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) make_rounds(location(), owner(), campaign.attempt, ends[1]);
    ::close(ends[1]);
    std::string told;
    char word = 0;
    while (told.size() < words && ::read(ends[0], &word, 1) == 1) told += word;
    ::kill(child, SIGKILL);
    while (::read(ends[0], &word, 1) == 1) told += word;
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << WEXITSTATUS(status);

    const auto store = open();
    check_after_kill(*store, campaign, versions_before, told);
    // As a coordinator does when it starts: fold what was summed, abandon the rest.
    campaign.fence = take_lease(*store);
    const auto unfinished = store->unfinished_orders().value();
    for (const StoredOrder& order : unfinished) {
      if (order.state == OrderState::summed) {
        ASSERT_TRUE(campaign.fold(*store, order.number));
      } else {
        ASSERT_TRUE(store->abandon_order(campaign.fence, order.round, "the coordinator was killed"));
      }
    }
  }
}

// A coordinator that is started twice by mistake, a report about a running one: whoever closes the store last
// takes SQLite's log away, and must not believe to be the last while another process writes there.
TEST_P(StoreCrashes, AnotherProcessThatOpensAndClosesItSeesAndIsSeen) {
  constexpr std::chrono::seconds lasts{30};
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    char word = 0;
    if (::read(ends[0], &word, 1) != 1) ::_exit(1);
    auto store = open_store(location(), owner());
    if (!store || !(*store)->are_enrolled(std::vector{hash_number(8)}).value().front()) ::_exit(2);
    if (!(*store)->acquire("coordinator", "node a", store_begin, lasts)) ::_exit(3);
    store->reset();
    ::_exit(0);
  }
  const auto store = open();
  const Lease lease = store->acquire("coordinator", "node a", store_begin, lasts).value();
  ASSERT_TRUE(store->enrol({hash_number(8), hash_number(58), store_begin}));
  ASSERT_EQ(::write(ends[1], "g", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ::close(ends[0]), ::close(ends[1]);
  EXPECT_TRUE(is_conflict(store->renew(lease, store_begin, lasts))) << "it is shut out by the later one";
}

TEST_P(StoreFiles, ACopyMadeWhileItIsOpenHasEverythingThatWasPromised) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    ASSERT_TRUE(campaign.gather(*store, round));
    // As a power cut would leave them: with the log that is not yet in the database.
    const fs::path copy = folder() / ("copy" + std::to_string(round));
    fs::copy(location(), copy, fs::copy_options::recursive);
    const auto again = open_store(copy.string(), owner()).value();
    EXPECT_EQ(again->versions(campaign.hash).value(), store->versions(campaign.hash).value());
    EXPECT_EQ(again->unfinished_orders().value(), store->unfinished_orders().value());
    EXPECT_THAT(again->sums_of(SmallCampaign::round_hash(round)).value(), SizeIs(2));
    ASSERT_TRUE(campaign.fold(*store, round));
  }
}

TEST_P(StoreFiles, ABackupTakenWhileItIsOpenIsAStore) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(campaign.gather(*store, 1));
  // As docs/deploy.md says: the database, then the blobs.
  const fs::path copy = folder() / "backup";
  fs::create_directory(copy);
  ASSERT_TRUE(connect()->run(fmt::format("VACUUM INTO '{}'", (copy / "store.sqlite").string())));
  ASSERT_TRUE(campaign.fold(*store, 1));
  fs::copy(fs::path(location()) / "blobs", copy / "blobs", fs::copy_options::recursive);

  const auto again = open_store(copy.string(), owner()).value();
  EXPECT_THAT(again->versions(campaign.hash).value(), SizeIs(1));
  EXPECT_EQ(again->unfinished_orders().value()[0].state, OrderState::summed);
  EXPECT_TRUE(campaign.fold(*again, 1)) << "the fold is done again";
}

// As docs/deploy.md says: pg_dump while it is open, pg_restore into an empty database.
TEST_P(StoreConnections, ADumpTakenWhileItIsOpenIsAStoreWhereItIsRestored) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(store->enrol({hash_number(1), hash_number(51), store_begin}));
  ASSERT_TRUE(campaign.gather(*store, 1));
  const std::string dump = (folder() / "sotto.dump").string();
  // The tests keep each store in a schema of its own; an operator has a database for it.
  const std::string schema = location().substr(location().rfind("%3D") + 3);
  const auto not_dumped = postgres_program_fails(
      "pg_dump", {"--format=custom", "--file=" + dump, "--schema=" + schema, location()});
  ASSERT_FALSE(not_dumped) << *not_dumped;
  ASSERT_TRUE(campaign.fold(*store, 1));
  const std::string database = new_postgres_database();
  const auto not_restored =
      postgres_program_fails("pg_restore", {"--exit-on-error", "--dbname=" + database, dump});
  ASSERT_FALSE(not_restored) << *not_restored;

  const auto again = open_store(database + "&options=-csearch_path%3D" + schema, owner());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_THAT((*again)->versions(campaign.hash).value(), SizeIs(1));
  EXPECT_EQ((*again)->blob((*again)->versions(campaign.hash).value()[0].model).value(),
            SmallCampaign::model(0));
  EXPECT_THAT((*again)->are_enrolled(std::vector{hash_number(1)}).value(), ElementsAre(true));
  EXPECT_EQ((*again)->unfinished_orders().value()[0].state, OrderState::summed);
  EXPECT_TRUE(campaign.fold(**again, 1)) << "the fold is done again";
}

TEST_P(StoreFiles, AFullDiskIsAnErrorThatChangesNothing) {
  if (GetParam() != SqlDialect::sqlite)
    GTEST_SKIP() << "the disk of the PostgreSQL server cannot be filled here";
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(store->open_order(campaign.fence, campaign.order(1)));
  ASSERT_TRUE(store->begin_unmasking(campaign.fence, SmallCampaign::round_hash(1)));
  const GroupSum large{0, 20, std::vector<std::uint32_t>(1'000'000, 7)};
  {
    const FullDisk full(1'000'000);
    const auto kept = store->keep_sum(campaign.fence, SmallCampaign::round_hash(1), large);
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().kind, ErrorKind::failed);
    EXPECT_FALSE(store->keep_blob(std::string(2'000'000, 'x')));
    EXPECT_EQ(store->order(SmallCampaign::round_hash(1)).value()->state, OrderState::unmasking);
    EXPECT_THAT(store->sums_of(SmallCampaign::round_hash(1)).value(), ::testing::IsEmpty());
  }
  ASSERT_TRUE(store->keep_sum(campaign.fence, SmallCampaign::round_hash(1), large)) << "there is room again";
  EXPECT_THAT(store->sums_of(SmallCampaign::round_hash(1)).value(), ElementsAre(large));
}

TEST_P(StoreFiles, DamageIsRefusedAtOpening) {
  {
    const auto store = open();
    small_campaign_in(*store);
    for (std::uint8_t device = 0; device < 200; ++device)
      ASSERT_TRUE(store->enrol({hash_number(device), hash_number(device), store_begin}));
  }
  const fs::path file = fs::path(location()) / "store.sqlite";
  const std::string good = read_file(file).value();
  int refused = 0;
  constexpr std::size_t page = 4096;
  ASSERT_GT(good.size(), 10 * page);
  // The header of every page in turn: none of them may be believed.
  for (std::size_t at = 0; at < good.size(); at += page) {
    std::string bad = good;
    for (std::size_t i = 0; i < 16; ++i) bad[at + i] = static_cast<char>(0xA5);
    ASSERT_TRUE(write_file_atomically(file, bad));
    const auto opened = open_store(location(), owner());
    if (opened) continue;
    ++refused;
    EXPECT_THAT(opened.error().message, AnyOf(HasSubstr("damaged"), HasSubstr("another program")));
  }
  EXPECT_EQ(refused, static_cast<int>(good.size() / page));
  for (const std::string_view wrong :
       {"not a database at all, but a text that is long enough to be one, says nobody "
        "who has seen it, or so I believe",
        "short"}) {
    ASSERT_TRUE(write_file_atomically(file, wrong));
    EXPECT_FALSE(open_store(location(), owner()));
  }
  ASSERT_TRUE(write_file_atomically(file, good));
  EXPECT_TRUE(open_store(location(), owner()));
}

TEST_P(StoreFiles, NobodyElseMayReadTheFiles) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  for (const auto& entry : fs::recursive_directory_iterator(location())) {
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    if (entry.is_regular_file()) {
      EXPECT_EQ(status.st_mode & 0077, 0U) << entry.path();
    }
  }
}

TEST_P(StoreConnections, ALostConnectionIsMadeAgain) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  break_postgres_connections();
  EXPECT_THAT(store->versions(campaign.hash).value(), SizeIs(1));
  break_postgres_connections();
  EXPECT_TRUE(campaign.gather(*store, 1));
  EXPECT_TRUE(campaign.fold(*store, 1));
  EXPECT_TRUE(store->check());
}

TEST_P(StoreConnections, AConnectionLostWithinATransactionTakesItWithIt) {
  const auto store = open();
  Door door(connect());
  const auto insert = [&](bool breaks) {
    return door.write([&](Connection& database) -> Status {
      SOTTO_CHECK(database.run("INSERT INTO public_log(place, record) VALUES(0, $1)", {SqlBytes{"a"}}));
      if (breaks) break_postgres_connections();
      SOTTO_CHECK(database.run("INSERT INTO public_log(place, record) VALUES(1, $1)", {SqlBytes{"b"}}));
      return {};
    });
  };
  const Status lost = insert(true);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, ErrorKind::failed);
  EXPECT_THAT(lost.error().message, HasSubstr("lost the connection"));
  EXPECT_EQ(store->log_size().value(), 0U);
  EXPECT_TRUE(insert(false));
  EXPECT_EQ(store->log_size().value(), 2U);
}

TEST_P(StoreCrashes, AnExceptionInATransactionRollsItBack) {
  const auto store = open();
  Door door(connect());
  EXPECT_THROW(
      [&] {
        const auto ignored = door.write([](Connection& database) -> Status {
          SOTTO_CHECK(database.run("INSERT INTO public_log(place, record) VALUES(0, $1)", {SqlBytes{"a"}}));
          throw std::bad_alloc();
        });
      }(),
      std::bad_alloc);
  EXPECT_EQ(store->log_size().value(), 0U);
  EXPECT_TRUE(store->enrol({hash_number(1), hash_number(2), store_begin})) << "nobody waits for a lock";
}

}  // namespace
}  // namespace sotto::coordinator
