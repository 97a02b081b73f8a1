#include "privacy/accounting/pld_accountant.h"

#include <algorithm>
#include <cmath>
#include <functional>
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
using Tilt = std::function<double(std::span<const LossPower>)>;

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

// Variance of one loss, from a lattice refined until it resolves the bulk.
Result<double> loss_variance(const LossPair& pair, const LossRange& range) {
  double step = std::max(range.high - range.low, 1e-12) / 1024;
  while (true) {
    SOTTO_TRY(const LossLattice lattice, to_lattice(pair, range, step, Rounding::pessimistic));
    const double variance = lattice.variance();
    if (variance >= 200 * step * step || lattice.mass.size() > (std::size_t{1} << 20)) return variance;
    step = std::clamp(std::sqrt(variance / 400), step / 8, step / 2);
  }
}

// Splitting mass inside a step adds at most step²/4 (about step²/6) of variance per use.
constexpr double variance_inflation = 1e-4;

Result<double> first_step(const Direction& direction) {
  double variance = 0;
  double uses = 0;
  double atoms = 0;
  double atom_variance = 0;
  for (std::size_t i = 0; i < direction.pairs.size(); ++i) {
    const double count = static_cast<double>(direction.counts[i]);
    SOTTO_TRY(const double one, loss_variance(direction.pairs[i], direction.ranges[i]));
    variance += count * one;
    uses += count;
    if (const double span = atom_span(direction.pairs[i]); span > 0 && count * one > atom_variance) {
      atoms = span;
      atom_variance = count * one;
    }
  }
  const double step = std::sqrt(6 * variance_inflation * variance / uses);
  if (!(step > 0)) return bad_input("the privacy loss does not vary: nothing to compose");
  // Put the atoms of the most important discrete law (and their middle) on the lattice, where they cost
  // nothing.
  return atoms > 0 ? atoms / (2 * std::max(1.0, std::ceil(atoms / (2 * step)))) : step;
}

struct Lattices {
  std::vector<LossLattice> storage;
  std::vector<LossPower> powers;
};

Result<Lattices> lattices_of(const Direction& direction, double step, Rounding rounding) {
  Lattices lattices;
  lattices.storage.reserve(direction.pairs.size());
  for (std::size_t i = 0; i < direction.pairs.size(); ++i) {
    SOTTO_TRY(LossLattice lattice, to_lattice(direction.pairs[i], direction.ranges[i], step, rounding));
    lattices.storage.push_back(std::move(lattice));
    lattices.powers.push_back({&lattices.storage.back(), direction.counts[i]});
  }
  return lattices;
}

// The worst direction, bracketed with one lattice step.
Result<PldAnswer> bracket(const std::vector<Direction>& directions, double step, bool with_lower,
                          const Tilt& tilt, const Query& query) {
  PldAnswer answer{0, 0, step};
  for (const auto& direction : directions) {
    SOTTO_TRY(const Lattices above, lattices_of(direction, step, Rounding::pessimistic));
    const double lambda = tilt(above.powers);
    SOTTO_TRY(const double upper, query(above.powers, lambda, Rounding::pessimistic));
    answer.upper = std::max(answer.upper, upper);
    if (!with_lower) continue;
    SOTTO_TRY(const Lattices below, lattices_of(direction, step, Rounding::optimistic));
    SOTTO_TRY(const double lower, query(below.powers, lambda, Rounding::optimistic));
    answer.lower = std::max(answer.lower, lower);
  }
  return answer;
}

Result<PldAnswer> refine(const std::vector<Direction>& directions, const PldTarget& target, double absolute,
                         const Tilt& tilt, const Query& query) {
  double step = infinity;
  for (const auto& direction : directions) {
    SOTTO_TRY(const double wanted, first_step(direction));
    step = std::min(step, wanted);
  }
  SOTTO_TRY(PldAnswer best, bracket(directions, step, target.with_lower_bound, tilt, query));
  if (!target.with_lower_bound) return best;
  constexpr int max_halvings = 6;
  for (int i = 0; i < max_halvings; ++i) {
    if (best.upper - best.lower <= std::max(target.relative * best.upper, absolute)) break;
    step /= 2;
    auto finer = bracket(directions, step, true, tilt, query);
    if (!finer) break;  // the largest transform is reached: the answer so far stands, with its gap
    const double gap = best.upper - best.lower;
    best = {std::min(best.upper, finer->upper), std::max(best.lower, finer->lower), step};
    if (best.upper - best.lower > 0.8 * gap) break;  // something else than the step limits the answer
  }
  return best;
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
    SOTTO_TRY(const auto directions, directions_of(events, 1e-6 * share / total_uses(events)));
    SOTTO_TRY(answer, refine(
                          directions, target, target.absolute,
                          [share](auto losses) { return tilt_for_delta(losses, share); },
                          [share](auto losses, double tilt, Rounding rounding) {
                            return composed_epsilon(losses, share, tilt, rounding);
                          }));
    return answer.upper;
  };
  SOTTO_TRY(answer.upper, epsilon_with_sampler_slack(delta, total_variation_of(events), epsilon_at));
  return answer;
}

}  // namespace sotto::privacy
