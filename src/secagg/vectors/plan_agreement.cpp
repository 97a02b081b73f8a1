#include "secagg/vectors/plan_agreement.h"

#include <cmath>

namespace sotto::secagg {

namespace {

double share_of(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// Noise of the devices that surely stay honest, over what one of them can move.
double noise_that_stays(const EncodingPlan& plan) {
  if (!plan.noise_share()) return 0;
  const auto honest = static_cast<double>(plan.noise_share()->surely_present());
  return std::sqrt(plan.noise_share()->share_variance() * honest) / plan.sensitivity();
}

}  // namespace

PlanAgreement PlanAgreement::to(const EncodingPlan& plan) {
  const EncodingPlan::Settings& settings = plan.settings();
  return {.noise_multiplier = settings.noise_multiplier,
          .adjacency = settings.adjacency,
          .devices = settings.devices,
          .dropped = share_of(settings.dropped, settings.devices),
          .corrupted = share_of(settings.corrupted, settings.devices)};
}

Status PlanAgreement::check(const EncodingPlan& proposed) const {
  constexpr double rounding = 1e-9;
  const EncodingPlan::Settings& plan = proposed.settings();
  const auto weaker = [](std::string_view what, double offered, double agreed) {
    return failed(
        "a device refuses the plan of this round: its {} is {:.6g}, and {:.6g} was agreed to before "
        "the first round",
        what, offered, agreed);
  };
  if (plan.adjacency != adjacency)
    return failed("a device refuses the plan of this round: it is about other neighbours than was agreed to");
  if (plan.devices < devices)
    return weaker("group of devices", static_cast<double>(plan.devices), static_cast<double>(devices));
  const double lost = share_of(plan.dropped, plan.devices), told = share_of(plan.corrupted, plan.devices);
  if (lost < dropped - rounding) return weaker("share of devices that may vanish", lost, dropped);
  if (told < corrupted - rounding) return weaker("share of devices that may be corrupted", told, corrupted);
  if (noise_that_stays(proposed) < noise_multiplier * (1 - rounding))
    return weaker("noise over the sensitivity", noise_that_stays(proposed), noise_multiplier);
  return {};
}

}  // namespace sotto::secagg
