#include "privacy/audit/attack.h"

#include <array>

#include "privacy/audit/history_recovery.h"

namespace sotto {

std::span<const AttackEntry> attacks() {
  static constexpr std::array kEntries = {
      AttackEntry{"history-from-embeddings",
                  "averaging repeated noisy user embeddings; the defence is a privacy budget per device",
                  "clicked items found",
                  []() -> std::unique_ptr<Attack> { return std::make_unique<HistoryFromEmbeddings>(); }},
      AttackEntry{"history-from-attention",
                  "averaging repeated private attention weights; the defence is a privacy budget per device",
                  "histories told apart from 999 others",
                  []() -> std::unique_ptr<Attack> { return std::make_unique<HistoryFromAttention>(); }}};
  return kEntries;
}

Result<AttackFinding> run_attack(const AttackEntry& entry, std::uint64_t seed) {
  const auto attack = entry.make();
  AttackFinding finding{.chance = attack->chance()};
  SOTTO_TRY(finding.setting, attack->setting());
  SOTTO_TRY(finding.undefended, attack->success(Defence::off, seed));
  SOTTO_TRY(finding.defended, attack->success(Defence::on, seed));
  return finding;
}

}  // namespace sotto
