#pragma once
// Turns interactions into impressions, so that the news models can be trained on data that has item text and
// real behaviour but no record of what was shown (Frappe with app descriptions, MovieLens with titles and
// genres).
//
// Per user, the positives are the different items it used, in time order of their first positive row, equal
// times by a hash of user and item: rows rated above a threshold, or without a rating. Each positive from
// number `min_history` on becomes one impression at the time of that row: the positive as the only click,
// sampled items the user never touched (in any row, positive or not) as non-clicks, in random order, with the
// positives before it as history. The last `test_share` of a user's positives (at least one) test, the
// earlier ones train. Non-clicks are items of the public catalogue; where it names none, any.

#include <cstdint>

#include "base/files.h"
#include "base/result.h"
#include "data/dataset.h"
#include "data/dataset_builder.h"

namespace sotto::data {

enum class NegativeSampling {
  uniform,  // by the public catalogue alone: nobody's rows depend on what others did
  // Proportional to 1 + the number of users who have the item as a training positive, so that clicks and
  // non-clicks are about equally popular and popularity alone does not win. The 1 lets items that nobody had
  // in training appear as non-clicks too; otherwise being new would give a click away. One user's clicks then
  // change everybody's rows: no private training on them.
  popularity,
};

struct ImpressionViewOptions {
  std::uint64_t seed = 1;
  double positive_above = 3.0;    // a rating above this is a positive; finite
  double test_share = 0.2;        // of a user's positives, where no split was published; in (0, 1)
  std::uint32_t min_history = 1;  // clicks before a user's first impression; 0 to 10,000
  std::uint32_t negatives = 20;   // per impression; 1 to 10,000
  NegativeSampling sampling = NegativeSampling::uniform;  // of training rows
  // Of test rows, from which nothing is learned.
  NegativeSampling test_sampling = NegativeSampling::popularity;
};

// A dataset with the same items and users, and impressions in place of interactions. Users with too few
// positives, or who touched every item, stay as users without impressions. Fails when an option is out of
// range or no impression results. Deterministic in the seed. With uniform sampling the training rows of a
// user follow from the seed, the public catalogue and that user's own rows alone, and are marked so.
Result<DatasetBuilder> build_impression_view(const Dataset& source, const ImpressionViewOptions& options);

}  // namespace sotto::data
