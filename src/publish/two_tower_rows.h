#pragma once
// Vectors of a two-tower model as plain rows: of its items, of readers by their histories, and of simulated
// readers. Gradients must be off. Ctrl-C ends each of them between two parts, as an error: rows are whole.

#include "base/result.h"
#include "data/dataset.h"
#include "model/news/news_recommender.h"
#include "publish/rows.h"
#include "publish/simulated_readers.h"

namespace sotto::publish {

// [items, d]: the items 0 .. count-1 of the data the model was opened with.
Result<Rows> encode_catalogue(model::NewsRecommender& model, std::size_t count);

// [histories, d]: the newest `max_history` clicks of every history. items: of the whole catalogue.
Result<Rows> encode_histories(model::NewsRecommender& model, const Rows& items, std::size_t max_history,
                              const std::vector<std::span<const data::ItemId>>& histories,
                              const std::vector<data::UserId>& users);

// [settings.readers, d]: readers who do not exist (simulated_readers.h), as the model makes them. Real
// behaviour enters by the demand only.
Result<Rows> simulated_reader_vectors(model::NewsRecommender& model, const Rows& items, const Demand& demand,
                                      std::size_t max_history, const ReaderSettings& settings,
                                      std::uint64_t seed);

}  // namespace sotto::publish
