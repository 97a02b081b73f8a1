#pragma once
// Training that left the real numbers. It ends with an error, its last checkpoint intact; who trains many
// runs side by side tells it from other errors: there it is what came out of a row.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace sotto::fl {

// Rounds count from 1. `what` is no longer a number; `advice` says what to change.
tl::unexpected<Error> diverged(std::uint32_t round, std::string_view what, std::string_view advice);

// The round of an error made by diverged(), wherever it travelled since; nothing for any other error.
std::optional<std::uint32_t> diverged_round(const Error& error);

}  // namespace sotto::fl
