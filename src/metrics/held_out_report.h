#pragma once
// Held-out metrics of one ranking over all tested users, and of the rankings without a model beside it. Plain
// values.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/ranking.h"

namespace sotto::metrics {

struct HeldOutReport {
  struct Row {
    std::string name;
    HeldOutMetrics metrics;
    std::optional<TopListMetrics> lists;
  };
  HeldOutMetrics mean;                        // over users, each the mean of its held-out rows
  std::vector<HeldOutMetrics> each;           // by test user
  std::uint64_t users = 0, rows = 0;          // tested
  std::uint64_t left_out = 0;                 // test users with nothing to test
  std::array<HeldOutMetrics, 3> by_activity;  // users in three parts by rows on their device, fewest first
  std::vector<Row> beside;                    // what needs no model, same users and rows
  // Of data that gives its own split: what is published about it.
  std::optional<TopListMetrics> lists, lists_error;
};

// Of `mean`, over users; NaN when one user cannot tell.
HeldOutMetrics standard_errors(const HeldOutReport& report);

}  // namespace sotto::metrics
