#include "privacy/accounting/loss_lattice.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "privacy/accounting/log_math.h"

namespace sotto::privacy {
namespace {

constexpr std::int64_t max_points = std::int64_t{1} << 23;

struct Mass {
  double value = 0;
  double error = 0;
};

// Rounding error of a computed tail x: a few units of the erfc itself, plus its argument's, which costs about
// z² ≈ −2 log x units. The exponent bounds the logarithm from below, in a tenth of its time.
double tail_error(double x) {
  return x > 0 ? rounding_unit * x * (8 - 4 * std::numbers::ln2 * std::ilogb(x)) : 0;
}

// Mass of (a, b] from whichever tails are small.
Mass between(double below_a, double above_a, double below_b, double above_b) {
  const bool from_below = below_b <= above_a;
  const double large = from_below ? below_b : above_a;
  const double small = from_below ? below_a : above_b;
  return {std::max(0.0, large - small), tail_error(large) + tail_error(small)};
}

struct BinMass {
  Mass p, q;
};

BinMass between(const LossTails& a, const LossTails& b) {
  return {between(a.p_below, a.p_above, b.p_below, b.p_above),
          between(a.q_below, a.q_above, b.q_below, b.q_above)};
}

double loss_of(const LossAtom& atom) { return std::log(atom.p) - std::log(atom.q); }
bool is_finite(const LossAtom& atom) { return atom.p > 0 && atom.q > 0; }

// e^loss · q without overflow while q underflows. `factor` is e^loss where the caller has it.
double scaled(double q, double loss, double factor) {
  constexpr double smallest = 1e-280;
  if (q > smallest && factor > smallest && factor < 1 / smallest) return factor * q;
  return q > 0 ? std::exp(loss + std::log(q)) : 0;
}
double scaled(double q, double loss) { return scaled(q, loss, std::exp(loss)); }

double lattice_offset(const LossPair& pair, double step) {
  double lowest = infinity;
  for (const auto& atom : pair.atoms) {
    if (is_finite(atom)) lowest = std::min(lowest, loss_of(atom));
  }
  if (!std::isfinite(lowest)) return 0;
  return lowest - step * std::round(lowest / step);
}

// Splits the mass of losses between two points between them.
void connect_the_dots(LossLattice& lattice, std::size_t at, const BinMass& bin) {
  const double lower = lattice.loss(at);
  const double width = static_cast<double>(lattice.places[at + 1] - lattice.places[at]) * lattice.step;
  const double p = bin.p.value + bin.p.error;
  const double factor = std::exp(lower);
  const double slack = bin.p.error + scaled(bin.q.error, lower, factor);
  const double upper_part =
      std::clamp((bin.p.value - scaled(bin.q.value, lower, factor) + slack) / -std::expm1(-width), 0.0, p);
  lattice.mass[at] += p - upper_part;
  lattice.mass[at + 1] += upper_part;
}

// The last of the points, from the first on, that is not above `loss`, as far as one computes.
std::size_t point_below(const LossLattice& lattice, double loss) {
  const double place = std::floor((loss - lattice.offset) / lattice.step);
  const auto above =
      std::upper_bound(lattice.places.begin(), lattice.places.end(), place,
                       [](double wanted, std::int64_t at) { return wanted < static_cast<double>(at); });
  return above == lattice.places.begin() ? 0 : static_cast<std::size_t>(above - lattice.places.begin()) - 1;
}

void fill_pessimistic(LossLattice& lattice, const LossPair& pair, const LossGrid& grid) {
  const std::size_t points = lattice.mass.size();
  if (pair.tails) {
    const double lowest = grid.tails.front().p_below;
    lattice.mass[0] += lowest + tail_error(lowest);
    for (std::size_t i = 0; i + 1 < points; ++i)
      connect_the_dots(lattice, i, between(grid.tails[i], grid.tails[i + 1]));
    const double highest = grid.tails.back().p_above;
    lattice.infinite += highest + tail_error(highest);
  }
  for (const auto& atom : pair.atoms) {
    if (!is_finite(atom)) {
      lattice.infinite += atom.p;
      continue;
    }
    connect_the_dots(lattice, std::min(point_below(lattice, loss_of(atom)), points - 2),
                     {{atom.p, 4 * rounding_unit * atom.p}, {atom.q, 4 * rounding_unit * atom.q}});
  }
}

// All outcomes merged into one lattice point, and the rounding error of their masses.
struct Cell {
  Mass p, q;

