#pragma once
// Adds up Rényi curves and turns the sum into (ε, δ).
//
// Immutable after create(): safe to share between threads. Every order gives a valid bound, so the search
// over orders can only lose tightness, never soundness.

#include <cstdint>
#include <span>
#include <vector>

#include "privacy/accounting/event.h"

namespace sotto {

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

}  // namespace sotto
