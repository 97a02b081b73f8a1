#pragma once
// What the papers claim, what holds for their default settings, and why. Every number is computed here from
// those settings.

#include <optional>
#include <string>
#include <vector>

#include "privacy/accounting/event.h"

namespace sotto {

struct Claim {
  std::string paper;
  std::string release;                    // which of its releases
  std::optional<double> claimed_epsilon;  // empty: the paper claims no DP
  std::optional<double> true_epsilon;     // empty: nothing holds
  double delta = 0;                       // of true_epsilon
  Unit unit = Unit::user;
  Adversary adversary = Adversary::server;
  std::vector<std::string> why;  // three lines
};

Result<std::vector<Claim>> paper_claims();

}  // namespace sotto
