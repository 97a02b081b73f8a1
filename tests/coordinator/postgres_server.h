#pragma once
// A PostgreSQL server for this test program alone: temporary folder, a socket in it and no port. Started at
// the first use, ended with the program.

#include <optional>
#include <string>
#include <vector>

namespace sotto::coordinator {

// Why there is none: PostgreSQL is not installed.
std::optional<std::string> postgres_is_missing();

// The location of a store of that server with nothing in it yet. Throws when the server does not start.
std::string new_postgres_schema();
// The location of an empty database of that server.
std::string new_postgres_database();
// Runs a program of PostgreSQL beside the server's own, as whoever runs the tests; what it says where it
// fails.
std::optional<std::string> postgres_program_fails(const std::string& program,
                                                  const std::vector<std::string>& arguments);
// Ends all connections to it, as a restart of the server would.
void break_postgres_connections();

}  // namespace sotto::coordinator
