#pragma once
// The hint: database · public matrix, which everybody downloads with the guide and takes off answers.

#include "serving/blind/database.h"

namespace sotto::serving {

// [M, 1024]. Takes about a second of one core per million items.
Result<std::vector<std::uint32_t>> make_hint(const BlindDatabase& database);

}  // namespace sotto::serving
