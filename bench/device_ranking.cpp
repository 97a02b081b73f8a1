// What ranking on the device costs: the list that a server returned, and the whole pool of the pack.

#include <algorithm>
#include <cmath>

#include "bench/benchmarks.h"
#include "device/rank/reranker.h"
#include "serving/pool/synthetic_pool.h"

namespace sotto::bench {

using namespace serving;

namespace {

constexpr std::size_t dimension = 400, pool = 20'000, returned = 500, shown = 10;
constexpr int rounds = 9;

Result<device::DevicePack> make_pack() {
  const SyntheticItems source(SyntheticWorld::clustered, dimension);
  const RowBatch vectors = source.vectors(0, pool);
  std::vector<device::PackItem> items(pool);
  for (std::size_t i = 0; i < pool; ++i) {
    items[i].id = fmt::format("item-{}", i);
    items[i].vector.assign(vectors.row(i).begin(), vectors.row(i).end());
  }
  device::DevicePack pack;
  pack.dimension = dimension;
  SOTTO_TRY(pack.items, device::make_items(std::move(items), dimension));
  return pack;
}

template <class Call>
double quickest_seconds(const Call& call) {
  double best = HUGE_VAL;
  for (int round = 0; round < rounds; ++round) {
    const double start = wall_seconds();
    call();
    best = std::min(best, wall_seconds() - start);
  }
  return best;
}

}  // namespace

Result<BenchRow> bench_device_ranking() {
  SOTTO_TRY(const device::DevicePack pack, make_pack());
  const device::Reranker reranker(pack);
  const std::vector<float> user = SyntheticItems(SyntheticWorld::clustered, dimension).directions(1);
  std::vector<std::string> answer;
  for (const device::RankedItem& item : reranker.rank_pool(user, {}, returned)) answer.push_back(item.item);
  std::vector<device::RankedItem> from_answer, from_pool;
  const double again = quickest_seconds([&] { from_answer = reranker.rank(answer, user, {}, shown); });
  const double all = quickest_seconds([&] { from_pool = reranker.rank_pool(user, {}, shown); });
  if (from_answer != from_pool)
    return failed("a list that holds the best items is ranked otherwise than they are");
  return BenchRow{fmt::format("ranking {} returned items on the device", returned),
                  1e6 * again,
                  1e6 * all,
                  all / again,
                  "us",
                  fmt::format("ranking all {} of the pack", pool)};
}

}  // namespace sotto::bench
