#include "coordinator/store/schema.h"
#include "store_fixture.h"

namespace sotto::coordinator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StoreSchema : public StoreTest {
 protected:
  Status migrate(const std::vector<SchemaStep>& steps) const {
    Door door(connect());
    return bring_up_to_date(door, owner(), steps);
  }
};
SOTTO_FOR_BOTH_STORES(StoreSchema);

TEST_P(StoreSchema, AStoreBelongsToOneKey) {
  small_campaign_in(*open());
  const auto other = open_store(location(), hash_number(201));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(other.error().message, HasSubstr("belongs to the coordinator key c8c8c8"));
  EXPECT_EQ(open()->log_size().value(), 4U);
}

TEST_P(StoreSchema, AnEarlierStoreIsBroughtUpToDateAndKeepsItsContent) {
  small_campaign_in(*open());
  std::vector<SchemaStep> steps = schema_steps(GetParam());
  steps.push_back(
      {"ALTER TABLE enrolments ADD COLUMN region TEXT", "CREATE INDEX by_region ON enrolments(region)"});
  ASSERT_TRUE(migrate(steps));
  ASSERT_TRUE(migrate(steps)) << "done already";
  EXPECT_TRUE(connect()->run("SELECT region FROM enrolments"));
}

// Whether devices were charged was not kept then: it counts as if.
TEST_P(StoreSchema, OrdersOfAStoreBeforeTheyWereCountedAllCount) {
  std::vector<SchemaStep> steps = schema_steps(GetParam());
  ASSERT_GT(steps.size(), 2U);
  steps.resize(2);
  if (GetParam() == SqlDialect::sqlite) {
    fs::create_directory(location());
    ASSERT_TRUE(check_sqlite(*connect())) << "it is made ours";
  }
  ASSERT_TRUE(migrate(steps));
  const auto connection = connect();
  const Digest campaign = hash_number(1);
  ASSERT_TRUE(connection->run("INSERT INTO campaigns VALUES($1, 0, $1, 'open', 0)", {sql_bytes(campaign)}));
  std::int64_t place = 0;
  for (const char* state : {"folded", "abandoned", "unmasking"}) {
    ASSERT_TRUE(connection->run("INSERT INTO orders VALUES($1, $2, $3, $4, $4, $5, '')",
                                {sql_bytes(hash_number(static_cast<std::uint8_t>(10 + place))), place,
                                 place + 1, sql_bytes(campaign), std::string_view(state)}));
    ++place;
  }
  ASSERT_TRUE(
      connection->run("INSERT INTO versions VALUES($1, 0, $1, NULL, NULL, 0, 1)", {sql_bytes(campaign)}));
  ASSERT_TRUE(connection->run("INSERT INTO evaluations VALUES($1, 0, 20, 0, 0, 0)", {sql_bytes(campaign)}));
  const auto store = open();
  EXPECT_EQ(store->count_orders(campaign).value(), (OrderCounts{3, 1, 1}));
  const Fence fence = take_lease(*store);
  ASSERT_EQ(store->unfinished_orders().value().size(), 1U);
  EXPECT_TRUE(store->abandon_order(fence, store->unfinished_orders().value()[0].round, "a later version"));
  EXPECT_EQ(store->count_orders(campaign).value(), (OrderCounts{3, 1, 2}));
  EXPECT_TRUE(is_conflict(
      store->open_order(fence, {hash_number(99), 0, campaign, "order", OrderState::open, {}, true})))
      << "the version was measured";
}

TEST_P(StoreSchema, AStoreOfALaterVersionIsRefusedAndLeftAlone) {
  small_campaign_in(*open());
  std::vector<SchemaStep> steps = schema_steps(GetParam());
  steps.push_back({"ALTER TABLE enrolments ADD COLUMN region TEXT"});
  ASSERT_TRUE(migrate(steps));
  const auto opened = open_store(location(), owner());
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("install the sotto that wrote it"));
  EXPECT_TRUE(connect()->run("SELECT region FROM enrolments"));
}

TEST_P(StoreSchema, AStepThatFailsLeavesTheStoreAsItWas) {
  small_campaign_in(*open());
  std::vector<SchemaStep> steps = schema_steps(GetParam());
  steps.push_back(
      {"ALTER TABLE enrolments ADD COLUMN region TEXT", "CREATE INDEX wrong ON enrolments(nowhere)"});
  EXPECT_FALSE(migrate(steps));
  EXPECT_FALSE(connect()->run("SELECT region FROM enrolments"));
  EXPECT_EQ(open()->log_size().value(), 4U);
}

