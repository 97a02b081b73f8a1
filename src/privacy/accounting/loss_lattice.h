#pragma once
// A privacy loss law on points of an equally spaced lattice, rounded so that it errs on a known side. Where
// there is little mass, most points of the lattice are left out.
//
// Pessimistic: the mass between two of the points is split between them so that both its P-mass and its
// Q-mass survive. That pair dominates the true one, and no pair on the same points does so with less
// (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, "connect the dots"). The mass above the range goes to
// infinite loss. Optimistic: all outcomes nearest to one lattice point are merged, then a share of a
// neighbouring cell is merged in so that the common loss falls on the point itself. Merging is
// post-processing, so the true pair dominates the result. What rounding leaves below its point is covered by
// lowering the whole lattice by a sliver. The mass below the range is dropped. Both keep the error of T-fold
// composition near T·step² for continuous laws, and both charge the rounding error of every tail difference
// to the safe side.

#include <cstdint>
#include <functional>
#include <vector>

#include "privacy/accounting/event.h"

namespace sotto::privacy {

// Dominating pairs (P, Q): two distributions at least as far apart, in every hockey-stick divergence, as the
// outputs on any two neighbours (Zhu, Dong, Wang 2022). A pair is described by the law of its privacy loss
// log(P/Q): finitely many atoms plus an optional continuous part given by its tails. Plain values.

// A set of outcomes of one loss log(p/q); q = 0 means infinite loss.
struct LossAtom {
  double p = 0;
  double q = 0;
};

// Mass of the continuous part with loss at most, and above, some value; under P and under Q. The smaller of
// below and above is accurate relative to itself.
struct LossTails {
  double p_below = 0, p_above = 0;
  double q_below = 0, q_above = 0;
};

struct LossPair {
  std::vector<LossAtom> atoms;
  std::function<LossTails(double loss)> tails;  // empty: no continuous part
};

// What a removed and what an added unit can show. They differ under sampling only.
struct LossPairs {
  LossPair remove;
  LossPair add;
  bool symmetric = true;  // add equals remove and is left empty
};

// One use of the event. Errors where no dominating pair is proved (the message names the accountant to use).
Result<LossPairs> dominating_pairs(const PrivacyEvent& event);

enum class Rounding { pessimistic, optimistic };

struct LossLattice {
  double step = 0;
  double offset = 0;
  std::vector<std::int64_t> places;  // ascending: mass[i] sits at loss places[i]·step + offset
  std::vector<double> mass;          // under P
  double infinite = 0;               // mass of infinite loss
  // Of a law that was composed itself (composed_block): how far its masses may be off, each relative to
  // itself, and besides in all, as they are tilted where the sum of them is.
  double relative_error = 0;
  double noise = 0;

  double loss(std::size_t i) const { return static_cast<double>(places[i]) * step + offset; }
  double variance() const;  // of the finite part
};

// The losses outside of which the continuous part has P-mass at most `tail` on either side, and the atoms.
struct LossRange {
  double low = 0;
  double high = 0;
};
LossRange loss_range(const LossPair& pair, double tail);

// The points that a law is rounded to, and its tails at each.
struct LossGrid {
  double step = 0;
  double offset = 0;
  std::vector<std::int64_t> places;  // ascending
  std::vector<LossTails> tails;      // empty without a continuous part

  double loss(std::size_t i) const { return static_cast<double>(places[i]) * step + offset; }
};

// Rounding within a cell adds at most a quarter of mass · width² to the variance of the loss. Cells are as
// wide as lets (1 + e^{tilt·loss − log_scale}) · mass · width² stay within `most`: what is rare, and stays so
// where the composition is looked at, costs few points. Never narrower than a step, which 0 asks of every
// cell.
struct Coarseness {
  double tilt = 0;
  double log_scale = 0;
  double most = 0;
};

// Lattice points at multiples of step, shifted so that the lowest finite atom is one of them.
Result<LossGrid> loss_grid(const LossPair& pair, const LossRange& range, double step,
                           const Coarseness& coarseness = {});
LossLattice to_lattice(const LossPair& pair, const LossGrid& grid, Rounding rounding);

// δ(ε) of one use, from its tails and atoms alone; what rounding may have done is added to it (pessimistic)
// or taken away.
double hockey_stick(const LossPair& pair, double epsilon, Rounding rounding);

// Distance between the lowest and the highest finite atom; 0 with fewer than two.
double atom_span(const LossPair& pair);

}  // namespace sotto::privacy
