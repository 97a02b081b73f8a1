#pragma once
// What the papers and our own recipes claim, what holds for their default settings, and why. Every number is
// computed here from those settings.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "privacy/accounting/event.h"

namespace sotto::privacy {

struct Claim {
  std::string system;                     // a paper, or our recipes
  std::string release;                    // which of its releases
  std::optional<double> claimed_epsilon;  // of the paper, or the budget asked for; empty: no DP is claimed
  std::optional<double> true_epsilon;     // empty: nothing holds
  double delta = 0;                       // of true_epsilon
  Unit unit = Unit::user;
  Adversary adversary = Adversary::server;
  std::vector<std::string> why;  // three lines
};

Result<std::vector<Claim>> paper_claims();
// The recipes of this library in sound mode, asked for own_budget and trained by as many users as named.
Result<std::vector<Claim>> own_claims();
inline constexpr double own_budget = 8;

// The privacy tables of DP-PrivRec (Tables 3 and 4), reproduced, and what a correct composition gives
// instead.
struct PaperCell {
  int table = 0;  // 3: MovieLens, 4: Frappe
  std::uint64_t cohort = 0;
  std::uint64_t population = 0;
  double delta = 0;
  double paper = 0;       // as printed
  double computed = 0;    // the paper's computation: one composition per client and round
  double reproduced = 0;  // `computed` cut (not rounded) after four digits, which is how the paper prints
  double per_round = 0;   // the same bound, composed once per round
  double best = 0;        // the smallest ε we can prove for 1000 rounds
  Method best_method = Method::rdp;
};

// All 36 finite cells (the δ = 0 column is infinite). Noise multiplier 1, 1000 rounds, cohorts without
// replacement, replace_one, unit user, against everyone but the server.
Result<std::vector<PaperCell>> privrec_tables();

// The ε that the paper's computation claims for other settings: composed once per client and round.
double privrec_claimed_epsilon(double noise_multiplier, std::uint64_t cohort, std::uint64_t population,
                               std::uint64_t rounds, double delta);

// One of them; an error when the paper prints no such cell.
Result<PaperCell> privrec_cell(int table, std::uint64_t cohort, double delta);

}  // namespace sotto::privacy