TEST_P(StoreSchema, TheDatabaseItselfRefusesWhatMustNeverHappen) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(campaign.gather(*store, 1));
  ASSERT_TRUE(campaign.fold(*store, 1));
  ASSERT_TRUE(store->open_order(campaign.fence, campaign.order(2)));
  ASSERT_TRUE(campaign.ask_to_measure(*store, 0));
  ASSERT_TRUE(store->leave_out(campaign.fence, {hash_number(9), campaign.order(2).round}));
  ASSERT_TRUE(store->enrol({hash_number(1), hash_number(51), store_begin}));
  ASSERT_TRUE(store->revoke(hash_number(1), store_begin, ""));
  ASSERT_TRUE(store->set_state(campaign.hash, CampaignState::finished, store_begin, ""));
  const auto connection = connect();
  const std::pair<const char*, const char*> attempts[] = {
      {"UPDATE orders SET state = 'folded' WHERE number = 2", "an order goes from open"},
      {"UPDATE orders SET state = 'summed' WHERE number = 2", "an order goes from open"},
      {"UPDATE orders SET state = 'open' WHERE number = 1", "an order goes from open"},
      {"UPDATE orders SET state = 'abandoned' WHERE number = 1", "an order goes from open"},
      {"UPDATE orders SET state = 'abandoned', number = 9 WHERE number = 2", "an order goes from open"},
      {"DELETE FROM orders", "never removed"},
      {"UPDATE orders SET state = 'abandoned', charged = -1 WHERE number = 2", "counted for good"},
      {"UPDATE evaluation_orders SET state = 'open'", "an order that measures goes"},
      {"UPDATE evaluation_orders SET state = 'abandoned', charged = 0", "an order that measures goes"},
      {"DELETE FROM evaluation_orders", "never removed"},
      {"UPDATE campaigns SET state = 'open'", "stays so"},
      {"DELETE FROM campaigns", "never removed"},
      {"UPDATE versions SET size = 0", "never changed"},
      {"DELETE FROM versions", "never removed"},
      {"UPDATE public_log SET record = record", "only grows"},
      {"DELETE FROM public_log", "only grows"},
      {"UPDATE enrolments SET revoked = NULL", "stays so"},
      {"DELETE FROM enrolments", "stay used"},
      {"UPDATE left_out SET round = device", "stays so"},
      {"DELETE FROM left_out", "stays so"},
      {"UPDATE leases SET fence = fence - 1", "refuses"},
      {"DELETE FROM leases", "only rise"},
      {"UPDATE admin_actions SET detail = ''", "never changed"},
      {"DELETE FROM admin_actions", "never removed"},
      {"INSERT INTO current_versions(campaign, round) SELECT campaign, 77 FROM versions WHERE round = 1",
       "refuses"},
      {"UPDATE current_versions SET round = 77", "refuses"},
      {"UPDATE sotto_store SET single = 2", "refuses"},
  };
  for (const auto& [sql, message] : attempts) {
    const auto done = connection->run(sql);
    EXPECT_FALSE(done) << sql;
    EXPECT_THAT(error_of(done), HasSubstr(message)) << sql;
  }
}

TEST_P(StoreSchema, ALocationThatIsNoStoreIsRefused) {
  EXPECT_THAT(error_of(open_store("", owner())), HasSubstr("none is named"));
  EXPECT_THAT(error_of(open_store("mysql://somebody:secret@there/db", owner())), HasSubstr("is no store"));
  EXPECT_THAT(error_of(open_store("mysql://somebody:secret@there/db", owner())), Not(HasSubstr("secret")));
  if (GetParam() == SqlDialect::sqlite) {
    ASSERT_TRUE(write_file_atomically(folder() / "file", "text"));
    EXPECT_FALSE(open_store((folder() / "file").string(), owner()));
    {
      auto other = connect_sqlite(folder() / "store.sqlite").value();
      ASSERT_TRUE(other->run("CREATE TABLE recipes(name TEXT)"));
    }
    EXPECT_THAT(error_of(open_store(folder().path().string(), owner())), HasSubstr("another program"));
  } else {
    const auto nobody = open_store("postgresql://sotto:secret@127.0.0.1:1/none", owner());
    EXPECT_THAT(error_of(nobody), HasSubstr("cannot connect to postgresql://127.0.0.1:1/none"));
    EXPECT_THAT(error_of(nobody), Not(HasSubstr("secret")));
    EXPECT_FALSE(open_store("postgresql://sotto:secret@[broken/none", owner()));
  }
}

}  // namespace
}  // namespace sotto::coordinator
