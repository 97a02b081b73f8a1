#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "serving/index/segment.h"

namespace sotto::serving {

namespace {

// Most queries on clustered items end well before; a pass over all blocks is cheaper per block.
constexpr std::size_t shared_pass_after = 512;
constexpr std::ptrdiff_t few_rows = 8;  // scored one by one; more are scored with their block

// A segment, one query, and the exactness of skipping.
class BlockScan {
 public:
  BlockScan(const Segment& segment, const RowSet& alive, const ItemFilter& filter, RunningQuery& running)
      : segment_(segment),
        alive_(alive),
        filter_(filter),
        running_(running),
        slack_(running.query.slack(segment.largest()) * (segment.codes() ? RowCodes::slack_factor : 1)) {
    tighten();
  }

  std::span<const Term> terms() const { return running_.query.terms(); }
  bool can_matter(float bound) const { return bound >= cut_; }

  void scan(std::size_t block) {
    if (segment_.is_constant(block)) {
      const double score = running_.query.score(
          [&](std::uint32_t dimension) { return segment_.value(block * block_rows, dimension); });
      if (!running_.top.would_take(score, segment_.smallest_item(block))) return;
    }
    std::array<float, block_rows> quick;
    const auto terms = running_.query.terms();
    const float largest = segment_.codes()
                              ? segment_.codes()->upper_scores(block, terms, quick)
                              : quick_scores(terms.data(), terms.size(), segment_.block(block), quick.data());
    if (largest < cut_) return;
    const auto in_question = std::count_if(quick.begin(), quick.end(), [&](float q) { return q >= cut_; });
    if (in_question > few_rows) {
      std::array<double, block_rows> exact;
      const double best = exact_scores(terms.data(), running_.query.coefficients().data(), terms.size(),
                                       segment_.block(block), exact.data());
      // Where many rows tie with the k-th best, most blocks hold later numbers only.
      if (!running_.top.would_take(best, segment_.smallest_item(block))) return;
      for (std::size_t j = 0; j < block_rows; ++j) {
        if (quick[j] >= cut_) offer(block * block_rows + j, exact[j]);
      }
      return;
    }
    for (std::size_t j = 0; j < block_rows; ++j) {
      if (quick[j] < cut_) continue;
      const std::size_t row = block * block_rows + j;
      offer(row,
            running_.query.score([&](std::uint32_t dimension) { return segment_.value(row, dimension); }));
    }
  }

 private:
  void offer(std::size_t row, double score) {
    if (!alive_.contains(row) || !running_.top.would_take(score, segment_.item(row))) return;
    if (!filter_.lets_through(segment_.tag(row))) return;
    running_.top.offer({score, segment_.item(row), segment_.tag(row)});
    tighten();
  }

  // The threshold in single precision, rounded down.
  void tighten() {
    const auto nearest = static_cast<float>(running_.top.threshold() - slack_);
    cut_ = std::nextafter(nearest, -std::numeric_limits<float>::infinity());
  }

  const Segment& segment_;
  const RowSet& alive_;
  const ItemFilter& filter_;
  RunningQuery& running_;
  double slack_;
  float cut_ = 0;
};

struct Cell {
  float bound;
  std::uint32_t number;  // of the group, or of the block
  bool is_block;
  bool operator<(const Cell& other) const { return bound < other.bound; }
};

// A heap of groups and blocks; groups are opened when their turn comes.
class BestFirst {
 public:
  BestFirst(const Segment& segment, BlockScan& scan) : segment_(segment), scan_(scan) {
    const Bounds& groups = segment.group_bounds();
    for (std::size_t part = 0; part < groups.parts(); ++part) push_part(groups, part, false);
    std::make_heap(cells_.begin(), cells_.end());
  }

  // The next block that can matter, if any.
  std::optional<std::size_t> next() {
    while (!cells_.empty() && scan_.can_matter(cells_.front().bound)) {
      const Cell best = cells_.front();
      std::pop_heap(cells_.begin(), cells_.end());
      cells_.pop_back();
      if (best.is_block) return best.number;
      const std::size_t before = cells_.size();
      push_part(segment_.block_bounds(), best.number, true);
      for (std::size_t i = before + 1; i <= cells_.size(); ++i) {
        std::push_heap(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    return std::nullopt;
  }

 private:
  void push_part(const Bounds& bounds, std::size_t part, bool is_block) {
    std::array<float, group_blocks> upper;
    bounds.of_part(part, scan_.terms(), upper);
    const std::size_t first = part * group_blocks;
    const std::size_t count = std::min(group_blocks, bounds.cells() - first);
    for (std::size_t i = 0; i < count; ++i) {
      if (scan_.can_matter(upper[i])) {
        cells_.push_back({upper[i], static_cast<std::uint32_t>(first + i), is_block});
      }
    }
  }

  const Segment& segment_;
  BlockScan& scan_;
  std::vector<Cell> cells_;
};

struct Unfinished {
  BlockScan scan;
  RowSet seen;  // blocks
};

void shared_pass(const Segment& segment, std::vector<Unfinished>& queries) {
  std::vector<std::array<float, group_blocks>> bounds(queries.size());
  const Bounds& blocks = segment.block_bounds();
  for (std::size_t part = 0; part < blocks.parts(); ++part) {
    for (std::size_t q = 0; q < queries.size(); ++q) {
      blocks.of_part(part, queries[q].scan.terms(), bounds[q]);
    }
    const std::size_t first = part * group_blocks;
    const std::size_t end = std::min(first + group_blocks, blocks.cells());
    for (std::size_t block = first; block < end; ++block) {
      for (std::size_t q = 0; q < queries.size(); ++q) {
        if (queries[q].scan.can_matter(bounds[q][block - first]) && !queries[q].seen.contains(block)) {
          queries[q].scan.scan(block);
        }
      }
    }
  }
}

}  // namespace

void search_segment(const Segment& segment, const RowSet& alive, const ItemFilter& filter,
                    RunningQuery& running) {
  BlockScan scan(segment, alive, filter, running);
  BestFirst order(segment, scan);
  while (const auto block = order.next()) scan.scan(*block);
}

void search_segment(const Segment& segment, const RowSet& alive, const ItemFilter& filter,
                    std::span<RunningQuery> queries) {
  std::vector<Unfinished> unfinished;
  for (RunningQuery& running : queries) {
    BlockScan scan(segment, alive, filter, running);
    BestFirst order(segment, scan);
    RowSet seen(segment.blocks());
    std::size_t visited = 0;
    std::optional<std::size_t> block;
    while (visited < shared_pass_after && (block = order.next())) {
      scan.scan(*block);
      seen.insert(*block);
      ++visited;
    }
    if (visited == shared_pass_after) unfinished.push_back({scan, std::move(seen)});
  }
  if (!unfinished.empty()) shared_pass(segment, unfinished);
}

}  // namespace sotto::serving
