#pragma once
// Numbers strings in the order they are first seen and keeps them back to back, ready to be written as a
// string column. Lookups take a string_view and allocate nothing.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sotto {

// Owns its strings. Views returned live until the next intern(). Not thread-safe while interning.
class StringTable {
 public:
  // The number of `text`, which must not point into this table; a new string gets the next number. Throws
  // std::length_error beyond 2^32 - 1 strings, as containers do.
  std::uint32_t intern(std::string_view text);
  std::optional<std::uint32_t> find(std::string_view text) const;

  std::size_t size() const { return offsets_.size() - 1; }
  std::string_view operator[](std::size_t number) const {
    return {bytes_.data() + offsets_[number],
            static_cast<std::size_t>(offsets_[number + 1] - offsets_[number])};
  }
  std::span<const std::uint64_t> offsets() const { return offsets_; }
  std::span<const char> bytes() const { return bytes_; }

 private:
  // Open addressing with linear probing. `occupant` is the number plus one, 0 when free; the hash is kept so
  // that probing seldom touches the strings and growing never does.
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t occupant = 0;
  };
  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();

  std::vector<std::uint64_t> offsets_ = {0};
  std::vector<char> bytes_;
  std::vector<Slot> slots_ = std::vector<Slot>(16);
};

}  // namespace sotto
