#include "bench/full_vectors/hnswlib_index.h"

#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <exception>

#include "base/thread_pool.h"
#include "bench/full_vectors/check_request.h"

namespace sotto::bench {

using namespace serving;

struct HnswlibIndex::Graph {
  Graph(std::size_t width, std::size_t items, int links, int building_effort)
      : dimension(width),
        space(width),
        layers(&space, items, static_cast<std::size_t>(links), static_cast<std::size_t>(building_effort)) {}
  std::size_t dimension;
  hnswlib::InnerProductSpace space;
  hnswlib::HierarchicalNSW<float> layers;
};

Result<std::unique_ptr<HnswlibIndex>> HnswlibIndex::create(const RowBatch& rows, int links,
                                                           int building_effort) {
  SOTTO_CHECK(check_dimension(rows.dimension));
  SOTTO_CHECK(check_graph(links, building_effort));
  SOTTO_CHECK(check_rows(rows, rows.dimension));
  try {
    auto graph = std::make_unique<Graph>(rows.dimension, std::max<std::size_t>(1, rows.size()), links,
                                         building_effort);
    // hnswlib draws levels without a lock (ThreadSanitizer says so): two threads may draw the same one, which
    // changes the graph but nothing that is promised of it.
    parallel_for(rows.size(), 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) graph->layers.addPoint(rows.row(i).data(), rows.items[i]);
    });
    return std::unique_ptr<HnswlibIndex>(new HnswlibIndex(std::move(graph)));
  } catch (const std::exception& problem) {  // hnswlib reports everything by exceptions
    return failed("hnswlib cannot index {} vectors: {}", rows.size(), problem.what());
  }
}

HnswlibIndex::HnswlibIndex(std::unique_ptr<Graph> graph) : graph_(std::move(graph)) {}
HnswlibIndex::~HnswlibIndex() = default;

void HnswlibIndex::set_effort(std::size_t effort) { graph_->layers.setEf(effort); }

std::size_t HnswlibIndex::dimension() const { return graph_->dimension; }
std::size_t HnswlibIndex::size() const { return graph_->layers.cur_element_count; }
std::size_t HnswlibIndex::bytes() const { return size() * graph_->layers.size_data_per_element_; }

Result<std::vector<ScoredItem>> HnswlibIndex::search(std::span<const float> query, std::uint32_t k,
                                                     const ItemFilter& filter) const {
  if (query.size() != dimension()) {
    return bad_input("the query has {} numbers where the vectors have {}", query.size(), dimension());
  }
  SOTTO_CHECK(check_request(query, dimension(), k, filter));
  std::vector<ScoredItem> found;
  if (size() == 0) return found;
  try {
    auto nearest = graph_->layers.searchKnn(query.data(), k);
    for (; !nearest.empty(); nearest.pop()) {  // by its distance, 1 - product
      found.push_back({1.0 - nearest.top().first, static_cast<ItemNumber>(nearest.top().second)});
    }
  } catch (const std::exception& problem) {
    return failed("hnswlib cannot search: {}", problem.what());
  }
  std::sort(found.begin(), found.end(), ranks_before);
  return found;
}

Result<std::vector<std::vector<ScoredItem>>> HnswlibIndex::search_batch(std::span<const float> queries,
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
