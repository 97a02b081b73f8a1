#pragma once
// SQLite: write-ahead log, every commit synced to the disk, foreign keys checked.

#include <filesystem>

#include "coordinator/store/connection.h"

namespace sotto::coordinator {

// Makes the file when it is missing, for its owner alone.
Result<std::unique_ptr<Connection>> connect_sqlite(const std::filesystem::path& file);
// A file that is there; what would write to it is an error.
Result<std::unique_ptr<Connection>> connect_sqlite_to_read(const std::filesystem::path& file);
// Refuses a damaged file, and one that another program has written. Marks a new one as a store.
Status check_sqlite(Connection& database);

}  // namespace sotto::coordinator
