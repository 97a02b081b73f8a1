#pragma once
// A PostgreSQL server for this test program alone: temporary folder, a socket in it and no port. Started at
// the first use, ended with the program.

#include <optional>
#include <string>

namespace sotto::coordinator {

// Why there is none: PostgreSQL is not installed.
std::optional<std::string> postgres_is_missing();

// The location of a store of that server with nothing in it yet. Throws when the server does not start.
std::string new_postgres_schema();
// Ends all connections to it, as a restart of the server would.
void break_postgres_connections();

}  // namespace sotto::coordinator
