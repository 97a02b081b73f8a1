#include "privacy/accounting/conversion.h"

#include <cmath>

namespace sotto {
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

}  // namespace sotto
