#include "privacy/ledger/spending.h"

#include <algorithm>
#include <cmath>

#include "privacy/accounting/account.h"
#include "privacy/accounting/composition_rules.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/rdp_curves.h"
#include "privacy/ledger/ledger_record.h"

namespace sotto::privacy {

namespace {

constexpr double slack_share = 0.1;
// Promised at most where samplers' distances are multiplied by e to the power of it.
constexpr double most_with_samplers = 20;

// Canonne, Kamath, Steinke 2020, Proposition 12: ε = RDP(α) + this.
double conversion_overhead(double alpha, double delta) {
  return std::log1p(-1 / alpha) - (std::log(delta) + std::log(alpha)) / (alpha - 1);
}

// Rényi divergence grows with its order, so the next integer bounds orders that a theorem leaves out. A law
// that is changed by e^±λ everywhere has ∫P^α·Q^(1−α) changed by at most e^((2α−1)λ).
double rdp_with_sampler(const PrivacyEvent& event, double alpha) {
  const double order = covers_fractional_orders(event.mechanism) ? alpha : std::ceil(alpha);
  return rdp_unsampled(event.mechanism, order) + event.log_ratio * (2 * order - 1) / (order - 1);
}

}  // namespace

PrivacyFilter::PrivacyFilter(double epsilon, double delta) : epsilon_(epsilon), delta_(delta) {
  const double promised = std::min(epsilon, most_with_samplers);
  double most = 0;
  for (double excess = 1e-3; excess < 1e6; excess *= 1.02) {
    const double alpha = 1 + excess;
    const double overhead = conversion_overhead(alpha, (1 - slack_share) * delta);
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
  const double promised = distance > 0 ? std::min(epsilon_, most_with_samplers) : epsilon_;
  const double slack = delta_of_approximate_events(events) + delta_of_their_samplers(events) +
                       delta_of_sampler(promised, distance);
  if (!(slack <= slack_share * delta_)) return {infinity, "none"};
  double sum = 0;
  double rdp = overhead_;
  for (const PrivacyEvent& event : events) {
    const double count = static_cast<double>(event.count);
    sum += count * pure_epsilon_with_sampler(event);
    if (order_ > 0) rdp += count * rdp_with_sampler(event, order_);
  }
  // The overhead may be below 0 at large δ; what was spent is not.
  const bool by_rdp = order_ > 0 && rdp < sum;
  const double spent = by_rdp ? std::max(rdp, 0.0) : sum;
  if (!std::isfinite(spent) || (spent > promised && promised < epsilon_)) return {infinity, "none"};
  return {spent, by_rdp ? "rdp-filter" : "sum"};
}

void EventTally::add(std::uint32_t kind, std::uint64_t uses) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), kind,
                                   [](const Entry& entry, std::uint32_t k) { return entry.kind < k; });
  if (at != entries_.end() && at->kind == kind) {
    at->uses += uses;
  } else {
    entries_.insert(at, {kind, uses});
  }
}

namespace {

PrivacyEvent one_use(PrivacyEvent event) {
  event.count = 1;
  return event;
}

}  // namespace

std::uint32_t EventKinds::number_of(const PrivacyEvent& event) const {
  const auto at = numbers_.find(encode(one_use(event)));
  return at == numbers_.end() ? size() : at->second;
}

std::uint32_t EventKinds::intern(const PrivacyEvent& event) {
  const auto [at, inserted] = numbers_.try_emplace(encode(one_use(event)), size());
  if (inserted) kinds_.push_back(one_use(event));
  return at->second;
}

std::vector<PrivacyEvent> EventKinds::events(const EventTally& tally, const PrivacyEvent* unseen) const {
  std::vector<PrivacyEvent> events;
  events.reserve(tally.entries().size());
  for (const auto& entry : tally.entries()) {
    events.push_back(entry.kind < kinds_.size() ? kinds_[entry.kind] : *unseen);
    events.back().count = entry.uses;
  }
  return events;
}

namespace {

// Loss distributions take the longest: not where the closed form is exact, and not where an ε promises next
// to nothing anyway.
bool worth_loss_distributions(std::span<const PrivacyEvent> events, const Spent& best) {
  constexpr std::size_t most_kinds = 16;
  constexpr double largest_epsilon = 100;
  return events.size() <= most_kinds && best.epsilon <= largest_epsilon &&
         best.method != name(Method::analytic_gaussian);
}

// What no curve says better where ε is large: the sum, each release with its own sampler's δ.
double sum_with_samplers(std::span<const PrivacyEvent> events, double delta) {
  if (!(delta_of_approximate_events(events) + delta_of_their_samplers(events) <= delta)) return infinity;
  double sum = 0;
  for (const PrivacyEvent& event : events) {
    if (!is_known_by_epsilon_alone(event.mechanism)) return infinity;
    sum += static_cast<double>(event.count) * pure_epsilon_with_sampler(event);
  }
  return sum;
}

}  // namespace

Spent spent_as_planned(std::span<const PrivacyEvent> events, double delta, double enough) {
  if (events.empty()) return {0, "nothing"};
  Spent best{sum_with_samplers(events, delta), "sum"};
  if (!std::isfinite(best.epsilon)) best.method = "none";
  if (within(best.epsilon, enough)) return best;
  PldTarget target;
  target.with_lower_bound = false;
  for (const Method method :
       {Method::pure_composition, Method::rdp, Method::analytic_gaussian, Method::pld}) {
    if (method == Method::pld && !worth_loss_distributions(events, best)) break;
    const auto answer = account(events, delta, method, Adversary::server, target);
    if (!answer || !(answer->epsilon < best.epsilon)) continue;
    best = {answer->epsilon,
            method == Method::pure_composition ? std::string("sum") : std::string(name(method))};
    if (within(best.epsilon, enough)) break;
  }
  return best;
}

}  // namespace sotto::privacy
