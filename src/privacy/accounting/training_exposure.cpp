#include "privacy/accounting/training_exposure.h"

#include <algorithm>
#include <cmath>

#include "privacy/accounting/account.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto {

double chance_above_cap(std::uint64_t rounds, double rate, std::uint64_t cap) {
  if (cap >= rounds) return 0;
  if (rate >= 1) return 1;
  const double n = static_cast<double>(rounds);
  double sum = -infinity;
  for (double k = static_cast<double>(cap) + 1; k <= n; ++k) {
    const double term = log_binomial(n, k) + k * std::log(rate) + (n - k) * std::log1p(-rate);
    sum = log_add(sum, term);
    if (k > n * rate && term < sum - 45) {  // the terms now fall faster than geometrically
      sum = log_add(sum, term + std::log(n - k + 1));
      break;
    }
  }
  return std::min(1.0, std::exp(sum) * (1 + 1e-9));
}

Result<TwoAdversaries> account_training(const TrainingExposure& exposure, double delta) {
  if (exposure.rounds < 1) return bad_input("training needs at least one round");
  if (exposure.participation_cap < 1) return bad_input("the participation cap must be at least 1");
  PrivacyEvent seen{exposure.mechanism,
                    exposure.adjacency,
                    exposure.unit,
                    NoSampling{},
                    std::min(exposure.rounds, exposure.participation_cap),
                    exposure.total_variation};
  SOTTO_CHECK(validate(seen));
  SOTTO_CHECK(validate_delta(delta));
  TwoAdversaries both;
  // So little noise that nothing can be said at this delta leaves the server unbounded; what is published may
  // still be private by the sampling.
  if (auto server = account_best({&seen, 1}, delta, Adversary::server)) {
    both.server = std::move(*server);
  } else {
    both.server = {.epsilon = infinity, .delta = delta, .adjacency = seen.adjacency, .unit = seen.unit};
    both.server.adversary = Adversary::server;
    both.server.notes.push_back(std::move(server).error().message);
  }
  both.server.sampling = fmt::format("none: at most {} participations", seen.count);

  both.published = both.server;
  both.published.adversary = Adversary::published;
  PrivacyEvent drawn{exposure.mechanism, exposure.adjacency, exposure.unit,
                     exposure.sampling,  exposure.rounds,    exposure.total_variation};
  SOTTO_CHECK(validate(drawn));
  const double reached =
      chance_above_cap(exposure.rounds, participation_rate(exposure.sampling), exposure.participation_cap);
  if (reached < 1) {
    drawn.total_variation =
        std::min(exposure.total_variation + reached / static_cast<double>(exposure.rounds), 1 - 1e-9);
    auto amplified = account_best({&drawn, 1}, delta, Adversary::published);
    if (amplified && amplified->epsilon < both.published.epsilon) {
      both.published = std::move(*amplified);
      if (reached > 0) {
        both.published.notes.push_back(
            fmt::format("chance {:.2g} that a unit reaches its cap is charged to delta", reached));
      }
      return both;
    }
  }
  both.published.notes.emplace_back("follows from the guarantee against the server (post-processing)");
  return both;
}

}  // namespace sotto
