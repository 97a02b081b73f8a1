#pragma once
// The sums that training runs, as the audit sees them: devices encode updates with UpdateEncoder, the server
// adds the entries modulo 2^b and decodes them, and one device's update is replaced by the one furthest from
// it. Nothing is modelled: plan, encoder, clip bit and decoder are those of a round.

#include <span>

#include "privacy/audit/mechanism_subjects.h"

namespace sotto::secagg {

std::span<const privacy::MechanismEntry> audited_sums();

}  // namespace sotto::secagg
