#pragma once
// The front door: from events to a Guarantee that names its assumptions. Pure functions, safe from several
// threads.

#include <functional>
#include <span>

#include "base/result.h"
#include "privacy/accounting/event.h"
#include "privacy/accounting/pld_accountant.h"

namespace sotto::privacy {

// ε of all events together at δ, by the method asked for. Against Adversary::server events must be unsampled:
// it knows who takes part. Method::pure_composition ignores delta and answers with δ = 0.
Result<Guarantee> account(std::span<const PrivacyEvent> events, double delta, Method method,
                          Adversary adversary, const PldTarget& target = {});

// The smallest ε among the methods that apply (closed form, PLD, RDP).
Result<Guarantee> account_best(std::span<const PrivacyEvent> events, double delta, Adversary adversary);

// The smallest noise that meets a budget: the library's one search. It keeps an upper end whose ε was
// computed and found within the budget, and that end is the answer: never less noise than needed, at most
// 0.01 % more.

// The ε that holds with so much noise; it falls as the noise grows. A refusal counts as too little noise, and
// is told when no noise is enough.
using EpsilonOfNoise = std::function<Result<double>(double noise)>;

Result<double> smallest_noise(double epsilon, const EpsilonOfNoise& epsilon_of);

// How often one unit may take part, so that hardly anybody is ever turned away. Whoever is disturbs the
// sampling that a published ε counts on, which costs (1 + e^ε) times the chance, for all units, in δ: the cap
// follows from ε, or ε could never exceed what the cap leaves room for. Against the server a cap costs noise
// and disturbs nothing.
std::uint64_t participation_cap_for(double epsilon, double delta, Adversary against,
                                    const SamplingWithoutReplacement& cohorts, std::uint64_t rounds);

}  // namespace sotto::privacy
