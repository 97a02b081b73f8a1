#include "privacy/accounting/account.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/interrupt.h"
#include "privacy/accounting/composition_rules.h"
#include "privacy/accounting/datasheet.h"
#include "privacy/accounting/dominating_gaussian.h"
#include "privacy/accounting/gaussian_exact.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/rdp_accountant.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto::privacy {

namespace {

bool is_sampled(const PrivacyEvent& event) { return !std::holds_alternative<NoSampling>(event.sampling); }

// Accounted for by Gaussian noise that is less private: an upper bound is one, a lower bound is none.
bool is_dominated(const PrivacyEvent& event) {
  return !std::holds_alternative<GaussianNoise>(event.mechanism) &&
         dominating_gaussian(event.mechanism).has_value();
}

std::string sampling_in_words(std::span<const PrivacyEvent> events) {
  std::vector<std::string> words;
  for (const auto& event : events) {
    std::string one = describe(event.sampling);
    if (std::find(words.begin(), words.end(), one) == words.end()) words.push_back(std::move(one));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string citation(const PrivacyEvent& event, Method method) {
  const bool pld = method == Method::pld;
  if (std::holds_alternative<PoissonSampling>(event.sampling)) {
    if (pld) return "Poisson sampling: dominating pairs of Zhu, Dong, Wang 2022";
    return std::holds_alternative<GaussianNoise>(event.mechanism)
               ? "Poisson-sampled Gaussian: Mironov, Talwar, Zhang 2019"
               : "Poisson sampling: Zhu, Wang 2019, Theorem 5";
  }
  if (std::holds_alternative<SamplingWithoutReplacement>(event.sampling)) {
    return pld ? "without replacement: Balle, Barthe, Gaboardi 2018, as a dominating pair of Zhu, Dong, Wang "
                 "2022"
               : "without replacement: Wang, Balle, Kasiviswanathan 2019, Theorem 9";
  }
  if (method == Method::rdp || method == Method::rdp_classical) {
    if (std::holds_alternative<SkellamNoise>(event.mechanism)) return "Skellam: Agarwal, Kairouz, Liu 2021";
    if (std::holds_alternative<DiscreteGaussianNoise>(event.mechanism)) {
      return "discrete Gaussian: Canonne, Kamath, Steinke 2020; sums: Kairouz, Liu, Steinke 2021";
    }
  }
  return describe(event.mechanism);
}

Result<double> analytic_epsilon(std::span<const PrivacyEvent> events, double delta) {
  double inverse_squares = 0;
  for (const auto& event : events) {
    const auto gaussian = dominating_gaussian(event.mechanism);
    if (!gaussian || is_sampled(event)) {
      return bad_input(
          "the closed form covers unsampled Gaussian noise, and grid noise that it dominates: use method pld "
          "or rdp");
    }
    inverse_squares +=
        static_cast<double>(event.count) / (gaussian->noise_multiplier * gaussian->noise_multiplier);
  }
  return epsilon_with_sampler_slack(delta, sampler_distance_of(events), [&](double share) {
    return gaussian_epsilon(1 / std::sqrt(inverse_squares), share);
  });
}

// Composing more losses takes minutes: beyond this Rényi curves answer alone.
constexpr std::uint64_t most_composed_uses = 1'000'000;

std::uint64_t uses_of(std::span<const PrivacyEvent> events) {
  std::uint64_t uses = 0;
  for (const auto& event : events) uses = std::max(uses, event.count);
  return uses;
}

Result<double> pure_epsilon(std::span<const PrivacyEvent> events) {
  double sum = 0;
  for (const auto& event : events) {
    const double one = rdp_at_infinity(event.mechanism);
    if (!std::isfinite(one) || std::holds_alternative<ApproximateDp>(event.mechanism) ||
        event.total_variation > 0) {
      return bad_input("{} has no pure epsilon: give a delta and use method pld or rdp",
                       describe(event.mechanism));
    }
    const double sampled = amplify({one, 0}, participation_rate(event.sampling)).epsilon;
    sum += static_cast<double>(event.count) * (sampled + 2 * event.log_ratio);
  }
  return sum;
}

}  // namespace

Result<Guarantee> account(std::span<const PrivacyEvent> events, double delta, Method method,
                          Adversary adversary, const PldTarget& target) {
  SOTTO_CHECK(validate_composition(events));
  if (method != Method::pure_composition) SOTTO_CHECK(validate_delta(delta));
  if (adversary == Adversary::server && std::any_of(events.begin(), events.end(), is_sampled)) {
    return bad_input(
        "the server sees the cohort, so sampling hides nothing from it: count a unit's participations "
        "instead");
  }
  Guarantee guarantee;
  guarantee.delta = delta;
  guarantee.adjacency = events.front().adjacency;
  guarantee.unit = events.front().unit;
  guarantee.sampling = sampling_in_words(events);
  guarantee.adversary = adversary;
  guarantee.method = method;
  switch (method) {
    case Method::rdp:
    case Method::rdp_classical: {
      SOTTO_TRY(const RdpAccountant accountant, RdpAccountant::create(events));
      SOTTO_TRY(const RdpAnswer answer,
                accountant.epsilon(
                    delta, method == Method::rdp ? RdpConversion::improved : RdpConversion::classical));
      guarantee.epsilon = answer.epsilon;
      guarantee.notes.push_back(fmt::format("Rényi order {:.4g}", answer.order));
      break;
    }
    case Method::pld: {
      SOTTO_TRY(const PldAnswer answer, pld_epsilon(events, delta, target));
      guarantee.epsilon = answer.upper;
      if (target.with_lower_bound && sampler_distance_of(events).is_zero() &&
          std::none_of(events.begin(), events.end(), is_dominated)) {
        guarantee.epsilon_lower = answer.lower;
      }
      guarantee.notes.push_back(fmt::format("lattice step {:.3g}", answer.step));
      break;
    }
    case Method::analytic_gaussian: {
      SOTTO_TRY(guarantee.epsilon, analytic_epsilon(events, delta));
      guarantee.notes.emplace_back("closed form: Balle, Wang 2018");
      break;
    }
    case Method::pure_composition: {
      SOTTO_TRY(guarantee.epsilon, pure_epsilon(events));
      guarantee.delta = 0;
      break;
    }
  }
  const auto add_note = [&](std::string note) {
    if (std::find(guarantee.notes.begin(), guarantee.notes.end(), note) == guarantee.notes.end()) {
      guarantee.notes.push_back(std::move(note));
    }
  };
  for (const auto& event : events) {
    add_note(citation(event, method));
    if ((method == Method::pld || method == Method::analytic_gaussian) && is_dominated(event)) {
      add_note(fmt::format("grid noise dominated by Gaussian noise, multiplier {:.6g}",
                           dominating_gaussian(event.mechanism)->noise_multiplier));
    }
  }
  return guarantee;
}

Result<Guarantee> account_best(std::span<const PrivacyEvent> events, double delta, Adversary adversary) {
  // Where the closed form applies it is exact for the pairs that loss distributions would compose, so these
  // cannot do better. Rényi curves cover every event but may be too loose to say anything: only when nothing
  // else applies is their refusal the answer.
  auto best = account(events, delta, Method::analytic_gaussian, adversary);
  if (!best && uses_of(events) <= most_composed_uses) best = account(events, delta, Method::pld, adversary);
  auto curves = account(events, delta, Method::rdp, adversary);
  if (!best || (curves && curves->epsilon < best->epsilon)) return curves;
  return best;
}

Result<double> smallest_noise(double epsilon, const EpsilonOfNoise& epsilon_of) {
  constexpr double tolerance = 1e-4, most_noise = 1e9, least_noise = 1e-6;
  if (!(epsilon > 0) || !std::isfinite(epsilon))
    return bad_input("the epsilon to reach must be a finite number above 0, not {}", epsilon);
  std::string refusal;  // why the last amount of noise could not be accounted for
  bool refused = false;
  const auto enough = [&](double noise) {
    const auto holds = epsilon_of(noise);
    refused = !holds;
    if (refused) refusal = ": " + holds.error().message;
    return holds && *holds <= epsilon;
  };
  // By an interrupt that comes meanwhile: after an earlier one a training still finishes its round.
  const auto stopped = [before = interrupted()] { return interrupted() && !before; };
  constexpr std::string_view was_stopped = "stopped while noise was calibrated";
  // What is refused above an amount that is too little is more than a grid holds: what is enough lies between
  // the two, or there is nothing.
  double high = 1, too_little = 0, too_much = infinity;
  while (!enough(high)) {
    if (stopped()) return failed("{}", was_stopped);
    if (!refused) {
      too_little = high;
    } else if (too_little > 0) {
      too_much = high;
    }
    if (too_much > most_noise) {
      high *= 2;
      if (high > most_noise)
        return bad_input("no noise up to {:.0e} reaches epsilon {}{}", most_noise, epsilon, refusal);
    } else {
      if (too_much <= too_little * (1 + 10 * tolerance))
        return bad_input("epsilon {} needs more noise than {:.4g} times the sensitivity{}", epsilon,
                         too_little, refusal);
      high = std::sqrt(too_little * too_much);
    }
  }
  double low = std::max(high / 2, too_little);
  while (low > least_noise && !stopped() && enough(low)) {
    high = low;
    low /= 2;
  }
  while (high > low * (1 + tolerance)) {
    if (stopped()) return failed("{}", was_stopped);
    const double middle = std::sqrt(low * high);
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

std::uint64_t participation_cap_for(double epsilon, double delta, Adversary against,
                                    const SamplingWithoutReplacement& cohorts, std::uint64_t rounds) {
  double chance = delta / 1000;
  if (against == Adversary::published)
    chance /= (1 + std::exp(epsilon)) * static_cast<double>(cohorts.population);
  if (chance < 1e-300) return rounds;  // a tail that small is not computed
  const double rate = participation_rate(cohorts);
  std::uint64_t low = 1, high = std::max<std::uint64_t>(rounds, 1);  // nobody exceeds the number of rounds
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (chance_above_cap(rounds, rate, middle) <= chance) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

}  // namespace sotto::privacy