  void add(const BinMass& bin, double share = 1) {
    p.value += share * bin.p.value;
    p.error += share * bin.p.error;
    q.value += share * bin.q.value;
    q.error += share * bin.q.error;
  }
  void keep(double share) {
    p = {share * p.value, share * p.error};
    q = {share * q.value, share * q.error};
  }
};

// Moves a share of the neighbour's outcomes into the cell (post-processing again) so that the cell's loss
// becomes exactly `loss`. Does nothing where the neighbour cannot provide it.
void level(Cell& cell, Cell& neighbour, double loss) {
  const double lack = scaled(cell.q.value, loss) - cell.p.value;
  const double offer = neighbour.p.value - scaled(neighbour.q.value, loss);
  const double share = lack / offer;
  if (!(share > 0 && share <= 0.5)) return;
  cell.add({neighbour.p, neighbour.q}, share);
  neighbour.keep(1 - share);
}

// How far a cell's loss surely lies above `loss`; at least minus half a step mathematically.
double excess_over(const Cell& cell, double loss) {
  return std::log((cell.p.value - cell.p.error) / (cell.q.value + cell.q.error)) - loss -
         8 * rounding_unit * (1 + std::abs(loss));
}

// The shift that costs least: cells below the shifted point lose all down to the point before, all others the
// shift.
double cheapest_shift(const LossLattice& lattice, const std::vector<Cell>& cells) {
  constexpr int most_halvings = 40;
  std::vector<double> lost(most_halvings + 2,
                           0.0);  // what shift −step/2^j costs the cells that it leaves below
  double total = 0;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (cells[i].p.value <= cells[i].p.error) continue;
    total += cells[i].p.value;
    const double excess = excess_over(cells[i], lattice.loss(i));
    if (excess >= 0) continue;
    const double halvings =
        std::floor(std::log2(-lattice.step / excess));  // the finest shift that still covers it
    lost[static_cast<std::size_t>(std::clamp(halvings + 1, 1.0, most_halvings + 1.0))] +=
        cells[i].p.value * (lattice.loss(i) - lattice.loss(i - 1));
  }
  double best = -lattice.step / 2;
  double best_cost = infinity;
  double below = 0;
  for (int j = 1; j <= most_halvings; ++j) {
    below += lost[static_cast<std::size_t>(j)];
    const double shift = std::ldexp(lattice.step, -j);
    const double cost = below + total * shift;
    if (cost < best_cost) {
      best_cost = cost;
      best = -shift;
    }
  }
  return best;
}

void fill_optimistic(LossLattice& lattice, const LossPair& pair) {
  const std::size_t points = lattice.mass.size();
  std::vector<Cell> cells(points);
  double above_range = 0;
  if (pair.tails) {
    // A cell ends in the middle between its point and the next; the last one half a step above.
    LossTails left = pair.tails((lattice.loss(0) + lattice.loss(1)) / 2);
    for (std::size_t i = 1; i < points; ++i) {
      const double end =
          i + 1 < points ? (lattice.loss(i) + lattice.loss(i + 1)) / 2 : lattice.loss(i) + lattice.step / 2;
      const LossTails right = pair.tails(end);
      cells[i].add(between(left, right));
      left = right;
    }
    above_range = std::max(0.0, left.p_above - tail_error(left.p_above));
  }
  for (const auto& atom : pair.atoms) {
    if (!is_finite(atom)) {
      lattice.infinite += atom.p;
      continue;
    }
    std::size_t nearest = point_below(lattice, loss_of(atom));
    if (nearest + 1 < points && loss_of(atom) > (lattice.loss(nearest) + lattice.loss(nearest + 1)) / 2)
      ++nearest;
    cells[std::max<std::size_t>(nearest, 1)].add(
        {{atom.p, 4 * rounding_unit * atom.p}, {atom.q, 4 * rounding_unit * atom.q}});
  }
  // Cells whose loss fell below their point borrow from above, then those above it from below.
  for (std::size_t i = 1; i + 1 < points; ++i) {
    if (scaled(cells[i].q.value, lattice.loss(i)) > cells[i].p.value)
      level(cells[i], cells[i + 1], lattice.loss(i));
  }
  for (std::size_t i = points - 1; i > 1; --i) {
    if (scaled(cells[i].q.value, lattice.loss(i)) < cells[i].p.value)
      level(cells[i], cells[i - 1], lattice.loss(i));
  }
  const double shift = cheapest_shift(lattice, cells);
  for (std::size_t i = 1; i < points; ++i) {
    const double mass = cells[i].p.value - cells[i].p.error;
    if (mass <= 0) continue;
    lattice.mass[excess_over(cells[i], lattice.loss(i)) >= shift ? i : i - 1] += mass;
  }
  lattice.mass[points - 1] += above_range;
  lattice.offset += shift;
}

// Halves cells until each is fine enough, from the lowest to the highest.
class Bisection {
 public:
  Bisection(const LossPair& pair, const Coarseness& coarseness, LossGrid& grid)
      : pair_(pair), coarseness_(coarseness), grid_(grid) {}

  // False: that takes too many points.
  bool fill(double first, double last) {
    const auto from = static_cast<std::int64_t>(first);
    const auto to = static_cast<std::int64_t>(last);
    if (coarseness_.most <= 0 && to - from >= max_points) return false;
    const LossTails left = tails_at(from);
    keep(from, left);
    return halve(from, left, to, tails_at(to));
  }

 private:
  bool halve(std::int64_t from, const LossTails& left, std::int64_t to, const LossTails& right) {
    if (to - from == 1 || is_fine(from, left, to, right)) {
      keep(to, right);
      return static_cast<std::int64_t>(grid_.places.size()) <= max_points;
    }
    const std::int64_t middle = from + (to - from) / 2;
    const LossTails between_them = tails_at(middle);
    return halve(from, left, middle, between_them) && halve(middle, between_them, to, right);
  }

