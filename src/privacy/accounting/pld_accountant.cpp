#include "privacy/accounting/pld_accountant.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "privacy/accounting/composition_rules.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/loss_composition.h"

namespace sotto::privacy {
namespace {

// One neighbouring direction of the whole composition.
struct Direction {
  std::vector<LossPair> pairs;
  std::vector<std::uint64_t> counts;
  std::vector<LossRange> ranges;
};

using Query = std::function<Result<double>(std::span<const LossPower>, double tilt, Rounding)>;
using Tilt = std::function<double(std::span<const LossPower>, double start)>;

Result<std::vector<Direction>> directions_of(std::span<const PrivacyEvent> events, double tail) {
  Direction remove;
  Direction add;
  bool symmetric = true;
  for (const auto& event : events) {
    SOTTO_TRY(LossPairs pairs, dominating_pairs(event));
    symmetric = symmetric && pairs.symmetric;
    add.pairs.push_back(pairs.symmetric ? pairs.remove : std::move(pairs.add));
    remove.pairs.push_back(std::move(pairs.remove));
    add.counts.push_back(event.count);
    remove.counts.push_back(event.count);
  }
  std::vector<Direction> directions{std::move(remove)};
  if (!symmetric) directions.push_back(std::move(add));
  for (auto& direction : directions) {
    for (const auto& pair : direction.pairs) direction.ranges.push_back(loss_range(pair, tail));
  }
  return directions;
}

// A law on as few points as its variance needs, to choose the step by: plain, and tilted as the sum is where
// it counts.
class Sketch {
 public:
  static Result<Sketch> create(const Direction& direction, double delta) {
    Sketch sketch;
    SOTTO_CHECK(sketch.draw(direction));
    // The tails weigh more the better they are drawn: a few rounds settle it.
    for (int i = 0; i < 2; ++i) {
      sketch.tilt_ = tilt_for_delta(sketch.powers_, 1e-4 * delta,
                                    sketch.tilt_);  // of δ itself, where it is e^{−K} that counts
      SOTTO_CHECK(sketch.draw(direction));
    }
    return sketch;
  }

  double tilt() const { return tilt_; }
  double log_scale(std::size_t i) const { return cumulants(laws_[i], tilt_).value; }
  double variance(std::size_t i) const { return laws_[i].variance(); }
  // Chernoff's bound, δ(ε) ≤ e^{K − λε} + what is infinite. The sketch is pessimistic, so ε surely is not
  // above it.
  double epsilon(double delta) const {
    double infinite = 0;
    for (const auto& [law, count] : powers_) infinite += static_cast<double>(count) * law->infinite;
    if (!(tilt_ > 0) || !(infinite < delta)) return infinity;
    return std::max(0.0, (cumulants(powers_, tilt_).value - std::log(delta - infinite)) / tilt_) * (1 + 1e-9);
  }

 private:
  Status draw(const Direction& direction) {
    std::vector<LossLattice> drawn;
    for (std::size_t i = 0; i < direction.pairs.size(); ++i) {
      const LossPair& pair = direction.pairs[i];
      const LossRange& range = direction.ranges[i];
      const double span = std::max(range.high - range.low, 1e-12);
      Coarseness coarseness{0, 0, laws_.empty() ? span * span / 64 : cells_share * variance(i)};
      if (!laws_.empty()) {
        coarseness.tilt = tilt_;
        coarseness.log_scale = log_scale(i);
      }
      double drawn_variance = 0;
      while (true) {
        SOTTO_TRY(const LossGrid grid, loss_grid(pair, range, span / finest, coarseness));
        drawn.resize(i);
        drawn.push_back(to_lattice(pair, grid, Rounding::pessimistic));
        drawn_variance = drawn.back().variance();
        if (coarseness.most <= 2 * cells_share * drawn_variance || grid.places.size() > most_points) break;
        coarseness.most = std::max(cells_share * drawn_variance, coarseness.most / 64);
      }
    }
    laws_ = std::move(drawn);
    powers_.clear();
    for (std::size_t i = 0; i < laws_.size(); ++i) powers_.push_back({&laws_[i], direction.counts[i]});
    return {};
  }

