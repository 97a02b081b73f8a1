#pragma once
// The readable search that the fast ones are held equal to, and rows to search.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/distributions.h"
#include "serving/index/live_index.h"

namespace sotto::serving::index_test {

struct PlainRow {
  ItemTag tag;
  std::vector<float> values;
};
using PlainRows = std::map<ItemNumber, PlainRow>;

// Every row, scored by the definition, sorted in full.
inline std::vector<ScoredItem> brute_force(const PlainRows& rows, std::span<const float> coefficients,
                                           std::uint32_t k, const ItemFilter& filter = {}) {
  std::vector<ScoredItem> scored;
  for (const auto& [item, row] : rows) {
    if (!filter.lets_through(row.tag)) continue;
    double score = 0;
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      score += static_cast<double>(coefficients[i]) * static_cast<double>(row.values[i]);
    }
    scored.push_back({score, item});
  }
  std::sort(scored.begin(), scored.end(), ranks_before);
  if (scored.size() > k) scored.resize(k);
  return scored;
}

inline RowBatch batch_of(const PlainRows& rows, std::size_t dimension) {
  RowBatch batch;
  batch.dimension = dimension;
  for (const auto& [item, row] : rows) batch.add(item, row.tag, row.values);
  return batch;
}

inline std::unique_ptr<LiveIndex> index_of(const PlainRows& rows, std::size_t dimension,
                                           FirstLook first_look = FirstLook::values) {
  auto index = LiveIndex::create(dimension, LiveIndex::Merging::when_asked, first_look).value();
  if (!index->update({{}, batch_of(rows, dimension)})) std::abort();
  return index;
}

inline PlainRows normal_rows(std::size_t count, std::size_t dimension, std::uint64_t seed) {
  SeededRandom random(seed, Purpose::test);
  PlainRows rows;
  for (std::size_t i = 0; i < count; ++i) {
    PlainRow row;
    row.tag = {static_cast<std::uint32_t>(uniform_below(random, 1000)),
               static_cast<std::uint16_t>(uniform_below(random, 5)),
               static_cast<std::uint16_t>(uniform_below(random, 2))};
    for (std::size_t d = 0; d < dimension; ++d) row.values.push_back(static_cast<float>(normal(random)));
    rows.emplace(static_cast<ItemNumber>(i * 3 + 1), std::move(row));
  }
  return rows;
}

// Non-negative with sum 1, as private queries are.
inline std::vector<float> random_mixture(std::size_t dimension, RandomSource& random) {
  std::vector<float> weights(dimension);
  double sum = 0;
  for (float& weight : weights) sum += weight = static_cast<float>(exponential(random));
  for (float& weight : weights) weight = static_cast<float>(weight / sum);
  return weights;
}

}  // namespace sotto::serving::index_test
