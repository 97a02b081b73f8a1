#include "privacy/accounting/rdp_accountant.h"

#include <algorithm>
#include <cmath>

#include "privacy/accounting/composition_rules.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto {
namespace {

constexpr double largest_order = 1e5;
constexpr double largest_integer_order = 8192;  // the sampled bounds cost one term per unit of α

std::vector<double> candidate_orders(bool integers_only) {
  std::vector<double> orders;
  if (!integers_only) {
    for (double excess = 1e-5; 1 + excess < largest_order; excess *= 1.2) orders.push_back(1 + excess);
  }
  for (double order = 2; order <= 64; ++order) orders.push_back(order);
  for (double order = 64; order <= largest_integer_order; order = std::ceil(order * 1.08))
    orders.push_back(order);
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  return orders;
}

}  // namespace

RdpAccountant::RdpAccountant(std::vector<PrivacyEvent> events) : events_(std::move(events)) {
  integer_orders_only_ = std::any_of(events_.begin(), events_.end(),
                                     [](const auto& event) { return !covers_fractional_orders(event); });
}

Result<RdpAccountant> RdpAccountant::create(std::span<const PrivacyEvent> events) {
  SOTTO_CHECK(validate_composition(events));
  return RdpAccountant(std::vector<PrivacyEvent>(events.begin(), events.end()));
}

double RdpAccountant::rdp(double alpha) const {
  double sum = 0;
  for (const auto& event : events_) sum += static_cast<double>(event.count) * rdp_of_one_use(event, alpha);
  return sum;
}

double RdpAccountant::convert(double alpha, double delta, RdpConversion conversion) const {
  const double curve = rdp(alpha);
  if (conversion == RdpConversion::classical) return curve - std::log(delta) / (alpha - 1);
  return std::max(0.0, curve + std::log1p(-1 / alpha) - (std::log(delta) + std::log(alpha)) / (alpha - 1));
}

RdpAnswer RdpAccountant::epsilon_of_curves(double delta, RdpConversion conversion) const {
  const std::vector<double> orders = candidate_orders(integer_orders_only_);
  RdpAnswer best{infinity, 0};
  std::size_t best_at = 0;
  int worse_in_a_row = 0;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double epsilon = convert(orders[i], delta, conversion);
    if (epsilon < best.epsilon) {
      best = {epsilon, orders[i]};
      best_at = i;
      worse_in_a_row = 0;
    } else if (std::isfinite(best.epsilon) && ++worse_in_a_row == 40) {
      break;  // the curve is far past its valley
    }
  }
  double low = orders[best_at == 0 ? 0 : best_at - 1];
  double high = orders[std::min(best_at + 1, orders.size() - 1)];
  // Narrow the valley around the best candidate.
  for (int step = 0; step < 60 && high - low > (integer_orders_only_ ? 2 : 1e-6 * low); ++step) {
    double left = low + (high - low) / 3;
    double right = high - (high - low) / 3;
    if (integer_orders_only_) {
      left = std::floor(left);
      right = std::ceil(right);
    }
    const double at_left = convert(left, delta, conversion);
    const double at_right = convert(right, delta, conversion);
    if (at_left < best.epsilon) best = {at_left, left};
    if (at_right < best.epsilon) best = {at_right, right};
    (at_left < at_right ? high : low) = at_left < at_right ? right : left;
  }
  return best;
}

Result<RdpAnswer> RdpAccountant::epsilon(double delta, RdpConversion conversion) const {
  SOTTO_CHECK(validate_delta(delta));
  const double spent = delta_of_approximate_events(events_);
  if (spent >= delta) {
    return bad_input("the events alone use up delta {:.3g}; ask for a delta above that", spent);
  }
  RdpAnswer answer;
  SOTTO_TRY(answer.epsilon,
            epsilon_with_sampler_slack(delta - spent, total_variation_of(events_),
                                       [&](double share) -> Result<double> {
                                         answer = epsilon_of_curves(share, conversion);
                                         if (std::isfinite(answer.epsilon)) return answer.epsilon;
                                         return bad_input("no finite bound: the noise is too small");
                                       }));
  return answer;
}

}  // namespace sotto