  static constexpr double finest = 1 << 24;
  static constexpr double cells_share = 1.0 / 2000;
  static constexpr std::size_t most_points = 20'000;

  double tilt_ = 0;
  std::vector<LossLattice> laws_;
  std::vector<LossPower> powers_;
};

// How the loss of a direction is rounded.
struct Resolution {
  double epsilon_at_most = infinity;
  double step = 0;
  std::vector<Coarseness> coarseness;  // of each pair
  // One law used often enough is composed in blocks of so many uses, on every `coarser`-th point; 0: at once.
  std::uint64_t block = 0;
  std::int64_t coarser = 1;

  void halve() {
    step /= 2;
    for (auto& one : coarseness) one.most /= 4;
  }
};

// A sum of T uses needs about √T times the points of one. In blocks of √T uses it needs the fourth root's
// times, twice: a block is as fine as one use, and the sum of blocks coarser by as much as a block varies
// more. Nothing is won where single uses, rarely, move the loss further than a block does mostly.
void choose_blocks(Resolution& resolution, std::uint64_t uses, const LossRange& range, double variance) {
  constexpr std::uint64_t worth_it = 400;
  const double root = std::sqrt(static_cast<double>(uses));
  if (uses < worth_it || range.high - range.low > 40 * std::sqrt(variance * root)) return;
  // Preferably a divisor: what is left over is a block of its own.
  const auto cost = [&](std::uint64_t size) {
    return std::pair(uses % size != 0, std::abs(static_cast<double>(size) - root));
  };
  resolution.block = static_cast<std::uint64_t>(root);
  for (auto size = static_cast<std::uint64_t>(root / 1.5); static_cast<double>(size) <= 1.5 * root; ++size)
    if (cost(size) < cost(resolution.block)) resolution.block = size;
  const auto size = static_cast<double>(resolution.block);
  resolution.coarser = static_cast<std::int64_t>(std::sqrt(size));
  // Both roundings together inflate the variance as one at the step asked for.
  const auto coarser = static_cast<double>(resolution.coarser);
  resolution.step /= std::sqrt(1 + coarser * coarser / size);
}

// Rounding inside a step adds at most step²/4 (about step²/6) of variance v per use, and about v/2 to its
// mean: ε moves by about v·(λ + 1)/2 where the sum is tilted by λ. The step is the larger of the one that
// inflates the variance by a tenth of the error wanted, relatively, and the one that moves ε by a twentieth
// of it.
Result<Resolution> first_resolution(const Direction& direction, double delta, const PldTarget& target) {
  SOTTO_TRY(const Sketch sketch, Sketch::create(direction, delta));
  double variance = 0;
  double uses = 0;
  double atoms = 0;
  double atom_variance = 0;
  for (std::size_t i = 0; i < direction.pairs.size(); ++i) {
    const double count = static_cast<double>(direction.counts[i]);
    const double one = sketch.variance(i);
    variance += count * one;
    uses += count;
    if (const double span = atom_span(direction.pairs[i]); span > 0 && count * one > atom_variance) {
      atoms = span;
      atom_variance = count * one;
    }
  }
  Resolution resolution;
  resolution.epsilon_at_most = sketch.epsilon(delta);
  const double expected = std::isfinite(resolution.epsilon_at_most) ? resolution.epsilon_at_most : 0;
  const double error = std::max(target.relative * expected, target.absolute) / 20;
  resolution.step = std::max(std::sqrt(6 * target.relative / 10 * variance / uses),
                             std::sqrt(12 * error / (uses * (sketch.tilt() + 1))));
  if (!(resolution.step > 0)) return bad_input("the privacy loss does not vary: nothing to compose");
  // Atoms lie on the lattice of one use, where they cost nothing, but not on that of blocks.
  if (direction.pairs.size() == 1 && !target.with_lower_bound && atoms == 0)
    choose_blocks(resolution, direction.counts.front(), direction.ranges.front(), sketch.variance(0));
  // Put the atoms of the most important discrete law (and their middle) on the lattice, where they cost
  // nothing.
  if (atoms > 0) resolution.step = atoms / (2 * std::max(1.0, std::ceil(atoms / (2 * resolution.step))));
  // A thousand cells then add a fifth of what the step itself does.
  const double most = resolution.step * resolution.step / 5000;
  for (std::size_t i = 0; i < direction.pairs.size(); ++i)
    resolution.coarseness.push_back({sketch.tilt(), sketch.log_scale(i), most});
  return resolution;
}

struct Lattices {
  std::vector<LossLattice> storage;
  std::vector<LossPower> powers;
};

Lattices lattices_of(const Direction& direction, const std::vector<LossGrid>& grids, Rounding rounding) {
  Lattices lattices;
  for (std::size_t i = 0; i < grids.size(); ++i)
    lattices.storage.push_back(to_lattice(direction.pairs[i], grids[i], rounding));
  for (std::size_t i = 0; i < grids.size(); ++i)
    lattices.powers.push_back({&lattices.storage[i], direction.counts[i]});
  return lattices;
}

Result<std::vector<LossGrid>> grids_of(const Direction& direction, const Resolution& resolution) {
  std::vector<LossGrid> grids;
  for (std::size_t i = 0; i < direction.pairs.size(); ++i) {
    SOTTO_TRY(LossGrid grid,
              loss_grid(direction.pairs[i], direction.ranges[i], resolution.step, resolution.coarseness[i]));
    grids.push_back(std::move(grid));
  }
  return grids;
}

Result<double> upper_in_blocks(const LossPower& uses, const Resolution& resolution, double tilt,
                               const Query& query) {
  SOTTO_TRY(const LossLattice block, composed_block({uses.loss, resolution.block}, tilt, resolution.coarser));
  LossLattice rest;
  std::vector<LossPower> powers{{&block, uses.count / resolution.block}};
  if (const std::uint64_t left = uses.count % resolution.block; left > 0) {
    SOTTO_TRY(rest, composed_block({uses.loss, left}, tilt, resolution.coarser));
    powers.push_back({&rest, 1});
  }
  return query(powers, tilt, Rounding::pessimistic);
}

// The worst direction, bracketed.
Result<PldAnswer> bracket(const std::vector<Direction>& directions,
                          const std::vector<Resolution>& resolutions, bool with_lower, const Tilt& tilt,
                          const Query& query) {
  PldAnswer answer{0, 0, infinity};
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const Direction& direction = directions[i];
    if (resolutions[i].epsilon_at_most <= answer.upper) continue;  // the worst is known
    answer.step = std::min(answer.step, resolutions[i].step);
    SOTTO_TRY(const auto grids, grids_of(direction, resolutions[i]));
    const Lattices above = lattices_of(direction, grids, Rounding::pessimistic);
    const double lambda = tilt(above.powers, resolutions[i].coarseness.front().tilt);
    Result<double> upper = failed("not composed yet");
    if (resolutions[i].block > 0)
      upper = upper_in_blocks(above.powers.front(), resolutions[i], lambda, query);
    if (!upper) upper = query(above.powers, lambda, Rounding::pessimistic);
    if (!upper) return tl::unexpected(upper.error());
    answer.upper = std::max(answer.upper, *upper);
    if (!with_lower) continue;
    const Lattices below = lattices_of(direction, grids, Rounding::optimistic);
    SOTTO_TRY(const double lower, query(below.powers, lambda, Rounding::optimistic));
    answer.lower = std::max(answer.lower, lower);
  }
  return answer;
}

Result<PldAnswer> refine(std::vector<Direction> directions, double delta, const PldTarget& target,
                         const Tilt& tilt, const Query& query) {
  std::vector<Resolution> resolutions;
  for (const auto& direction : directions) {
    SOTTO_TRY(Resolution wanted, first_resolution(direction, delta, target));
    resolutions.push_back(std::move(wanted));
  }
  // The direction that looks worse comes first: it often spares the other.
  if (resolutions.size() == 2 && resolutions[0].epsilon_at_most < resolutions[1].epsilon_at_most) {
    std::swap(directions[0], directions[1]);
    std::swap(resolutions[0], resolutions[1]);
  }
  SOTTO_TRY(PldAnswer best, bracket(directions, resolutions, target.with_lower_bound, tilt, query));
  if (!target.with_lower_bound) return best;
  constexpr int max_halvings = 6;
  for (int i = 0; i < max_halvings; ++i) {
    if (best.upper - best.lower <= std::max(target.relative * best.upper, target.absolute)) break;
    for (auto& resolution : resolutions) resolution.halve();
    auto finer = bracket(directions, resolutions, true, tilt, query);
    if (!finer) break;  // the largest transform is reached: the answer so far stands, with its gap
    const double gap = best.upper - best.lower;
    best = {std::min(best.upper, finer->upper), std::max(best.lower, finer->lower), finer->step};
    if (best.upper - best.lower > 0.8 * gap) break;  // something else than the step limits the answer
  }
  return best;
}

// One use is not composed: δ(ε) is a difference of its tails. Nothing where no ε is enough for δ.
std::optional<PldAnswer> one_use(const std::vector<Direction>& directions, double delta) {
  PldAnswer answer;
  for (const auto& direction : directions) {
    const LossPair& pair = direction.pairs.front();
    // Where δ(ε) crosses δ, by halving; says the end that surely is on the side of the rounding.
    const auto crossing = [&](Rounding rounding) -> std::optional<double> {
      double low = 0;
      double high = std::max(1e-300, direction.ranges.front().high);
      if (hockey_stick(pair, low, rounding) <= delta) return low;
      if (hockey_stick(pair, high, rounding) > delta) return std::nullopt;
      for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (hockey_stick(pair, middle, rounding) > delta ? low : high) = middle;
      }
      return rounding == Rounding::pessimistic ? high : low;
    };
    const auto upper = crossing(Rounding::pessimistic);
    const auto lower = crossing(Rounding::optimistic);
    if (!upper || !lower) return std::nullopt;
    answer.upper = std::max(answer.upper, *upper);
    answer.lower = std::max(answer.lower, *lower);
  }
  return answer;
}

