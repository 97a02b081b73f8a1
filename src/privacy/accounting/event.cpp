#include "privacy/accounting/event.h"

#include <cmath>

namespace sotto::privacy {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

Status require_positive(double value, std::string_view what) {
  if (std::isfinite(value) && value > 0) return {};
  return bad_input("{} must be a finite number above 0, not {}", what, value);
}

Status validate_sensitivities(double l1, double l2) {
  SOTTO_CHECK(require_positive(l1, "L1 sensitivity"));
  SOTTO_CHECK(require_positive(l2, "L2 sensitivity"));
  // On the integer grid every non-zero coordinate counts at least 1, hence ‖x‖₂ ≤ ‖x‖₁.
  if (l2 > l1 * (1 + 1e-12)) return bad_input("L2 sensitivity {} exceeds L1 sensitivity {}", l2, l1);
  return {};
}

}  // namespace

Status validate(const Mechanism& mechanism) {
  return std::visit(
      Overloaded{
          [](const GaussianNoise& m) -> Status {
            return require_positive(m.noise_multiplier, "Gaussian noise multiplier");
          },
          [](const LaplaceNoise& m) -> Status { return require_positive(m.scale, "Laplace scale"); },
          [](const RandomisedResponse& m) -> Status {
            if (m.categories < 2) {
              return bad_input("randomised response needs at least 2 categories, not {}", m.categories);
            }
            return require_positive(m.epsilon, "epsilon of randomised response");
          },
          [](const DiscreteGaussianNoise& m) -> Status {
            SOTTO_CHECK(require_positive(m.sigma, "sigma of the discrete Gaussian"));
            if (m.summands < 1 || m.dimension < 1) {
              return bad_input("the discrete Gaussian needs at least one summand and one dimension");
            }
            if (m.summands > 1 && m.sigma < 0.5) {
              return bad_input(
                  "sums of discrete Gaussians are covered for sigma ≥ 1/2 per device, not {}: use a finer "
                  "grid",
                  m.sigma);
            }
            return validate_sensitivities(m.l1_sensitivity, m.l2_sensitivity);
          },
          [](const SkellamNoise& m) -> Status {
            SOTTO_CHECK(require_positive(m.variance, "variance of the Skellam noise"));
            return validate_sensitivities(m.l1_sensitivity, m.l2_sensitivity);
          },
          [](const PureDp& m) -> Status { return require_positive(m.epsilon, "epsilon"); },
          [](const ApproximateDp& m) -> Status {
            if (!(m.epsilon >= 0) || !std::isfinite(m.epsilon)) {
              return bad_input("epsilon must be a finite number of at least 0, not {}", m.epsilon);
            }
            return validate_delta(m.delta);
          },
          [](const ConcentratedDp& m) -> Status { return require_positive(m.rho, "rho"); },
      },
      mechanism);
}

Status validate(const Sampling& sampling) {
  return std::visit(Overloaded{
                        [](const NoSampling&) -> Status { return {}; },
                        [](const PoissonSampling& s) -> Status {
                          if (s.rate > 0 && s.rate <= 1) return {};
                          return bad_input("the sampling rate must lie in (0, 1], not {}", s.rate);
                        },
                        [](const SamplingWithoutReplacement& s) -> Status {
                          if (s.cohort < 1) return bad_input("the cohort must have at least one member");
                          if (s.cohort > s.population) {
                            return bad_input("a cohort of {} cannot be drawn from a population of {}",
                                             s.cohort, s.population);
                          }
                          return {};
                        },
                    },
                    sampling);
}

Status validate(const PrivacyEvent& event) {
  SOTTO_CHECK(validate(event.mechanism));
  SOTTO_CHECK(validate(event.sampling));
  if (event.count < 1) return bad_input("an event must happen at least once (rounds ≥ 1)");
  if (!(event.total_variation >= 0) || event.total_variation >= 1) {
    return bad_input("the total variation slack must lie in [0, 1), not {}", event.total_variation);
  }
  if (!(event.log_ratio >= 0) || event.log_ratio >= 1) {
    return bad_input("the log ratio of the sampler must lie in [0, 1), not {}", event.log_ratio);
  }
  if (std::holds_alternative<RandomisedResponse>(event.mechanism) &&
      event.adjacency != Adjacency::replace_one) {
    return bad_input(
        "randomised response hides which value a unit has, not whether it reports: state adjacency "
        "replace-one");
  }
  if (std::holds_alternative<PoissonSampling>(event.sampling) && event.adjacency != Adjacency::add_remove) {
    return bad_input(
        "Poisson sampling is proved for adjacency add-remove; convert the final guarantee to replace-one, or "
        "sample without replacement");
  }
  if (std::holds_alternative<SamplingWithoutReplacement>(event.sampling) &&
      event.adjacency != Adjacency::replace_one) {
    return bad_input(
        "sampling without replacement is proved for adjacency replace-one (the population size is public)");
  }
  return {};
}

Status validate_delta(double delta) {
  if (delta > 0 && delta < 1) return {};
  return bad_input("delta must lie strictly between 0 and 1, not {}", delta);
}

PrivacyEvent drawn_exactly(PrivacyEvent event) {
  event.total_variation = event.log_ratio = 0;
  return event;
}

std::string describe(const Mechanism& mechanism) {
  return std::visit(
      Overloaded{
          [](const GaussianNoise& m) {
            return fmt::format("Gaussian noise, multiplier {}", m.noise_multiplier);
          },
          [](const LaplaceNoise& m) {
            return fmt::format("Laplace noise, scale {} × L1 sensitivity", m.scale);
          },
          [](const RandomisedResponse& m) {
            return fmt::format("randomised response over {} values, ε {}", m.categories, m.epsilon);
          },
          [](const DiscreteGaussianNoise& m) {
            return fmt::format("sum of {} discrete Gaussians, σ {}, L2 sensitivity {}", m.summands, m.sigma,
                               m.l2_sensitivity);
          },
          [](const SkellamNoise& m) {
            return fmt::format("Skellam noise, variance {}, L2 sensitivity {}", m.variance, m.l2_sensitivity);
          },
          [](const PureDp& m) { return fmt::format("{}-DP", m.epsilon); },
          [](const ApproximateDp& m) { return fmt::format("({}, {})-DP", m.epsilon, m.delta); },
          [](const ConcentratedDp& m) { return fmt::format("{}-zCDP", m.rho); },
      },
      mechanism);
}

std::string describe(const Sampling& sampling) {
  return std::visit(Overloaded{
                        [](const NoSampling&) { return std::string("none"); },
                        [](const PoissonSampling& s) { return fmt::format("Poisson, rate {}", s.rate); },
                        [](const SamplingWithoutReplacement& s) {
                          return fmt::format("without replacement, {} of {}", s.cohort, s.population);
                        },
                    },
                    sampling);
}

std::string_view name(Adjacency adjacency) {
  return adjacency == Adjacency::add_remove ? "add-remove" : "replace-one";
}

std::string_view name(Unit unit) {
  switch (unit) {
    case Unit::click:
      return "click";
    case Unit::impression:
      return "impression";
    case Unit::user:
      return "user";
  }
  return "unknown";
}

std::string_view name(Adversary adversary) { return adversary == Adversary::server ? "server" : "published"; }

std::string_view name(Method method) {
  switch (method) {
    case Method::rdp:
      return "rdp";
    case Method::rdp_classical:
      return "rdp-classical";
    case Method::pld:
      return "pld";
    case Method::analytic_gaussian:
      return "analytic-gaussian";
    case Method::pure_composition:
      return "pure";
  }
  return "unknown";
}

}  // namespace sotto::privacy
