#pragma once
// History recovery from serving queries. Every query of a device is noised on its own and keeps its ε; but
// the noise is fresh each time and the history is not, so the mean of many answers tells it. The defence is
// the budget that the device's ledger keeps: after as many answers as it pays for, nothing new is said.
//
// Item vectors, users and histories are synthetic: random directions, the user vector is the mean of its
// clicks. The answers come from the mechanisms that serving uses. Immutable, safe to share between threads.

#include <cstdint>

#include "privacy/accounting/event.h"
#include "privacy/audit/attack.h"

namespace sotto {

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

}  // namespace sotto