double total_uses(std::span<const PrivacyEvent> events) {
  double uses = 0;
  for (const auto& event : events) uses += static_cast<double>(event.count);
  return uses;
}

}  // namespace

Result<PldAnswer> pld_epsilon(std::span<const PrivacyEvent> events, double delta, const PldTarget& target) {
  SOTTO_CHECK(validate_composition(events));
  SOTTO_CHECK(validate_delta(delta));
  if (const double spent = delta_of_approximate_events(events); spent >= delta) {
    return bad_input("the events alone use up delta {:.3g}; ask for a delta above that", spent);
  }
  PldAnswer answer;
  const auto epsilon_at = [&](double share) -> Result<double> {
    // What is cut off above the range has infinite loss: a millionth of δ in all.
    SOTTO_TRY(auto directions, directions_of(events, 1e-6 * share / total_uses(events)));
    if (total_uses(events) == 1) {
      if (const auto found = one_use(directions, share)) {
        answer = *found;
        return answer.upper;
      }
    }
    SOTTO_TRY(answer, refine(
                          std::move(directions), share, target,
                          [share](auto losses, double start) { return tilt_for_delta(losses, share, start); },
                          [share](auto losses, double tilt, Rounding rounding) {
                            return composed_epsilon(losses, share, tilt, rounding);
                          }));
    return answer.upper;
  };
  SOTTO_TRY(answer.upper, epsilon_with_sampler_slack(delta, sampler_distance_of(events), epsilon_at));
  return answer;
}

}  // namespace sotto::privacy
