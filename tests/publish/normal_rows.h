#pragma once
// Vectors drawn from normal distributions, for tests of what is published and served.

#include "base/distributions.h"
#include "publish/rows.h"

namespace sotto::publish::testing {

inline Rows normal_rows(std::size_t count, std::size_t width, std::uint32_t stream, float shift = 0) {
  SeededRandom random(11, Purpose::test, stream);
  Rows rows(count, width);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < width; ++j)
      rows[i][j] = shift + static_cast<float>(normal(random) * (1.0 + static_cast<double>(j)));
  }
  return rows;
}

inline Rows normal_items(std::size_t count = 400) { return normal_rows(count, 6, 1, 2); }
inline Rows normal_readers(std::size_t count = 2000) { return normal_rows(count, 6, 2, 0.7F); }

}  // namespace sotto::publish::testing
