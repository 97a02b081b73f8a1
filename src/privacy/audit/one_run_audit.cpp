#include "privacy/audit/one_run_audit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "privacy/accounting/log_math.h"
#include "privacy/audit/gaussian_tradeoff.h"
#include "privacy/audit/synthetic_training.h"
#include "privacy/audit/threshold_event.h"

namespace sotto::privacy {

namespace {

// Guarantees weaken as their parameter grows: whatever refutes one refutes all smaller ones. So the lower end
// of a bisection is proved whether or not the test is monotone in floating point.
template <class Refuted>
double largest_refuted(double limit, Refuted refuted) {
  if (!refuted(0.0)) return 0;
  double low = 0, high = limit;
  while (high - low > 1e-9 * high) {
    const double middle = (low + high) / 2;
    (refuted(middle) ? low : high) = middle;
  }
  return low;
}

constexpr double rounding_reserve = 1 - 1e-6;  // of the failure probability

}  // namespace

double one_run_p_value(const Guesses& guesses, double epsilon, double delta) {
  const auto [canaries, made, right] = guesses;
  const double accuracy = 1 / (1 + std::exp(-epsilon));
  const double lucky = binomial_at_least(made, right, accuracy);
  double steepest = 0, between = 0;
  if (delta > 0) {
    for (std::uint64_t i = 1; i <= right; ++i) {
      between += binomial_mass(made, right - i, accuracy);
      steepest = std::max(steepest, between / static_cast<double>(i));
    }
  }
  return std::min(1.0, lucky + 2 * static_cast<double>(canaries) * delta * steepest);
}

double one_run_epsilon(const Guesses& guesses, double delta, double failure) {
  constexpr double largest = 64;
  return largest_refuted(largest, [&](double epsilon) {
    return one_run_p_value(guesses, epsilon, delta) < failure * rounding_reserve;
  });
}

bool one_run_refutes(const Guesses& guesses, const std::function<double(double)>& least, double failure) {
  const auto canaries = static_cast<double>(guesses.canaries), made = static_cast<double>(guesses.made);
  double tail = failure * rounding_reserve;  // T_c
  double beyond = 0;                         // Σ_{j>c} T_j
  for (auto c = static_cast<double>(guesses.right); c >= 1; --c) {
    const double right_share = (c * tail + beyond) / canaries;
    beyond += tail;
    tail = std::max(tail, (beyond + canaries * least(right_share)) / (made - c + 1));
    if (tail > 1) return true;
  }
  return false;
}

double one_run_mu(const Guesses& guesses, double failure) {
  constexpr double largest = 32;
  return largest_refuted(largest, [&](double mu) {
    return one_run_refutes(
        guesses, [mu](double share) { return normal_below(normal_quantile(share) - mu); }, failure);
  });
}

namespace {

// Few sure guesses or many unsure ones: which proves more depends on the loss. Not quite all, because the
// coins do not fall half and half.
constexpr std::array guessed_shares = {0.9, 0.5, 0.2, 0.1, 0.05, 0.02};

// Canaries by falling score.
std::vector<std::size_t> ranked(const std::vector<double>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return order;
}

Guesses guess(const std::vector<std::size_t>& order, std::span<const unsigned char> included, double share) {
  const auto each = static_cast<std::size_t>(share * static_cast<double>(order.size()) / 2);
  Guesses guesses{order.size(), 2 * each, 0};
  for (std::size_t i = 0; i < each; ++i) {
    guesses.right += included[order[i]] != 0 ? 1 : 0;
    guesses.right += included[order[order.size() - 1 - i]] == 0 ? 1 : 0;
  }
  return guesses;
}

// μ if each canary were an experiment of its own: the event is chosen on one half of them, judged on the
// other.
double mu_of_independent(const std::vector<double>& scores, std::span<const unsigned char> included,
                         double failure) {
  PairSample choosing, judging;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    PairSample& half = i < scores.size() / 2 ? choosing : judging;
    (included[i] != 0 ? half.first : half.second).push_back(scores[i]);
  }
  const ThresholdEvent event = choose_event(std::span(&choosing, 1), failure, [](const RateBounds& r) {
    return mu_of_rates(r.likely, r.unlikely);
  });
  const RateBounds rates = bound_rates(event, judging, failure);
  return mu_of_rates(rates.likely, rates.unlikely);
}

using Fault = SyntheticTraining::Fault;

// Together one Gaussian release with multiplier 1.4.
template <SumNoise noise, Fault fault>
std::unique_ptr<CanaryTraining> gaussian_rounds() {
  return std::make_unique<SyntheticTraining>(
      SyntheticTraining::Settings{.noise = noise, .noise_multiplier = 2.8, .rounds = 4, .fault = fault});
}

// Together ε = 1.
template <Fault fault>
std::unique_ptr<CanaryTraining> laplace_rounds() {
  return std::make_unique<SyntheticTraining>(SyntheticTraining::Settings{
      .noise = SumNoise::laplace_at_server, .noise_multiplier = 2, .rounds = 2, .fault = fault});
}

}  // namespace