  bool is_fine(std::int64_t from, const LossTails& left, std::int64_t to, const LossTails& right) const {
    if (coarseness_.most <= 0) return false;
    const double low = loss(from);
    const double high = loss(to);
    double mass = pair_.tails ? between(left, right).p.value : 0;
    for (const auto& atom : pair_.atoms)
      if (is_finite(atom) && loss_of(atom) > low - grid_.step / 2 && loss_of(atom) < high + grid_.step / 2)
        mass += atom.p;
    const double weight = 1 + std::exp(coarseness_.tilt * high - coarseness_.log_scale);
    return mass == 0 || weight * mass * (high - low) * (high - low) <= coarseness_.most;
  }

  double loss(std::int64_t place) const { return static_cast<double>(place) * grid_.step + grid_.offset; }
  LossTails tails_at(std::int64_t place) const {
    return pair_.tails ? pair_.tails(loss(place)) : LossTails{};
  }
  void keep(std::int64_t place, const LossTails& tails) {
    grid_.places.push_back(place);
    if (pair_.tails) grid_.tails.push_back(tails);
  }

  const LossPair& pair_;
  const Coarseness& coarseness_;
  LossGrid& grid_;
};

// A point just outside of where `is_inside` begins, by bisection.
template <class Inside>
double boundary(double outside, double inside, const Inside& is_inside) {
  for (int i = 0; i < 60; ++i) {
    const double middle = (outside + inside) / 2;
    (is_inside(middle) ? inside : outside) = middle;
  }
  return outside;
}

}  // namespace

double LossLattice::variance() const {
  double total = 0;
  double mean = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    total += mass[i];
    mean += mass[i] * loss(i);
  }
  if (total <= 0) return 0;
  mean /= total;
  double sum = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) sum += mass[i] * (loss(i) - mean) * (loss(i) - mean);
  return sum / total;
}

LossRange loss_range(const LossPair& pair, double tail) {
  LossRange range{infinity, -infinity};
  for (const auto& atom : pair.atoms) {
    if (!is_finite(atom)) continue;
    range.low = std::min(range.low, loss_of(atom));
    range.high = std::max(range.high, loss_of(atom));
  }
  if (!pair.tails) return range;
  double low = -1;
  while (pair.tails(low).p_below > tail) low *= 2;
  double high = 1;
  while (pair.tails(high).p_above > tail) high *= 2;
  range.low =
      std::min(range.low, boundary(low, high, [&](double x) { return pair.tails(x).p_below > tail; }));
  range.high =
      std::max(range.high, boundary(high, low, [&](double x) { return pair.tails(x).p_above > tail; }));
  return range;
}

Result<LossGrid> loss_grid(const LossPair& pair, const LossRange& range, double step,
                           const Coarseness& coarseness) {
  LossGrid grid;
  grid.step = step;
  grid.offset = lattice_offset(pair, step);
  const double first = std::floor((range.low - grid.offset) / step) - 1;
  const double last = std::ceil((range.high - grid.offset) / step) + 1;
  if (!(std::abs(first) < 1e15) || !(std::abs(last) < 1e15) ||
      !Bisection(pair, coarseness, grid).fill(first, last)) {
    return failed("a loss range of {:.3g} to {:.3g} needs too many lattice points of {:.3g}", range.low,
                  range.high, step);
  }
  return grid;
}

LossLattice to_lattice(const LossPair& pair, const LossGrid& grid, Rounding rounding) {
  LossLattice lattice;
  lattice.step = grid.step;
  lattice.offset = grid.offset;
  lattice.places = grid.places;
  lattice.mass.assign(grid.places.size(), 0.0);
  if (rounding == Rounding::pessimistic) {
    fill_pessimistic(lattice, pair, grid);
  } else {
    fill_optimistic(lattice, pair);
  }
  return lattice;
}

double hockey_stick(const LossPair& pair, double epsilon, Rounding rounding) {
  Mass more;
  Mass less;
  for (const auto& atom : pair.atoms) {
    if (atom.q > 0 && std::log(atom.p) - std::log(atom.q) <= epsilon) continue;
    more.value += atom.p;
    less.value += scaled(atom.q, epsilon);
  }
  more.error = 4 * rounding_unit * more.value;
  less.error = 4 * rounding_unit * less.value;
  if (pair.tails) {
    const LossTails tails = pair.tails(epsilon);
    more.value += tails.p_above;
    more.error += tail_error(tails.p_above);
    less.value += scaled(tails.q_above, epsilon);
    less.error += scaled(tail_error(tails.q_above), epsilon);
  }
  const double error =
      more.error + less.error + 8 * rounding_unit * (1 + epsilon) * (more.value + less.value);
  return more.value - less.value + (rounding == Rounding::pessimistic ? error : -error);
}

double atom_span(const LossPair& pair) {
  const LossRange range = loss_range({pair.atoms, {}}, 0);
  return range.high > range.low ? range.high - range.low : 0;
}

}  // namespace sotto::privacy
