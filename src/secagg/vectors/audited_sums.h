#pragma once
// The sums that training runs, as the audit sees them: devices encode updates with UpdateEncoder, the server
// adds the entries modulo 2^b and decodes them, and one device's update is replaced by the one furthest from
// it. Nothing is modelled: plan, encoder, clip bit and decoder are those of a round. Large rounds are
// simulated by the law of their sum (sums=law): those entries round with the same encoder and draw the same
// SummedNoise.

#include <span>
#include <string>

#include "privacy/accounting/datasheet.h"
#include "privacy/audit/mechanism_subjects.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::secagg {

std::span<const privacy::MechanismEntry> audited_sums();

// What a run's datasheet keeps of a sum, and a round of it under audit: its clip, grid, clip bit, noise
// shares and missing devices, with updates of few numbers. Drawing takes time in proportion to the devices.
inline constexpr std::uint64_t most_audited_devices = 1'000'000;
privacy::SumRecord record_of(const EncodingPlan& plan, std::string of);
Result<privacy::AuditedMechanism> audited_sum(const privacy::SumRecord& sum);

}  // namespace sotto::secagg
