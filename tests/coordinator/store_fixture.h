#pragma once
// The same tests for both stores: SQLite in a folder of its own, PostgreSQL in a schema of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "coordinator/store/postgres_connection.h"
#include "coordinator/store/sqlite_connection.h"
#include "coordinator/store/store.h"
#include "postgres_server.h"
#include "test_paths.h"

namespace sotto::coordinator {

inline const UtcTime store_begin{std::chrono::seconds(1'800'000'000)};

inline Digest hash_number(std::uint8_t number) {
  Digest hash{};
  hash.fill(number);
  return hash;
}

template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}
template <class T>
bool is_conflict(const Result<T>& result) {
  return !result && result.error().kind == ErrorKind::conflict;
}

class StoreTest : public ::testing::TestWithParam<SqlDialect> {
 protected:
  void SetUp() override {
    if (GetParam() == SqlDialect::sqlite) {
      location_ = (folder_.path() / "store").string();
    } else if (const auto missing = postgres_is_missing()) {
      GTEST_SKIP() << *missing;
    } else {
      location_ = new_postgres_schema();
    }
  }

  static IdentityKey owner() { return hash_number(200); }
  std::unique_ptr<Store> open() const {
    auto store = open_store(location_, owner());
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  // To do what the store itself would not.
  std::unique_ptr<Connection> connect() const {
    auto connection = GetParam() == SqlDialect::sqlite ? connect_sqlite(fs::path(location_) / "store.sqlite")
                                                       : connect_postgres(location_);
    if (!connection) throw std::runtime_error(connection.error().message);
    return std::move(*connection);
  }
  const std::string& location() const { return location_; }
  const TempFolder& folder() const { return folder_; }

 private:
  TempFolder folder_;
  std::string location_;
};

inline Fence take_lease(Store& store) {
  return store.acquire("coordinator", "node a", store_begin, std::chrono::minutes(1)).value().fence;
}

// A campaign with its first model, and what leads to the next versions.
struct SmallCampaign {
  Digest hash = hash_number(1);
  Fence fence;
  std::uint8_t attempt = 0;  // a round that was abandoned is ordered again under another hash

  static LogAppend log_of(Store& store, const std::string& name) {
    return {store.log_size().value(), {name + " leaf", name + " head"}};
  }
  static std::string model(std::uint64_t round) { return "model " + std::to_string(round); }
  static Digest round_hash(std::uint64_t number, std::uint8_t attempt = 0) {
    Digest hash = hash_number(static_cast<std::uint8_t>(100 + number));
    hash[0] = attempt;
    return hash;
  }

  Status add(Store& store) const {
    SOTTO_CHECK(store.add_campaign(fence, {hash, "signed campaign", CampaignState::open, store_begin},
                                   log_of(store, "campaign")));
    SOTTO_TRY(const ModelVersion first, version(store, 0));
    return store.publish_version(fence, first, std::nullopt, log_of(store, "version 0"));
  }
  StoredOrder order(std::uint64_t number) const {
    return {round_hash(number, attempt), number, hash, "signed order", {}, {}};
  }
  // To measure a version, the n-th time.
  StoredOrder measuring(std::uint64_t version, std::uint8_t time = 0) const {
    Digest name = hash_number(static_cast<std::uint8_t>(180 + version));
    name[0] = time;
    return {name, version, hash, "signed order to measure", {}, {}, true};
  }
  Status ask_to_measure(Store& store, std::uint64_t version) const {
    SOTTO_CHECK(store.open_order(fence, measuring(version)));
    return store.begin_unmasking(fence, measuring(version).round);
  }
  static GroupSum sum(std::uint32_t group) { return {group, 20, {group, 1, 0xffffffff}}; }
  Status gather(Store& store, std::uint64_t number) const {
    SOTTO_CHECK(store.open_order(fence, order(number)));
    SOTTO_CHECK(store.begin_unmasking(fence, round_hash(number, attempt)));
    SOTTO_CHECK(store.keep_sum(fence, round_hash(number, attempt), sum(0)));
    SOTTO_CHECK(store.keep_sum(fence, round_hash(number, attempt), sum(1)));
    return store.seal_sums(fence, round_hash(number, attempt));
  }
  // Keeps its blobs.
  Result<ModelVersion> version(Store& store, std::uint64_t number) const {
    ModelVersion made{.campaign = hash, .round = number, .time = store_begin, .size = model(number).size()};
    SOTTO_TRY(made.model, store.keep_blob(model(number)));
    SOTTO_TRY(made.checkpoint, store.keep_blob("optimiser after " + model(number)));
    SOTTO_TRY(const auto current, store.current_version(hash));
    if (current) made.parent = current->model;
    return made;
  }
  Status fold(Store& store, std::uint64_t number) const {
    SOTTO_TRY(const ModelVersion made, version(store, number));
    return store.publish_version(fence, made, round_hash(number, attempt),
                                 log_of(store, "version " + std::to_string(number)));
  }
};

// With a lease, a campaign and its first model.
inline SmallCampaign small_campaign_in(Store& store) {
  SmallCampaign campaign;
  campaign.fence = take_lease(store);
  if (auto added = campaign.add(store); !added) throw std::runtime_error(added.error().message);
  return campaign;
}

#define SOTTO_FOR_SQLITE(suite) INSTANTIATE_TEST_SUITE_P(SQLite, suite, ::testing::Values(SqlDialect::sqlite))
#define SOTTO_FOR_POSTGRESQL(suite) \
  INSTANTIATE_TEST_SUITE_P(PostgreSQL, suite, ::testing::Values(SqlDialect::postgresql))
#define SOTTO_FOR_BOTH_STORES(suite) \
  SOTTO_FOR_SQLITE(suite);           \
  SOTTO_FOR_POSTGRESQL(suite)

}  // namespace sotto::coordinator
