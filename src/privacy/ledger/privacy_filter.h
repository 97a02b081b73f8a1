#pragma once
// A budget that holds although each request may be chosen after seeing all earlier answers.
//
// Composition theorems for a fixed list of mechanisms do not cover a list that is made up on the way. A
// filter does: its stopping rule is fixed beforehand. Two rules are watched here, and one of them must hold:
//   sum    Σ ε ≤ ε_B over pure (and approximate) releases (Rogers, Roth, Ullman, Vadhan 2016)
//   Rényi  Σ RDP(α) ≤ ε_B − overhead(α) at one order α that depends on the budget alone
//          (Feldman, Zrnic 2021; Lécuyer 2021), converted as in the Rényi accountant at 0.9·δ_B
// and, in either case, δ of approximate releases and samplers' distances stay within 0.1·δ_B.
// "One of them" is sound: until the sum is exceeded the loss is at most ε_B with no δ at all, so the outcomes
// split into those, and those for which the Rényi rule held to the end; the δ are 0 and 0.9·δ_B.
//
// A sampler at total variation t from its law makes an ε-DP release (ε, (1 + e^ε)t)-DP. A release that is
// known by its ε alone is charged that with its own ε, whatever the budget. Of the others, whose Rényi curve
// is their law's, the real transcript is compared with the ideal one as a whole, which costs (1 + e^ε)·Σt at
// the ε that is promised; so once there is such a release, no more than ε = 20 is promised, also by larger
// budgets.
//
// The order maximises (ε − overhead(α))/α, the number of Gaussian-like releases that fit, at that ε or ε_B.
// Immutable, safe to share between threads.

#include <span>

#include "privacy/accounting/event.h"

namespace sotto {

struct Spent {
  double epsilon = 0;  // infinite when no bound holds at the δ in question
  std::string method;  // "nothing", "sum", "rdp-filter", or the accountant's name
};

class PrivacyFilter {
 public:
  // ε finite and above 0, δ strictly between 0 and 1.
  PrivacyFilter(double epsilon, double delta);

  // What the releases amount to at the budget's δ; they fit if that is at most ε. Events must be valid,
  // unsampled and of one unit and adjacency.
  Spent spent(std::span<const PrivacyEvent> events) const;

  double order() const { return order_; }  // 0 when ε is too small for the Rényi rule at this δ

 private:
  double epsilon_;
  double delta_;
  double order_ = 0;
  double overhead_ = 0;
};

}  // namespace sotto
