#pragma once
// Dominating pairs (P, Q): two distributions at least as far apart, in every hockey-stick divergence, as the
// outputs on any two neighbours (Zhu, Dong, Wang 2022). A pair is described by the law of its privacy loss
// log(P/Q): finitely many atoms plus an optional continuous part given by its tails. Plain values.

#include <functional>
#include <vector>

#include "privacy/accounting/event.h"

namespace sotto::privacy {

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

}  // namespace sotto::privacy
