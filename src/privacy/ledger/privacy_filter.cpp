#include "privacy/ledger/privacy_filter.h"

#include <algorithm>
#include <cmath>

#include "privacy/accounting/composition_rules.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto {
namespace {

constexpr double kSlackShare = 0.1;
// Promised at most where samplers' distances are multiplied by e to the power of it.
constexpr double kMostWithSamplers = 20;

// Canonne, Kamath, Steinke 2020, Proposition 12: ε = RDP(α) + this.
double conversion_overhead(double alpha, double delta) {
  return std::log1p(-1 / alpha) - (std::log(delta) + std::log(alpha)) / (alpha - 1);
}

// Rényi divergence grows with its order, so the next integer bounds orders that a theorem leaves out.
double rdp_of_one_use(const Mechanism& mechanism, double alpha) {
  return rdp_unsampled(mechanism, covers_fractional_orders(mechanism) ? alpha : std::ceil(alpha));
}

}  // namespace

PrivacyFilter::PrivacyFilter(double epsilon, double delta) : epsilon_(epsilon), delta_(delta) {
  const double promised = std::min(epsilon, kMostWithSamplers);
  double most = 0;
  for (double excess = 1e-3; excess < 1e6; excess *= 1.02) {
    const double alpha = 1 + excess;
    const double overhead = conversion_overhead(alpha, (1 - kSlackShare) * delta);
    if (const double room = (promised - overhead) / alpha; room > most) {
      most = room;
      order_ = alpha;
      overhead_ = overhead;
    }
  }
}

Spent PrivacyFilter::spent(std::span<const PrivacyEvent> events) const {
  if (events.empty()) return {0, "nothing"};
  double distance = 0;  // of the samplers of releases that have a law of their own
  for (const PrivacyEvent& event : events) {
    if (!is_known_by_epsilon_alone(event.mechanism))
      distance += static_cast<double>(event.count) * event.total_variation;
  }
  const double promised = distance > 0 ? std::min(epsilon_, kMostWithSamplers) : epsilon_;
  const double slack = delta_of_approximate_events(events) + delta_of_their_samplers(events) +
                       delta_of_sampler(promised, distance);
  if (!(slack <= kSlackShare * delta_)) return {infinity, "none"};
  double sum = 0;
  double rdp = overhead_;
  for (const PrivacyEvent& event : events) {
    const double count = static_cast<double>(event.count);
    sum += count * rdp_at_infinity(event.mechanism);
    if (order_ > 0) rdp += count * rdp_of_one_use(event.mechanism, order_);
  }
  // The overhead may be below 0 at large δ; what was spent is not.
  const bool by_rdp = order_ > 0 && rdp < sum;
  const double spent = by_rdp ? std::max(rdp, 0.0) : sum;
  if (!std::isfinite(spent) || (spent > promised && promised < epsilon_)) return {infinity, "none"};
  return {spent, by_rdp ? "rdp-filter" : "sum"};
}

}  // namespace sotto
