#pragma once
// The vocabulary in which mechanisms describe themselves to the accountants, and in which the accountants
// answer. Plain values: copyable, no ownership, safe to share between threads.
//
// Sensitivities are always those of the event's own adjacency: a clipped sum with norm S has L2 sensitivity S
// under add_remove and 2S under replace_one. A mechanism therefore states the adjacency beside its noise.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace sotto::privacy {

// Which pairs of data sets must look alike.
enum class Adjacency {
  add_remove,   // one unit more or fewer
  replace_one,  // one unit changed into any other; the number of units is public
};

// What "one" is. docs/privacy/units.md says how this maps to the definitions the literature uses.
enum class Unit { click, impression, user };

// Who looks.
enum class Adversary {
  server,     // picks and sees the cohort: sampling gives no amplification, participations are capped
  published,  // everyone else, who sees the published models only
};

struct NoSampling {};
// Every unit takes part independently with this probability.
struct PoissonSampling {
  double rate = 0;
};
// A uniformly random cohort of exactly this size.
struct SamplingWithoutReplacement {
  std::uint64_t cohort = 0;
  std::uint64_t population = 0;
};
using Sampling = std::variant<NoSampling, PoissonSampling, SamplingWithoutReplacement>;

// N(0, σ²) on every coordinate; noise_multiplier = σ / L2 sensitivity.
struct GaussianNoise {
  double noise_multiplier = 0;
};
// Laplace(b) on every coordinate; scale = b / L1 sensitivity, so the mechanism is (1/scale)-DP.
struct LaplaceNoise {
  double scale = 0;
};
// One of `categories` values, kept with probability e^ε/(e^ε + categories − 1), else uniform among the
// others.
struct RandomisedResponse {
  double epsilon = 0;
  std::uint64_t categories = 2;
};
// Sum of `summands` independent discrete Gaussians N_Z(0, sigma²) on every coordinate, on the integer grid.
// summands = 1: Canonne, Kamath, Steinke 2020 (uses l2 only). More: Kairouz, Liu, Steinke 2021, which charges
// the distance between the sum and a discrete Gaussian (uses l1, l2 and dimension, needs sigma ≥ 1/2).
// Count only summands that are surely present and unknown to the adversary.
struct DiscreteGaussianNoise {
  double sigma = 0;  // of one summand, in grid steps
  std::uint64_t summands = 1;
  std::uint64_t dimension = 1;
  double l1_sensitivity = 0;  // grid steps
  double l2_sensitivity = 0;
};
// Skellam noise of total variance `variance` on every coordinate (closed under sums, so the number of devices
// does not matter). Agarwal, Kairouz, Liu 2021: integer orders, integer-valued queries.
struct SkellamNoise {
  double variance = 0;        // grid steps squared, of the whole sum of surely present shares
  double l1_sensitivity = 0;  // grid steps
  double l2_sensitivity = 0;
};
// Anything proved (ε, 0)-DP and nothing more.
struct PureDp {
  double epsilon = 0;
};
// Anything proved (ε, δ)-DP and nothing more.
struct ApproximateDp {
  double epsilon = 0;
  double delta = 0;
};
// Anything proved ρ-zCDP: RDP(α) = ρ·α (for example the exponential mechanism: ρ = ε²/8, Cesar and Rogers
// 2021).
struct ConcentratedDp {
  double rho = 0;
};
using Mechanism = std::variant<GaussianNoise, LaplaceNoise, RandomisedResponse, DiscreteGaussianNoise,
                               SkellamNoise, PureDp, ApproximateDp, ConcentratedDp>;

// `count` adaptive uses of one mechanism on freshly drawn samples.
struct PrivacyEvent {
  Mechanism mechanism;
  Adjacency adjacency = Adjacency::add_remove;
  Unit unit = Unit::user;
  Sampling sampling = NoSampling{};
  std::uint64_t count = 1;
  // Per use, how far the sampler that runs is from the law stated above: within a factor of e^±log_ratio at
  // every outcome, up to total_variation. The first is charged to ε, the second to δ.
  double total_variation = 0;
  double log_ratio = 0;
};

enum class Method {
  rdp,                // Rényi composition, improved conversion (Canonne, Kamath, Steinke 2020, Prop. 12)
  rdp_classical,      // Rényi composition, ε = RDP(α) + log(1/δ)/(α−1) (Mironov 2017, Prop. 3)
  pld,                // privacy loss distributions composed by FFT
  analytic_gaussian,  // closed form (Balle, Wang 2018)
  pure_composition,   // sums of ε, δ = 0
};

// An answer that can be read on its own: what holds, for whom, under which assumptions, and by which proof.
struct Guarantee {
  double epsilon = 0;
  double delta = 0;
  Adjacency adjacency = Adjacency::add_remove;
  Unit unit = Unit::user;
  std::string sampling;  // the assumption in words
  Adversary adversary = Adversary::published;
  Method method = Method::rdp;
  // Present when the method bounds the tight ε of the stated mechanism from below as well.
  std::optional<double> epsilon_lower;
  std::vector<std::string> notes;  // citations and caveats
};

// Refuses parameters for which no theorem says anything (NaN, noise ≤ 0, cohort > population, ...).
Status validate(const Mechanism& mechanism);
Status validate(const Sampling& sampling);
Status validate(const PrivacyEvent& event);
Status validate_delta(double delta);  // 0 < δ < 1

// The same release drawn from the very law it states.
PrivacyEvent drawn_exactly(PrivacyEvent event);

// Short words for people: "Gaussian noise, multiplier 1.1", "Poisson, rate 0.01".
std::string describe(const Mechanism& mechanism);
std::string describe(const Sampling& sampling);

// The words used by flags, plans and JSON: "add-remove", "user", "server", "pld", ...
std::string_view name(Adjacency adjacency);
std::string_view name(Unit unit);
std::string_view name(Adversary adversary);
std::string_view name(Method method);

}  // namespace sotto::privacy
