#include "data/string_table.h"

#include <xxhash.h>

#include <limits>
#include <stdexcept>

namespace sotto {

namespace {

std::uint32_t hash_of(std::string_view text) {
  return static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
}

}  // namespace

std::size_t StringTable::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].occupant != 0) {
    if (slots_[slot].hash == hash && (*this)[slots_[slot].occupant - 1] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::uint32_t StringTable::intern(std::string_view text) {
  const std::uint32_t hash = hash_of(text);
  std::size_t slot = slot_of(text, hash);
  if (slots_[slot].occupant != 0) return slots_[slot].occupant - 1;
  if (size() >= std::numeric_limits<std::uint32_t>::max() - 1) {
    throw std::length_error("more than four billion different strings in one column");
  }
  if ((size() + 1) * 2 > slots_.size()) {
    grow();
    slot = slot_of(text, hash);
  }
  bytes_.insert(bytes_.end(), text.begin(), text.end());
  offsets_.push_back(bytes_.size());
  slots_[slot] = {hash, static_cast<std::uint32_t>(size())};
  return static_cast<std::uint32_t>(size() - 1);
}

std::optional<std::uint32_t> StringTable::find(std::string_view text) const {
  const Slot& slot = slots_[slot_of(text, hash_of(text))];
  if (slot.occupant == 0) return std::nullopt;
  return slot.occupant - 1;
}

void StringTable::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const Slot& old : slots_) {
    if (old.occupant == 0) continue;
    std::size_t slot = old.hash & mask;
    while (larger[slot].occupant != 0) slot = (slot + 1) & mask;
    larger[slot] = old;
  }
  slots_ = std::move(larger);
}

}  // namespace sotto
