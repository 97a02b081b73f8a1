#pragma once
// PostgreSQL: writers take turns by a lock of the database, a connection that was lost is made again.

#include "coordinator/store/connection.h"

namespace sotto::coordinator {

bool is_postgres(std::string_view location);  // postgresql://… or postgres://…
// Host, port and database: what may stand in a log.
Result<std::string> without_secrets(const std::string& location);

Result<std::unique_ptr<Connection>> connect_postgres(const std::string& location);

}  // namespace sotto::coordinator
