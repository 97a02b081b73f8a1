#include <algorithm>
#include <cmath>
#include <map>

#include "base/distributions.h"
#include "bench/benchmarks.h"
#include "secagg/item_union/dense_union.h"
#include "secagg/item_union/private_union.h"
#include "secagg/item_union/sparse_union.h"
#include "secagg/vectors/modular_sum.h"

namespace sotto::bench {

namespace {

using Items = std::vector<std::uint32_t>;

constexpr std::uint64_t catalogue = 1000000;

// Sets with a long tail, spread over the catalogue: few items are held by many, most by one.
std::vector<Items> long_tailed_sets(std::size_t devices, std::size_t items, double tail) {
  SeededRandom random(20240229, Purpose::test);
  std::vector<Items> sets(devices, Items(items));
  for (Items& set : sets) {
    for (std::uint32_t& item : set) {
      const auto rank = static_cast<std::uint64_t>(tail * std::pow(uniform01(random), 3));
      item = static_cast<std::uint32_t>(rank * 7919 % catalogue);
    }
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
  return sets;
}

std::map<std::uint32_t, std::uint64_t> holders(const std::vector<Items>& sets) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const Items& set : sets) {
    for (const std::uint32_t item : set) ++counts[item];
  }
  return counts;
}

struct UnionCosts {
  Items items;
  double device_ms = 0;  // encoding, per device
  double server_ms = 0;  // adding up and decoding
};

template <class Union>
Result<UnionCosts> measure(const Union& form, const std::vector<Items>& sets) {
  SecureRandom random;
  UnionCosts measured;
  decltype(form.encode(sets.front(), random)) sum = form.encode({}, random);
  for (const Items& set : sets) {
    double start = thread_seconds();
    SOTTO_TRY(const auto entries, form.encode(set, random));
    measured.device_ms += 1e3 * (thread_seconds() - start) / static_cast<double>(sets.size());
    start = thread_seconds();
    SOTTO_CHECK(secagg::add_entries(*sum, entries));
    measured.server_ms += 1e3 * (thread_seconds() - start);
  }
  const double start = thread_seconds();
  SOTTO_TRY(measured.items, form.decode(*sum));
  measured.server_ms += 1e3 * (thread_seconds() - start);
  return measured;
}

BenchRow row(std::string name, double ours, double baseline, std::string unit) {
  return {std::move(name), ours, baseline, baseline / ours, std::move(unit), "one entry per item of 10^6"};
}

Status compare_plain(std::vector<BenchRow>& rows) {
  const auto sets = long_tailed_sets(50, 114, 6000);
  const auto counts = holders(sets);
  Items truth;
  for (const auto& [item, count] : counts) truth.push_back(item);
  SOTTO_TRY(const auto dense, secagg::DenseUnion::create(catalogue));
  SOTTO_TRY(const auto sparse, secagg::SparseUnion::create({catalogue, truth.size() * 5 / 4, 1}));
  SOTTO_TRY(const UnionCosts baseline, measure(dense, sets));
  SOTTO_TRY(const UnionCosts ours, measure(sparse, sets));
  if (ours.items != truth || baseline.items != truth) {
    return failed("the unions differ: {} items sparse, {} dense, {} in the clear", ours.items.size(),
                  baseline.items.size(), truth.size());
  }
  rows.push_back(row("union of 50, bytes per device", static_cast<double>(sparse.bytes_per_device()),
                     static_cast<double>(dense.bytes_per_device()), "bytes"));
  rows.push_back(row("union of 50, device", ours.device_ms, baseline.device_ms, "ms"));
  rows.push_back(row("union of 50, server", ours.server_ms, baseline.server_ms, "ms"));
  return {};
}

// Everything held by clearly more than the threshold must be named.
Status check_popular(const UnionCosts& measured, const secagg::PrivateUnion& form,
                     const std::map<std::uint32_t, std::uint64_t>& counts) {
  for (const auto& [item, count] : counts) {
    const double clear = 2 * form.threshold() + 8;
    if (static_cast<double>(count) < clear) continue;
    if (!std::binary_search(measured.items.begin(), measured.items.end(), item)) {
      return failed("item {} with {} holders is not named at a threshold of {}", item, count,
                    form.threshold());
    }
  }
  return {};
}

Status compare_private(std::vector<BenchRow>& rows) {
  constexpr std::uint32_t most_items = 20;
  const auto sets = long_tailed_sets(100, most_items, 500);
  const auto counts = holders(sets);
  const secagg::PrivateUnion::Settings settings{
      .cap = most_items, .devices = 100, .dropped = 10, .noise_multiplier = 1};
  SOTTO_TRY(const auto per_item, secagg::CounterLayout::one_per_item(catalogue));
  SOTTO_TRY(const auto hashed,
            secagg::CounterLayout::hashed(catalogue, {.rows = 3, .counters = 20000, .seed = 1}));
  SOTTO_TRY(const auto dense, secagg::PrivateUnion::create(per_item, settings));
  SOTTO_TRY(const auto sparse, secagg::PrivateUnion::create(hashed, settings));
  SOTTO_TRY(const UnionCosts baseline, measure(dense, sets));
  SOTTO_TRY(const UnionCosts ours, measure(sparse, sets));
  SOTTO_CHECK(check_popular(baseline, dense, counts));
  SOTTO_CHECK(check_popular(ours, sparse, counts));
  rows.push_back(row("private union of 100, bytes per device", static_cast<double>(sparse.bytes_per_device()),
                     static_cast<double>(dense.bytes_per_device()), "bytes"));
  rows.push_back(row("private union of 100, device", ours.device_ms, baseline.device_ms, "ms"));
  rows.push_back(row("private union of 100, server", ours.server_ms, baseline.server_ms, "ms"));
  return {};
}

}  // namespace

Result<std::vector<BenchRow>> bench_union() {
  std::vector<BenchRow> rows;
  SOTTO_CHECK(compare_plain(rows));
  SOTTO_CHECK(compare_private(rows));
  return rows;
}

}  // namespace sotto::bench
