#include "secagg/item_union/sparse_union.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "privacy/mechanisms/parameter_checks.h"
#include "secagg/item_union/item_set.h"

namespace sotto::secagg {

namespace {

// Tables with four cells per item can be peeled up to 0.772 items per cell when they are large; small ones
// need more air. docs/secagg/union.md has the measured failures for this rule.
constexpr double cells_per_item = 1.35;
constexpr double spare_cells = 96;
constexpr std::uint64_t largest_capacity = std::uint64_t{1} << 26;

// Of an odd number modulo 2^64: each step doubles the correct low bits, starting from three.
std::uint64_t inverse_of_odd(std::uint64_t odd) {
  std::uint64_t inverse = odd;
  for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}

}  // namespace

// The server's work on one sum: owns the table while it shrinks.
class SparseUnionPeeling {
 public:
  SparseUnionPeeling(const SparseUnion& sketch, std::span<const std::uint64_t> sum)
      : sketch_(sketch), table_(sum.begin(), sum.end()) {}

  Result<std::vector<std::uint32_t>> run() {
    std::vector<std::uint64_t> waiting(sketch_.cells());
    for (std::uint64_t cell = 0; cell < waiting.size(); ++cell) waiting[cell] = cell;
    while (!waiting.empty()) {
      const std::uint64_t cell = waiting.back();
      waiting.pop_back();
      const auto item = single_item(cell);
      if (!item) continue;
      // A true union has fewer items than cells; a forged table must not keep us here.
      if (items_.size() == sketch_.cells()) return not_decodable();
      items_.push_back(*item);
      take_out(*item, table_[2 * cell], waiting);
    }
    if (std::any_of(table_.begin(), table_.end(), [](std::uint64_t word) { return word != 0; })) {
      return not_decodable();
    }
    std::sort(items_.begin(), items_.end());
    if (std::adjacent_find(items_.begin(), items_.end()) != items_.end()) return not_decodable();
    return std::move(items_);
  }

 private:
  tl::unexpected<Error> not_decodable() const {
    return failed(
        "the union does not decode: more than about {} items, or an unlucky table; try again with another "
        "seed and "
        "more room",
        sketch_.settings_.capacity);
  }

  // The item x of the catalogue with R·x = the second word, if this is one of its cells.
  std::optional<std::uint32_t> single_item(std::uint64_t cell) const {
    const std::uint64_t weight = table_[2 * cell], weighted = table_[2 * cell + 1];
    if (weight == 0) return std::nullopt;
    const int shift = std::countr_zero(weight);
    const std::uint64_t known = ~std::uint64_t{0} >> shift;  // the ratio is known modulo 2^(64 − shift)
    if (known < sketch_.settings_.catalogue - 1) return std::nullopt;
    const std::uint64_t ratio = (weighted >> shift) * inverse_of_odd(weight >> shift) & known;
    if (ratio >= sketch_.settings_.catalogue || ratio * weight != weighted) return std::nullopt;
    const auto item = static_cast<std::uint32_t>(ratio);
    const auto cells = sketch_.cells_of(item);
    if (std::find(cells.begin(), cells.end(), cell) == cells.end()) return std::nullopt;
    return item;
  }

  void take_out(std::uint32_t item, std::uint64_t weight, std::vector<std::uint64_t>& waiting) {
    for (const std::uint64_t cell : sketch_.cells_of(item)) {
      table_[2 * cell] -= weight;
      table_[2 * cell + 1] -= weight * item;
      waiting.push_back(cell);
    }
    table_.back() -= weight * sketch_.check_of(item);
  }

  const SparseUnion& sketch_;
  std::vector<std::uint64_t> table_;
  std::vector<std::uint32_t> items_;
};

Result<SparseUnion> SparseUnion::create(const Settings& settings) {
  SOTTO_CHECK(require_catalogue(settings.catalogue));
  SOTTO_CHECK(privacy::require_at_least(settings.capacity, 1, "capacity for the union"));
  if (settings.capacity > largest_capacity) {
    return bad_input("a capacity of {} items: at most 2^26, beyond that one entry per item costs less",
                     settings.capacity);
  }
  const double cells = cells_per_item * static_cast<double>(settings.capacity) + spare_cells;
  return SparseUnion(settings, static_cast<std::uint32_t>(std::ceil(cells / quarters)));
}

std::array<std::uint64_t, SparseUnion::quarters> SparseUnion::cells_of(std::uint32_t item) const {
  const auto words = hash_item(settings_.seed, HashUse::cells, item);
  std::array<std::uint64_t, quarters> cells{};
  for (std::uint32_t i = 0; i < quarters; ++i) {
    cells[i] = static_cast<std::uint64_t>(i) * quarter_ + scale_below(words[i], quarter_);
  }
  return cells;
}

std::uint64_t SparseUnion::check_of(std::uint32_t item) const {
  const auto words = hash_item(settings_.seed, HashUse::check, item);
  return std::uint64_t{words[0]} << 32 | words[1];
}

Result<std::vector<std::uint64_t>> SparseUnion::encode(std::span<const std::uint32_t> items,
                                                       privacy::DeviceRandom random) const {
  SOTTO_TRY(const auto distinct, distinct_items(items, settings_.catalogue));
  std::vector<std::uint64_t> table(entries());
  for (const std::uint32_t item : distinct) {
    const std::uint64_t weight = random_nonzero(~std::uint64_t{0}, random.source());
    for (const std::uint64_t cell : cells_of(item)) {
      table[2 * cell] += weight;
      table[2 * cell + 1] += weight * item;
    }
    table.back() += weight * check_of(item);
  }
  return table;
}

// An answer that is wrong has a first wrong step: a cell of several items looked like the single item x, and
// x was taken out with a weight that is off by δ, a sum of weights R of other items, hence uniform: 2^w
// divides it with chance 2^-w. An empty table at the end means that all errors together leave the check word
// alone: Σ δ·h = 0. Nothing in the peeling depends on the hash h, so given the errors this has chance
// 2^(w−64) at most, w the zeros at the end of δ. Over all w: less than 64·2^-64 for each look at a cell. Each
// cell is looked at once, and four again after each of at most `cells` items.
Result<std::vector<std::uint32_t>> SparseUnion::decode(std::span<const std::uint64_t> sum) const {
  if (sum.size() != entries()) return bad_input("the sum has {} words, the table {}", sum.size(), entries());
  return SparseUnionPeeling(*this, sum).run();
}

}  // namespace sotto::secagg
