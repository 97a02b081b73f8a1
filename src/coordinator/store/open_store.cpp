#include <fcntl.h>
#include <sys/file.h>

#include "base/descriptor.h"
#include "base/make_folder.h"
#include "base/system_error.h"
#include "coordinator/store/postgres_connection.h"
#include "coordinator/store/schema.h"
#include "coordinator/store/sql_store.h"
#include "coordinator/store/sqlite_connection.h"

namespace sotto::coordinator {

namespace {

Status bring_up_to_date(std::unique_ptr<Connection> connection, const IdentityKey& owner) {
  const std::vector<SchemaStep> steps = schema_steps(connection->dialect());
  Door door(std::move(connection));
  return bring_up_to_date(door, owner, steps);
}

Result<std::unique_ptr<Store>> open_folder(const fs::path& folder, const IdentityKey& owner) {
  SOTTO_CHECK(make_folder(folder));
  // Two that open the same folder for the first time must not both set it up.
  const fs::path lock = folder / "opening";
  SOTTO_TRY(const Descriptor opening, Descriptor::open(lock, O_RDWR | O_CREAT, "open", 0600));
  if (::flock(opening.number(), LOCK_EX) != 0) return system_failure("lock", lock);

  const fs::path file = folder / "store.sqlite";
  const auto connect = [&] { return connect_sqlite(file); };
  SOTTO_TRY(auto first, connect());
  SOTTO_CHECK(check_sqlite(*first));
  SOTTO_CHECK(bring_up_to_date(std::move(first), owner));
  SOTTO_TRY(auto writer, connect());
  SOTTO_TRY(auto reader, connect());
  SOTTO_TRY(auto blobs, blobs_in_folder(folder / "blobs"));
  return std::make_unique<SqlStore>(folder.string(), std::move(writer), std::move(reader), std::move(blobs));
}

Result<std::unique_ptr<Store>> open_postgres(const std::string& location, const IdentityKey& owner) {
  SOTTO_TRY(std::string shown, without_secrets(location));
  const auto connect = [&] { return connect_postgres(location); };
  SOTTO_TRY(auto first, connect());
  SOTTO_CHECK(bring_up_to_date(std::move(first), owner));
  SOTTO_TRY(auto writer, connect());
  SOTTO_TRY(auto reader, connect());
  SOTTO_TRY(auto blobs, connect());
  return std::make_unique<SqlStore>(std::move(shown), std::move(writer), std::move(reader),
                                    blobs_in_table(std::move(blobs)));
}

Result<std::unique_ptr<Store>> look_into_folder(const fs::path& folder) {
  const fs::path file = folder / "store.sqlite";
  if (!fs::exists(file))
    return bad_input("{} is no coordinator's store: store.sqlite is missing", folder.string());
  SOTTO_TRY(auto first, connect_sqlite_to_read(file));
  SOTTO_TRY(auto second, connect_sqlite_to_read(file));
  Door door(std::move(first));
  const std::vector<SchemaStep> steps = schema_steps(SqlDialect::sqlite);
  if (auto known = check_up_to_date(door, steps); !known)
    return tl::unexpected(std::move(known).error().in(file.string()));
  SOTTO_TRY(auto writer, connect_sqlite_to_read(file));
  SOTTO_TRY(auto blobs, blobs_in_folder(folder / "blobs"));
  return std::make_unique<SqlStore>(folder.string(), std::move(writer), std::move(second), std::move(blobs));
}

Result<std::unique_ptr<Store>> look_into_postgres(const std::string& location) {
  SOTTO_TRY(std::string shown, without_secrets(location));
  SOTTO_TRY(auto first, connect_postgres(location));
  const std::vector<SchemaStep> steps = schema_steps(SqlDialect::postgresql);
  Door door(std::move(first));
  if (auto known = check_up_to_date(door, steps); !known)
    return tl::unexpected(std::move(known).error().in(shown));
  const auto connect = [&]() -> Result<std::unique_ptr<Connection>> {
    SOTTO_TRY(auto connection, connect_postgres(location));
    SOTTO_CHECK(connection->run("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"));
    return connection;
  };
  SOTTO_TRY(auto writer, connect());
  SOTTO_TRY(auto reader, connect());
  SOTTO_TRY(auto blobs, connect());
  return std::make_unique<SqlStore>(std::move(shown), std::move(writer), std::move(reader),
                                    blobs_in_table(std::move(blobs)));
}

Status check_location(std::string_view location) {
  if (location.empty())
    return bad_input("a store is a folder or postgresql://user@host/database, and none is named");
  if (!is_postgres(location) && location.find("://") != std::string_view::npos)
    return bad_input("'{}' is no store: give a folder or postgresql://user@host/database",
                     location.substr(0, location.find("://") + 3));
  return {};
}

}  // namespace

Result<std::unique_ptr<Store>> open_store_to_read(std::string_view location) {
  SOTTO_CHECK(check_location(location));
  return is_postgres(location) ? look_into_postgres(std::string(location))
                               : look_into_folder(fs::path(location));
}

Result<std::unique_ptr<Store>> open_store(std::string_view location, const IdentityKey& owner) {
  SOTTO_CHECK(check_location(location));
  return is_postgres(location) ? open_postgres(std::string(location), owner)
                               : open_folder(fs::path(location), owner);
}

}  // namespace sotto::coordinator
