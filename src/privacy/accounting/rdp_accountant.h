#pragma once
// Adds up Rényi curves and turns the sum into (ε, δ).
//
// Immutable after create(): safe to share between threads. Every order gives a valid bound, so the search
// over orders can only lose tightness, never soundness.

#include <cstdint>
#include <span>
#include <vector>

#include "privacy/accounting/event.h"

namespace sotto::privacy {

// Restating events and guarantees for another adjacency or unit, where a theorem allows it. Everything else
// is an error that says why: an ε must not change its meaning silently.

// Replacing a unit is removing one and adding another: sensitivities double (triangle inequality), pure ε
// doubles, ρ quadruples (group privacy of two). Unsampled add_remove events only; replace_one events pass
// unchanged.
Result<PrivacyEvent> to_replace_one(const PrivacyEvent& event);

// Group privacy: k·ε and δ·(1 + e^ε + … + e^{(k−1)ε}) for k units that change together. Not tight.
Result<Guarantee> for_group(const Guarantee& guarantee, std::uint64_t size);

// for_group(2) of an add_remove guarantee is a replace_one guarantee, whatever was sampled inside.
Result<Guarantee> to_replace_one(const Guarantee& guarantee);

// Replacing one click is replacing one impression is replacing one user: a replace_one event or guarantee for
// the larger unit holds for the smaller one as it stands.
Result<PrivacyEvent> to_smaller_unit(const PrivacyEvent& event, Unit unit);
Result<Guarantee> to_smaller_unit(const Guarantee& guarantee, Unit unit);

enum class RdpConversion {
  improved,  // ε = RDP(α) + log((α−1)/α) − (log δ + log α)/(α−1) (Canonne, Kamath, Steinke 2020, Prop. 12)
  classical,  // ε = RDP(α) + log(1/δ)/(α−1) (Mironov 2017, Prop. 3); what many published tables use
};

struct RdpAnswer {
  double epsilon = 0;
  double order = 0;  // the α that gave it
};

class RdpAccountant {
 public:
  // Events must be valid and agree in adjacency and unit.
  static Result<RdpAccountant> create(std::span<const PrivacyEvent> events);

  // Σ count · RDP(α)
  double rdp(double alpha) const;
  // Charges the δ of ApproximateDp events and samplers' total variation before the conversion.
  Result<RdpAnswer> epsilon(double delta, RdpConversion conversion = RdpConversion::improved) const;

 private:
  explicit RdpAccountant(std::vector<PrivacyEvent> events);
  RdpAnswer epsilon_of_curves(double delta, RdpConversion conversion) const;
  double convert(double alpha, double delta, RdpConversion conversion) const;

  std::vector<PrivacyEvent> events_;
  bool integer_orders_only_ = false;
};

}  // namespace sotto::privacy
