#pragma once
// Writes titles and abstracts: sentence patterns whose gaps are filled with words of the item's themes, of
// its category, and of every day. Words stray: now and then one of another theme slips in.

#include "base/random.h"
#include "data/newsroom/world.h"

namespace sotto::newsroom {

// Refers to the world it writes about; safe to share between threads.
class Prose {
 public:
  Prose(const World& world, double vague_titles) : world_(world), vague_titles_(vague_titles) {}

  // Writes title and abstract of an item; a title that is there already stays as it is.
  void write(const Item& item, RandomSource& random, ItemText& text) const;

 private:
  class Sentence;
  const World& world_;
  double vague_titles_;
};

}  // namespace sotto::newsroom
