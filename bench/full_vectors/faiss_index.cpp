#include "bench/full_vectors/faiss_index.h"

#include <faiss/IndexFlat.h>

#include <algorithm>
#include <cstdint>
#include <exception>

#include "bench/full_vectors/check_request.h"

namespace sotto::bench {

using namespace serving;

Result<std::unique_ptr<FaissIndex>> FaissIndex::create(std::size_t dimension) {
  SOTTO_CHECK(check_dimension(dimension));
  return std::unique_ptr<FaissIndex>(
      new FaissIndex(std::make_unique<faiss::IndexFlatIP>(static_cast<std::int64_t>(dimension))));
}

FaissIndex::FaissIndex(std::unique_ptr<faiss::Index> index) : index_(std::move(index)) {}
FaissIndex::~FaissIndex() = default;

std::size_t FaissIndex::dimension() const { return static_cast<std::size_t>(index_->d); }

std::size_t FaissIndex::bytes() const { return size() * (dimension() * sizeof(float) + sizeof(ItemNumber)); }

Status FaissIndex::add(const RowBatch& rows) {
  SOTTO_CHECK(check_rows(rows, dimension()));
  try {
    index_->add(static_cast<std::int64_t>(rows.size()), rows.values.data());
  } catch (const std::exception& problem) {
    return failed("faiss cannot add {} vectors: {}", rows.size(), problem.what());
  }
  items_.insert(items_.end(), rows.items.begin(), rows.items.end());
  return {};
}

Result<std::vector<ScoredItem>> FaissIndex::search(std::span<const float> query, std::uint32_t k,
                                                   const ItemFilter& filter) const {
  if (query.size() != dimension()) {
    return bad_input("the query has {} numbers where the vectors have {}", query.size(), dimension());
  }
  SOTTO_TRY(auto answers, search_batch(query, k, filter));
  std::vector<ScoredItem> answer = std::move(answers.front());
  return answer;
}

Result<std::vector<std::vector<ScoredItem>>> FaissIndex::search_batch(std::span<const float> queries,
                                                                      std::uint32_t k,
                                                                      const ItemFilter& filter) const {
  SOTTO_CHECK(check_request(queries, dimension(), k, filter));
  const std::size_t count = queries.size() / dimension();
  std::vector<float> scores(count * k);
  std::vector<std::int64_t> rows(count * k);
  try {
    index_->search(static_cast<std::int64_t>(count), queries.data(), k, scores.data(), rows.data());
  } catch (const std::exception& problem) {
    return failed("faiss cannot search: {}", problem.what());
  }
  std::vector<std::vector<ScoredItem>> answers(count);
  for (std::size_t i = 0; i < count * k; ++i) {
    if (rows[i] < 0) continue;  // fewer than k items
    answers[i / k].push_back({scores[i], items_[static_cast<std::size_t>(rows[i])]});
  }
  for (auto& answer : answers) std::sort(answer.begin(), answer.end(), ranks_before);
  return answers;
}

}  // namespace sotto::bench
