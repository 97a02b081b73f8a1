#pragma once
// What a reader used and rated, and what is known of it.

#include "device/history/row_store.h"

namespace sotto::device::testing {

inline StoredRows small_rows(privacy::UtcTime time) {
  return {{{"age", "young"}},
          {{time - std::chrono::hours(2), "N2", 4.5F, {{"weather", "rain"}, {"day", "monday"}}},
           {time, "N5", std::nullopt, {}}}};
}

}  // namespace sotto::device::testing
