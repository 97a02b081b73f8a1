#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "bench/benchmarks.h"
#include "serving/index/live_index.h"
#include "serving/pool/synthetic_pool.h"
#include "serving/prototypes/prototype_index.h"
#ifdef SOTTO_HAVE_FAISS
#include "bench/full_vectors/faiss_index.h"
#else
#include "bench/full_vectors/exhaustive_index.h"
#endif
#ifdef SOTTO_HAVE_HNSWLIB
#include "bench/full_vectors/hnswlib_index.h"
#endif

namespace sotto::bench {

using namespace serving;

namespace {

constexpr std::size_t dimension = 400;
constexpr std::size_t basis_vectors = 5;
constexpr std::size_t prototypes = 64;
constexpr std::size_t chunk = 8192;
constexpr std::uint32_t k = 10;
constexpr std::size_t queries = 200;        // ours, one at a time
constexpr std::size_t slow_queries = 8;     // of the baseline, which takes a tenth of a second each
constexpr std::size_t batch_queries = 256;  // both
constexpr double good_recall = 0.99;

using Answers = std::vector<std::vector<ScoredItem>>;

const char* name_of(SyntheticWorld world) {
  switch (world) {
    case SyntheticWorld::clustered:
      return "clustered items";
    case SyntheticWorld::isotropic:
      return "isotropic items";
    case SyntheticWorld::alike:
      return "equal items";
    case SyntheticWorld::nearly_alike:
      return "nearly equal items (nothing can be ruled out)";
  }
  return "";
}

// Seconds per call, the quickest of several rounds: other programs only ever add time.
double seconds_per_call(std::size_t calls, int rounds, const std::function<void(std::size_t)>& call) {
  double best = HUGE_VAL;
  for (int round = 0; round < rounds; ++round) {
    const double start = wall_seconds();
    for (std::size_t i = 0; i < calls; ++i) call(i);
    best = std::min(best, (wall_seconds() - start) / static_cast<double>(calls));
  }
  return best;
}

// Scores of full vectors are sums of 400 rounded products: equal to that extent, place by place.
Status check_same(const Answers& ours, const Answers& theirs) {
  for (std::size_t q = 0; q < std::min(ours.size(), theirs.size()); ++q) {
    bool same = ours[q].size() == theirs[q].size();
    for (std::size_t i = 0; same && i < ours[q].size(); ++i) {
      same = std::abs(ours[q][i].score - theirs[q][i].score) <= 1e-5 * (1 + std::abs(theirs[q][i].score));
    }
    if (!same) return failed("query {} has another answer than the baseline gives", q);
  }
  return {};
}

double recall(const Answers& found, const Answers& truth) {
  std::size_t hits = 0, all = 0;
  for (std::size_t q = 0; q < truth.size(); ++q) {
    std::set<ItemNumber> wanted;
    for (const ScoredItem& item : truth[q]) wanted.insert(item.item);
    for (const ScoredItem& item : found[q]) hits += wanted.count(item.item);
    all += truth[q].size();
  }
  return static_cast<double>(hits) / static_cast<double>(std::max<std::size_t>(all, 1));
}

struct Queries {
  std::vector<float> mixtures, directions;
  std::span<const float> mixture(std::size_t i) const {
    return std::span(mixtures).subspan(i * basis_vectors, basis_vectors);
  }
  std::span<const float> direction(std::size_t i) const {
    return std::span(directions).subspan(i * dimension, dimension);
  }
};

Queries make_queries(const Projection& basis, std::size_t count) {
  SeededRandom random(1, Purpose::test);
  Queries made;
  for (std::size_t i = 0; i < count; ++i) {
    const auto mixture = synthetic_mixture(basis_vectors, random);
    const auto direction = mixed_direction(basis, mixture);
    made.mixtures.insert(made.mixtures.end(), mixture.begin(), mixture.end());
    made.directions.insert(made.directions.end(), direction.begin(), direction.end());
  }
  return made;
}

RowBatch project(const RowBatch& vectors, const Projection& projection) {
  RowBatch rows{projection.directions(), vectors.items, vectors.tags, {}};
  rows.values.resize(vectors.size() * projection.directions());
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    projection.apply(vectors.row(i), std::span(rows.values).subspan(i * rows.dimension, rows.dimension));
  }
  return rows;
}

#ifdef SOTTO_HAVE_FAISS
constexpr const char* flat_name = "faiss IndexFlatIP, 400 dimensions";
auto create() { return FaissIndex::create(dimension); }
#else
constexpr const char* flat_name = "exhaustive scan, 400 dimensions";
auto create() { return ExhaustiveIndex::create(dimension); }
#endif

// One world: its items in our index and, as full vectors, in the baseline's.
struct Contest {
  std::unique_ptr<LiveIndex> ours;
  std::unique_ptr<PrototypeIndex> lists;
  std::unique_ptr<ItemIndex> flat;
  Projection basis, prototype_vectors;
};

Result<Contest> prepare(SyntheticWorld world, std::size_t items, bool with_prototypes) {
  const SyntheticItems source(world, dimension);
  SOTTO_TRY(auto basis, Projection::create(source.directions(basis_vectors), dimension));
  SOTTO_TRY(auto centres, Projection::create(source.directions(prototypes), dimension));
  SOTTO_TRY(auto ours, LiveIndex::create(basis_vectors));
  SOTTO_TRY(auto lists, PrototypeIndex::create(prototypes));
  SOTTO_TRY(auto flat, create());
  IndexUpdate rows, scores;
  rows.rows.dimension = basis_vectors;
  scores.rows.dimension = prototypes;
  for (std::size_t first = 0; first < items; first += chunk) {
    const RowBatch vectors = source.vectors(first, std::min(chunk, items - first));
    SOTTO_CHECK(flat->add(vectors));
    rows.rows.append(project(vectors, basis));
    if (with_prototypes) scores.rows.append(project(vectors, centres));
  }
  SOTTO_CHECK(ours->update(rows));
  SOTTO_CHECK(lists->update(scores));
  return Contest{std::move(ours), std::move(lists), std::move(flat), std::move(basis), std::move(centres)};
}

Status compare_exact(const Contest& contest, SyntheticWorld world, std::vector<BenchRow>& rows) {
  const Queries asked = make_queries(contest.basis, std::max(queries, batch_queries));
  Answers ours(queries), theirs(slow_queries);
  const double one = seconds_per_call(
      queries, 5, [&](std::size_t i) { ours[i] = contest.ours->search(asked.mixture(i), k).value(); });
  const double flat = seconds_per_call(slow_queries, 2, [&](std::size_t i) {
    theirs[i] = contest.flat->search(asked.direction(i), k, {}).value();
  });
  SOTTO_CHECK(check_same(ours, theirs));
  rows.push_back({fmt::format("exact top-10 of {} items, {}", contest.ours->size(), name_of(world)),
                  1e6 * one, 1e6 * flat, flat / one, "us/query", flat_name, "50 times"});
  const auto batch = [&](const std::vector<float>& all, std::size_t width) {
    return std::span(all).first(batch_queries * width);
  };
  const double ours_batched =
      seconds_per_call(1, 5,
                       [&](std::size_t) {
                         ours = contest.ours->search_batch(batch(asked.mixtures, basis_vectors), k).value();
                       }) /
      batch_queries;
  const double flat_batched =
      seconds_per_call(1, 1,
                       [&](std::size_t) {
                         theirs =
                             contest.flat->search_batch(batch(asked.directions, dimension), k, {}).value();
                       }) /
      batch_queries;
  SOTTO_CHECK(check_same(ours, theirs));
  rows.push_back({fmt::format("the same, batches of {}, {}", batch_queries, name_of(world)),
                  1e6 * ours_batched, 1e6 * flat_batched, flat_batched / ours_batched, "us/query", flat_name,
                  "20 times"});
  return {};
}

Status compare_prototypes(const Contest& contest, std::vector<BenchRow>& rows) {
  Answers ours(prototypes), theirs(slow_queries);
  const double one = seconds_per_call(prototypes, 20, [&](std::size_t i) {
    ours[i] = contest.lists->best_of({{static_cast<std::uint32_t>(i)}}, k).value();
  });
  const double flat = seconds_per_call(slow_queries, 1, [&](std::size_t i) {
    theirs[i] = contest.flat->search(contest.prototype_vectors.direction(i), k, {}).value();
  });
  SOTTO_CHECK(check_same(ours, theirs));
  rows.push_back({fmt::format("prototype top-10 of {} items", contest.lists->size()), 1e6 * one, 1e6 * flat,
                  flat / one, "us/query", flat_name, "at most 20 us"});
  return {};
}

void compare_memory(const Contest& contest, std::vector<BenchRow>& rows) {
  const auto items = static_cast<double>(contest.ours->size());
  const double ours = static_cast<double>(contest.ours->bytes()) / items;
  const double flat = static_cast<double>(contest.flat->bytes()) / items;
  rows.push_back(
      {"memory of the exact index", ours, flat, flat / ours, "bytes/item", flat_name,
       fmt::format("at most 40 and {} of numbers and tags", sizeof(ItemNumber) + sizeof(ItemTag))});
}

#ifdef SOTTO_HAVE_HNSWLIB
// Ever better graphs, until one reaches the recall with some search effort.
struct GraphShape {
  int links, building_effort;
};
constexpr GraphShape graph_shapes[] = {{16, 100}, {32, 200}, {48, 400}};
constexpr std::size_t least_effort = 64, most_effort = 4096;

Status compare_graph(std::size_t items, std::vector<BenchRow>& rows) {
  const SyntheticItems source(SyntheticWorld::clustered, dimension);
  const RowBatch vectors = source.vectors(0, items);
  SOTTO_TRY(auto basis, Projection::create(source.directions(basis_vectors), dimension));
  SOTTO_TRY(auto ours, LiveIndex::create(basis_vectors));
  SOTTO_CHECK(ours->update({{}, project(vectors, basis)}));
  const Queries asked = make_queries(basis, queries);
  Answers exact(queries), found(queries);
  const double one = seconds_per_call(
      queries, 5, [&](std::size_t i) { exact[i] = ours->search(asked.mixture(i), k).value(); });
  for (const auto& [links, building_effort] : graph_shapes) {
    const double start = wall_seconds();
    SOTTO_TRY(const auto graph, HnswlibIndex::create(vectors, links, building_effort));
    const double built = wall_seconds() - start;
    double share = 0, theirs = 0;
    std::size_t effort = least_effort / 2;
    while (share < good_recall && effort < most_effort) {
      graph->set_effort(effort *= 2);
      theirs = seconds_per_call(
          queries, 2, [&](std::size_t i) { found[i] = graph->search(asked.direction(i), k, {}).value(); });
      share = recall(found, exact);
    }
    rows.push_back({fmt::format("exact top-10 of {} clustered items", items), 1e6 * one, 1e6 * theirs,
                    theirs / one, "us/query",
                    fmt::format("hnswlib, {} links, building effort {} ({:.0f} s), search effort {}: recall "
                                "{:.3f}",
                                links, building_effort, built, effort, share),
                    "quicker at recall 0.99"});
    if (share >= good_recall) break;
  }
  return {};
}
#endif

}  // namespace

Result<std::vector<BenchRow>> bench_serving(const ServingBench& settings) {
  if (settings.items < 1 || settings.items > 20'000'000) {
    return bad_input("a benchmark of {} items was asked for: choose 1 to 20000000", settings.items);
  }
  std::vector<BenchRow> rows;
  SOTTO_TRY(rows.emplace_back(), bench_device_ranking());
  {
    SOTTO_TRY(const Contest clustered, prepare(SyntheticWorld::clustered, settings.items, true));
    SOTTO_CHECK(compare_exact(clustered, SyntheticWorld::clustered, rows));
    SOTTO_CHECK(compare_prototypes(clustered, rows));
    compare_memory(clustered, rows);
  }
  for (const SyntheticWorld world :
       {SyntheticWorld::isotropic, SyntheticWorld::alike, SyntheticWorld::nearly_alike}) {
    SOTTO_TRY(const Contest contest, prepare(world, settings.items, false));
    SOTTO_CHECK(compare_exact(contest, world, rows));
  }
#ifdef SOTTO_HAVE_HNSWLIB
  SOTTO_CHECK(compare_graph(std::min(settings.graph_items, settings.items), rows));
#endif
  return rows;
}

}  // namespace sotto::bench
