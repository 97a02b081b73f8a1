#pragma once
// How good a ranking is for test readers: over what an impression showed, and over the whole pool.

#include "data/dataset.h"
#include "publish/rows.h"

namespace sotto::private_serving {

using publish::Rows;

// One value per query (test impression); NaN where a query says nothing.
struct ImpressionQuality {
  std::vector<double> auc, ndcg10, hits10;
};

// Of the ten items that a reader sees first, seen ones left out.
struct PoolQuality {
  std::vector<double> hits10;   // share of the clicked items among them
  std::vector<double> found10;  // share of the true ten best among them
  std::vector<double> score10;  // their mean true score, in standard deviations over the pool
};

struct PoolAnswers {
  PoolQuality server;    // shown in the server's order
  PoolQuality reranked;  // the server's best `answer` items, ranked again by the true vector on the device
};

// items and served: in the ranking space; served: one row per impression.
ImpressionQuality impression_quality(const Dataset& dataset, std::span<const std::uint32_t> impressions,
                                     const Rows& items, const Rows& served);

// For the first rows of `served`, as many as `truth` has: the readers' true vectors. The pool is the whole
// catalogue. What the server did not return ranks last: it is not shown.
PoolAnswers pool_quality(const Dataset& dataset, std::span<const std::uint32_t> impressions,
                         const Rows& items, const Rows& served, const Rows& truth, std::size_t answer);

}  // namespace sotto::private_serving
