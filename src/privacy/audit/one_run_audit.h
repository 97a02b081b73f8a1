#pragma once
// The audit of a whole training by one run of it.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "privacy/audit/synthetic_training.h"

namespace sotto::privacy {

// Lower bounds of ε from one run: m canaries are each put in or left out by a fair coin, the adversary
// guesses r of the m coins and abstains from the others, and v guesses are right. Pure functions.
//
// (ε, δ): Steinke, Nasr, Jagielski 2023, Theorem 5.2. Under (ε, δ)-DP the number of right guesses W satisfies
//   P[W >= v] <= P[B >= v] + 2mδ·max_i P[v > B >= v − i]/i,  B ~ Binomial(r, e^ε/(1 + e^ε)).
// The second term makes the bound worthless unless δ is well below failure/m.
//
// f-DP: Mahloujifar, Melis, Chaudhuri 2024, in the form proved in docs/privacy/audit.md. With T_c = P[W >= c]
// and g(x) the least probability on one neighbour of an event that has probability x on the other,
//   (r − c + 1)·T_{c−1} >= Σ_{j>=c} T_j + m·g((c·T_c + Σ_{j>c} T_j)/m),  c = 1, ..., r.
// Starting from T_v = failure this climbs to T_0; above 1 it contradicts P[W >= v] >= failure.
struct Guesses {
  std::uint64_t canaries = 0;  // m
  std::uint64_t made = 0;      // r <= m
  std::uint64_t right = 0;     // v <= r
};

// Upper bound of the probability of so many right guesses under (ε, δ)-DP.
double one_run_p_value(const Guesses& guesses, double epsilon, double delta);
// The largest ε found whose p-value is below `failure`; 0 when there is none.
double one_run_epsilon(const Guesses& guesses, double delta, double failure);

// True: under the trade-off behind `least` so many right guesses have a probability below `failure`.
bool one_run_refutes(const Guesses& guesses, const std::function<double(double)>& least, double failure);
// The largest μ found for which μ-GDP is refuted.
double one_run_mu(const Guesses& guesses, double failure);

struct OneRunFinding {
  AuditFinding finding;
  Guesses guesses;  // behind the better of the bounds
};

// Guesses the extreme scores: the highest as in, the lowest as out, for several numbers of guesses; the
// failure probability is split among all bounds that are tried.
Result<OneRunFinding> audit_one_run(CanaryTraining& training, std::uint64_t seed, std::uint32_t stream,
                                    double failure);

struct TrainingEntry {
  const char* name;
  const char* summary;
  bool planted_fault;  // the audit is expected to find it
  std::unique_ptr<CanaryTraining> (*make)();
};

std::span<const TrainingEntry> audited_trainings();

}  // namespace sotto::privacy
