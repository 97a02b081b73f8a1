#pragma once
// Attacks that show what a defence is worth: the same attack on the same people, with the defence and
// without. An attack proves nothing when it fails (a cleverer one may succeed); that is what the audits are
// for.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace sotto {

enum class Defence { off, on };

// Contract: success() depends on its arguments only, and both defences meet the same people for one seed.
// Immutable, safe to share between threads.
class Attack {
 public:
  Attack() = default;
  Attack(const Attack&) = delete;
  Attack& operator=(const Attack&) = delete;
  virtual ~Attack() = default;

  // Mean over the attack's trials, from 0 to 1.
  virtual Result<double> success(Defence defence, std::uint64_t seed) const = 0;
  // Success of guessing without having seen anything.
  virtual double chance() const = 0;
  // The setting in words: what the attacker gets without the defence, and with it.
  virtual Result<std::string> setting() const = 0;
};

struct AttackEntry {
  const char* name;
  const char* shows;    // what is attacked, and what the defence is
  const char* measure;  // what success counts
  std::unique_ptr<Attack> (*make)();
};

// Attacks on models, unions and serving join this table with those modules.
std::span<const AttackEntry> attacks();

struct AttackFinding {
  double undefended = 0;
  double defended = 0;
  double chance = 0;
  std::string setting;
};

Result<AttackFinding> run_attack(const AttackEntry& entry, std::uint64_t seed);

}  // namespace sotto
