#include "bench/full_vectors/check_request.h"

#include "serving/index/scaled_query.h"

namespace sotto::bench {

using namespace serving;

Status check_dimension(std::size_t dimension) {
  if (dimension >= 1 && dimension <= most_dimensions) return {};
  return bad_input("vectors of {} numbers were asked for: choose 1 to {}", dimension, most_dimensions);
}

Status check_graph(int links, int effort) {
  if (links >= 2 && links <= 256 && effort >= 1 && effort <= 1'000'000) return {};
  return bad_input(
      "a graph of {} links per item with effort {} was asked for: choose 2 to 256 and at least 1", links,
      effort);
}

Status check_rows(const RowBatch& rows, std::size_t dimension) {
  if (rows.dimension != dimension || rows.values.size() != rows.size() * dimension) {
    return bad_input("{} rows of {} numbers do not fit vectors of {}", rows.size(), rows.dimension,
                     dimension);
  }
  return check_values(rows.values);
}

Status check_request(std::span<const float> queries, std::size_t dimension, std::uint32_t k,
                     const ItemFilter& filter) {
  if (queries.size() % dimension != 0) {
    return bad_input("{} numbers are no whole number of queries of {}", queries.size(), dimension);
  }
  if (k < 1 || k > most_answers) {
    return bad_input("{} answers were asked for: ask for 1 to {}", k, most_answers);
  }
  if (!filter.is_empty()) return bad_input("full vectors are searched without filters");
  return check_values(queries);
}

}  // namespace sotto::bench
