#pragma once
// The tables of a store, and how those of an earlier version become the present ones.

#include <span>
#include <string>
#include <vector>

#include "coordinator/store/connection.h"

namespace sotto::coordinator {

// Statements that lead from the version before to the next.
using SchemaStep = std::vector<std::string>;

// Step n makes version n + 1. A step that has been released is never changed: another one follows it.
std::vector<SchemaStep> schema_steps(SqlDialect dialect);

// Takes the steps that are missing and notes the owner of a new store, in one transaction. Refuses a store of
// another owner and one that has taken more steps than there are.
Status bring_up_to_date(Door& door, const IdentityKey& owner, std::span<const SchemaStep> steps);

// Has the store taken exactly these steps? Changes nothing.
Status check_up_to_date(Door& door, std::span<const SchemaStep> steps);

}  // namespace sotto::coordinator
