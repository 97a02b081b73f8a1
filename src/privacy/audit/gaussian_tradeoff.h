#pragma once
// μ-GDP (Dong, Roth, Su 2022): telling the neighbours apart is at least as hard as telling N(0, 1) from N(μ,
// 1). A Gaussian mechanism with multiplier z is 1/z-GDP, so a lower bound of μ refutes it directly; read as
// an ε at some δ the bound assumes that the loss really is Gaussian, and is called parametric wherever it is
// printed.

#include "base/result.h"

namespace sotto::privacy {

// z with P(N(0, 1) < z) = p; -∞ at 0, ∞ at 1.
double normal_quantile(double p);

// An event of probability at least `likely` on one neighbour and at most `unlikely` on the other needs this
// μ.
double mu_of_rates(double likely, double unlikely);

// The ε of μ-GDP at δ; 0 for μ <= 0.
Result<double> epsilon_of_mu(double mu, double delta);

}  // namespace sotto::privacy
