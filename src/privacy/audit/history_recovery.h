#pragma once
// History recovery from serving queries. Every query of a device is noised on its own and keeps its ε; but
// the noise is fresh each time and the history is not, so the mean of many answers tells it. The defence is
// the budget that the device's ledger keeps: after as many answers as it pays for, nothing new is said.
//
// Item vectors, users and histories are synthetic: random directions, the user vector is the mean of its
// clicks. The answers come from the mechanisms that serving uses. Immutable, safe to share between threads.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "privacy/accounting/event.h"

namespace sotto::privacy {

// Attacks that show what a defence is worth: the same attack on the same people, with the defence and
// without. An attack proves nothing when it fails (a cleverer one may succeed); that is what the audits are
// for.
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

// How many answers a budget pays for, by the best accounting; at most `limit`.
struct Budget {
  double epsilon = 0;
  double delta = 0;
};

Result<std::uint64_t> answers_within(const Budget& budget, const PrivacyEvent& answer, std::uint64_t limit);

// What the device allows, and what an observer collects where nothing stops it.
struct QueryExposure {
  std::uint64_t queries = 10'000;  // a year of 27 a day
  Budget budget{10, 1e-6};         // for the device's lifetime
  double epsilon = 2;              // of each answer
};

// VDP's user embedding (Gaussian noise): which items were clicked?
class HistoryFromEmbeddings final : public Attack {
 public:
  Result<double> success(Defence defence, std::uint64_t seed) const override;
  double chance() const override;
  Result<std::string> setting() const override;

 private:
  Result<std::uint64_t> answers(Defence defence) const;
};

// PrivateRec's attention weights (Laplace noise): which of 1,000 known histories is it?
class HistoryFromAttention final : public Attack {
 public:
  Result<double> success(Defence defence, std::uint64_t seed) const override;
  double chance() const override;
  Result<std::string> setting() const override;

 private:
  Result<std::uint64_t> answers(Defence defence) const;
};

}  // namespace sotto::privacy
