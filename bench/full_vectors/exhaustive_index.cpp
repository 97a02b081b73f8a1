#include "bench/full_vectors/exhaustive_index.h"

#include "bench/full_vectors/check_request.h"
#include "serving/dot_kernels.h"
#include "serving/index/item_index.h"

namespace sotto::bench {

using namespace serving;

Result<std::unique_ptr<ExhaustiveIndex>> ExhaustiveIndex::create(std::size_t dimension) {
  SOTTO_CHECK(check_dimension(dimension));
  return std::unique_ptr<ExhaustiveIndex>(new ExhaustiveIndex(dimension));
}

Status ExhaustiveIndex::add(const RowBatch& rows) {
  SOTTO_CHECK(check_rows(rows, dimension()));
  rows_.append(rows);
  return {};
}

std::size_t ExhaustiveIndex::bytes() const {
  return size() * (dimension() * sizeof(float) + sizeof(ItemNumber) + sizeof(ItemTag));
}

Result<std::vector<ScoredItem>> ExhaustiveIndex::search(std::span<const float> query, std::uint32_t k,
                                                        const ItemFilter& filter) const {
  if (query.size() != dimension()) {
    return bad_input("the query has {} numbers where the vectors have {}", query.size(), dimension());
  }
  SOTTO_CHECK(check_request(query, dimension(), k, filter));
  TopItems top(k);
  for (std::size_t i = 0; i < size(); ++i) {
    top.offer({dot(rows_.row(i).data(), query.data(), dimension()), rows_.items[i], rows_.tags[i]});
  }
  return std::move(top).take();
}

Result<std::vector<std::vector<ScoredItem>>> ExhaustiveIndex::search_batch(std::span<const float> queries,
                                                                           std::uint32_t k,
                                                                           const ItemFilter& filter) const {
  SOTTO_CHECK(check_request(queries, dimension(), k, filter));
  std::vector<std::vector<ScoredItem>> answers;
  for (std::size_t i = 0; i < queries.size(); i += dimension()) {
    SOTTO_TRY(auto answer, search(queries.subspan(i, dimension()), k, filter));
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace sotto::bench
