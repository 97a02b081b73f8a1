#include "privacy/accounting/rdp_accountant.h"

#include <algorithm>
#include <cmath>

#include "privacy/accounting/composition_rules.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto::privacy {

namespace {

Mechanism doubled(GaussianNoise m) { return GaussianNoise{m.noise_multiplier / 2}; }
Mechanism doubled(LaplaceNoise m) { return LaplaceNoise{m.scale / 2}; }
Mechanism doubled(RandomisedResponse m) { return m; }  // always replace_one: validate() refuses the rest
Mechanism doubled(DiscreteGaussianNoise m) {
  m.l1_sensitivity *= 2;
  m.l2_sensitivity *= 2;
  return m;
}
Mechanism doubled(SkellamNoise m) {
  m.l1_sensitivity *= 2;
  m.l2_sensitivity *= 2;
  return m;
}
Mechanism doubled(PureDp m) { return PureDp{2 * m.epsilon}; }
Mechanism doubled(ApproximateDp m) {
  return ApproximateDp{2 * m.epsilon, (1 + std::exp(m.epsilon)) * m.delta};
}
Mechanism doubled(ConcentratedDp m) { return ConcentratedDp{4 * m.rho}; }

Status check_smaller_unit(Adjacency adjacency, Unit from, Unit to) {
  if (static_cast<int>(to) > static_cast<int>(from)) {
    return bad_input("a guarantee per {} says nothing about a whole {}", name(from), name(to));
  }
  if (adjacency != Adjacency::replace_one && from != to) {
    return bad_input(
        "adding or removing a {} does not cover changing one {} inside it: convert to replace-one first",
        name(from), name(to));
  }
  return {};
}

}  // namespace

Result<PrivacyEvent> to_replace_one(const PrivacyEvent& event) {
  SOTTO_CHECK(validate(event));
  if (event.adjacency == Adjacency::replace_one) return event;
  if (!std::holds_alternative<NoSampling>(event.sampling)) {
    return bad_input(
        "a sampled add-remove event has no replace-one form that is proved: account for it under add-remove "
        "and "
        "convert the final guarantee");
  }
  PrivacyEvent converted = event;
  converted.mechanism = std::visit([](const auto& m) { return doubled(m); }, event.mechanism);
  converted.adjacency = Adjacency::replace_one;
  SOTTO_CHECK(validate(converted));
  return converted;
}

Result<Guarantee> for_group(const Guarantee& guarantee, std::uint64_t size) {
  if (size < 1) return bad_input("a group has at least one member");
  Guarantee group = guarantee;
  const double k = static_cast<double>(size);
  group.epsilon = k * guarantee.epsilon;
  group.delta = guarantee.epsilon > 0
                    ? guarantee.delta * std::expm1(k * guarantee.epsilon) / std::expm1(guarantee.epsilon)
                    : k * guarantee.delta;
  if (!(group.delta < 1)) {
    return bad_input(
        "a group of {} at ε {:.3g} leaves δ {:.3g}, which promises nothing: start from a smaller δ", size,
        guarantee.epsilon, group.delta);
  }
  group.epsilon_lower.reset();
  group.notes.push_back(fmt::format("group privacy for {} units", size));
  return group;
}

Result<Guarantee> to_replace_one(const Guarantee& guarantee) {
  if (guarantee.adjacency == Adjacency::replace_one) return guarantee;
  SOTTO_TRY(Guarantee converted, for_group(guarantee, 2));
  converted.adjacency = Adjacency::replace_one;
  return converted;
}

Result<PrivacyEvent> to_smaller_unit(const PrivacyEvent& event, Unit unit) {
  SOTTO_CHECK(check_smaller_unit(event.adjacency, event.unit, unit));
  PrivacyEvent converted = event;
  converted.unit = unit;
  return converted;
}

Result<Guarantee> to_smaller_unit(const Guarantee& guarantee, Unit unit) {
  SOTTO_CHECK(check_smaller_unit(guarantee.adjacency, guarantee.unit, unit));
  Guarantee converted = guarantee;
  converted.unit = unit;
  if (unit != guarantee.unit) converted.epsilon_lower.reset();
  return converted;
}

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
            epsilon_with_sampler_slack(delta - spent, sampler_distance_of(events_),
                                       [&](double share) -> Result<double> {
                                         answer = epsilon_of_curves(share, conversion);
                                         if (std::isfinite(answer.epsilon)) return answer.epsilon;
                                         return bad_input("no finite bound: the noise is too small");
                                       }));
  return answer;
}

}  // namespace sotto::privacy
