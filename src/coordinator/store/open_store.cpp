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

}  // namespace

Result<std::unique_ptr<Store>> open_store(std::string_view location, const IdentityKey& owner) {
  if (location.empty())
    return bad_input("a store is a folder or postgresql://user@host/database, and none is named");
  if (is_postgres(location)) return open_postgres(std::string(location), owner);
  if (location.find("://") != std::string_view::npos)
    return bad_input("'{}' is no store: give a folder or postgresql://user@host/database",
                     location.substr(0, location.find("://") + 3));
  return open_folder(fs::path(location), owner);
}

}  // namespace sotto::coordinator