Result<OneRunFinding> audit_one_run(CanaryTraining& training, std::uint64_t seed, std::uint32_t stream,
                                    double failure) {
  constexpr std::uint64_t fewest = 100;
  if (training.canaries() < fewest) {
    return bad_input("{} canaries prove nothing: use at least {}", training.canaries(), fewest);
  }
  if (!(failure > 0 && failure < 1)) {
    return bad_input("the chance that the audit errs is {}, must lie strictly between 0 and 1", failure);
  }
  SOTTO_TRY(const AuditClaim claim, training.claim());
  SeededRandom coins(seed, Purpose::split, stream), noise(seed, Purpose::noise, stream);
  std::vector<unsigned char> included(training.canaries());
  for (unsigned char& coin : included) coin = static_cast<unsigned char>(coins() >> 63);
  SOTTO_CHECK(training.train(included, DeviceRandom::simulated(noise)));
  SOTTO_TRY(const std::vector<double> scores, training.scores());
  if (scores.size() != included.size() ||
      std::any_of(scores.begin(), scores.end(), [](double score) { return std::isnan(score); })) {
    return failed("the training scored {} canaries for {}, or scored NaN", scores.size(), included.size());
  }
  const auto order = ranked(scores);

  OneRunFinding result{.finding = {.claim = claim}, .guesses = {}};
  AuditFinding& finding = result.finding;
  const double each = claim.gaussian ? failure / 3 : failure;  // of three kinds of bounds, or of one
  const double share_of_each = each / static_cast<double>(guessed_shares.size());
  if (claim.gaussian) finding.mu = 0;
  for (const double share : guessed_shares) {
    const Guesses guesses = guess(order, included, share);
    const double epsilon = one_run_epsilon(guesses, claim.delta, share_of_each);
    if (epsilon > finding.epsilon || result.guesses.made == 0) result.guesses = guesses;
    finding.epsilon = std::max(finding.epsilon, epsilon);
    if (claim.gaussian) finding.mu = std::max(*finding.mu, one_run_mu(guesses, share_of_each));
  }
  if (claim.gaussian) {
    const double mu = std::max(*finding.mu, mu_of_independent(scores, included, each));
    SOTTO_TRY(finding.parametric, epsilon_of_mu(mu, claim.delta));
  }
  return result;
}

std::span<const TrainingEntry> audited_trainings() {
  static constexpr std::array entries = {
      TrainingEntry{"training-gaussian", "four rounds of clipped means, Gaussian noise at the server", false,
                    &gaussian_rounds<SumNoise::gaussian_at_server, Fault::none>},
      TrainingEntry{"training-shares", "four rounds of clipped sums, a Skellam share on every device", false,
                    &gaussian_rounds<SumNoise::skellam_on_devices, Fault::none>},
      TrainingEntry{"training-laplace", "two rounds of clipped sums, Laplace noise at the server", false,
                    &laplace_rounds<Fault::none>},
      TrainingEntry{"training-gaussian-missing", "training-gaussian with a planted fault: no noise", true,
                    &gaussian_rounds<SumNoise::gaussian_at_server, Fault::noise_missing>},
      TrainingEntry{"training-shares-halved", "training-shares with a planted fault: half of the noise", true,
                    &gaussian_rounds<SumNoise::skellam_on_devices, Fault::noise_halved>},
      TrainingEntry{"training-laplace-halved", "training-laplace with a planted fault: half of the noise",
                    true, &laplace_rounds<Fault::noise_halved>}};
  return entries;
}

}  // namespace sotto::privacy
