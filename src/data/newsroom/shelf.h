#pragma once
// What the newsroom offers at a moment: recent news, fresh ones more often. An impression is a draw without
// replacement from the shelf, in random order.

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "data/newsroom/world.h"

namespace sotto::newsroom {

// The i-th newest item is drawn with probability ~ exp(-i / S), S being the number of items published in the
// last 24 hours (at least 10); the shelf ends at 4 S. Remembers what the present reader has read. Refers to
// the items it was made from; not thread-safe.
class Shelf {
 public:
  explicit Shelf(std::span<const Item> items)
      : items_(items), read_by_(items.size(), 0), drawn_in_(items.size(), 0) {}

  // Forgets what the previous reader has read.
  void next_reader() { ++reader_; }
  void mark_read(std::uint32_t item) { read_by_[item] = reader_; }

  // Replaces `out` by up to `wanted` distinct items published before `now` and not read. At most half of the
  // shelf is shown, so that being shown stays a matter of chance.
  void draw(Seconds now, std::uint32_t wanted, RandomSource& random, std::vector<std::uint32_t>& out);

 private:
  std::size_t published_before(Seconds time) const;

  std::span<const Item> items_;
  std::vector<std::uint32_t> read_by_, drawn_in_;  // number of the reader, of the draw
  std::uint32_t reader_ = 1, draw_ = 0;
};

}  // namespace sotto::newsroom
