#include "privacy/accounting/plan_epsilon.h"

#include "privacy/accounting/account.h"
#include "privacy/accounting/dominating_gaussian.h"

namespace sotto::privacy {
namespace {

// Loss distributions answer tightly, and no closed form does: without sampling, Gaussian noise and what it
// dominates has one.
bool composes_losses(const PrivacyPlan& plan, const PrivacyEvent& event) {
  constexpr std::uint64_t most_uses = 1'000'000;  // beyond, account() leaves it to Rényi curves
  if (plan.method != "best" && plan.method != "pld") return false;
  if (plan.participations > 0 || event.count > most_uses) return false;
  const bool gaussian = std::holds_alternative<GaussianNoise>(event.mechanism);
  if (plan.method == "best" && gaussian && std::holds_alternative<NoSampling>(event.sampling)) return false;
  return gaussian || !dominating_gaussian(event.mechanism).has_value();
}

}  // namespace

Result<double> plan_epsilon(const PrivacyPlan& plan) {
  SOTTO_TRY(const std::vector<PrivacyEvent> events, events_of(plan));
  if (events.size() == 1 && composes_losses(plan, events.front())) {
    PldTarget upper_only;
    upper_only.with_lower_bound = false;
    if (const auto found = account(events, plan.delta, Method::pld, Adversary::published, upper_only))
      return found->epsilon;
  }
  SOTTO_TRY(const PlanAnswer answer, account(plan));
  return answer.published.epsilon;
}

}  // namespace sotto::privacy
