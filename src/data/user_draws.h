#pragma once
// Draws and ties that concern one user follow from the seed and from published ids alone: not from the number
// that a user or an item happens to have, which changes with who else is there and with the order of rows.

#include <xxhash.h>

#include <cstdint>
#include <string_view>

#include "base/random.h"

namespace sotto::data {

inline std::uint64_t hash_of_text(std::uint64_t seed, std::string_view text) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

// What orders rows of equal time: the order of a source's rows may say more than their times do.
inline std::uint64_t tie_of(std::uint64_t seed, std::string_view user, std::string_view item) {
  return hash_of_text(hash_of_text(seed, user), item);
}

inline SeededRandom draws_of_user(std::uint64_t seed, Purpose purpose, std::string_view user) {
  const std::uint64_t address = hash_of_text(0, user);
  return SeededRandom(seed, purpose, static_cast<std::uint32_t>(address),
                      static_cast<std::uint32_t>(address >> 32));
}

}  // namespace sotto::data
