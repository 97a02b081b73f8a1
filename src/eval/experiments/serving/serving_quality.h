#pragma once
// How good a ranking is for test readers: over what an impression showed, and over the whole pool; means over
// readers with standard errors, and the share of the personalisation gain that a ranking keeps.

#include "data/dataset.h"
#include "publish/rows.h"

namespace sotto::eval::private_serving {

using publish::Rows;

// What a reader's device gets to see of the pool, and by which scores it is ordered: best first.
struct ReturnedItems {
  std::vector<data::ItemId> items;
  std::vector<float> scores;
};

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
ImpressionQuality impression_quality(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                                     const Rows& items, const Rows& served);

// The same for lists: what was not returned ranks last, all alike.
ImpressionQuality impression_quality(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                                     std::span<const ReturnedItems> lists);

// For the first rows of `served`, as many as `truth` has: the readers' true vectors. The pool is the whole
// catalogue. What the server did not return ranks last: it is not shown.
PoolAnswers pool_quality(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                         const Rows& items, const Rows& served, const Rows& truth, std::size_t answer);

// The same for lists, one per row of `truth`: the first `answer` items of each are what the device has.
PoolAnswers pool_quality(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                         const Rows& items, std::span<const ReturnedItems> lists, const Rows& truth,
                         std::size_t answer);

struct Estimate {
  double value = 0, error = 0;  // error: one standard error
};

// One value per query and whose query it was; queries of one reader stand together, and readers are the
// independent units. Values that are not finite are left out (a query without a click says nothing).
Estimate mean_by_reader(std::span<const double> values, std::span<const std::uint32_t> reader_of);

// (x − floor)/(ceiling − floor) of the means. The error is that of the ratio, linearised, readers drawn: what
// a bootstrap over readers tends to. NaN when floor and ceiling coincide.
Estimate share_of_gain(std::span<const double> values, std::span<const double> floor,
                       std::span<const double> ceiling, std::span<const std::uint32_t> reader_of);

}  // namespace sotto::eval::private_serving
