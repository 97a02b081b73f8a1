#pragma once
// How many times each kind of release happened, and what that amounts to.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "privacy/accounting/event.h"

namespace sotto::privacy {

// A budget that holds although each request may be chosen after seeing all earlier answers.
//
// Composition theorems for a fixed list of mechanisms do not cover a list that is made up on the way. A
// filter does: its stopping rule is fixed beforehand. Two rules are watched here, and one of them must hold:
//   sum    Σ ε ≤ ε_B over pure (and approximate) releases (Rogers, Roth, Ullman, Vadhan 2016)
//   Rényi  Σ RDP(α) ≤ ε_B − overhead(α) at one order α that depends on the budget alone
//          (Feldman, Zrnic 2021; Lécuyer 2021), converted as in the Rényi accountant at 0.9·δ_B
// and, in either case, δ of approximate releases and samplers' distances stay within 0.1·δ_B.
// "One of them" is sound: until the sum is exceeded the loss is at most ε_B with no δ at all, so the outcomes
// split into those, and those for which the Rényi rule held to the end; the δ are 0 and 0.9·δ_B.
//
// A sampler within e^±λ of its law adds 2λ to a release's ε, and (2α − 1)/(α − 1)·λ to its RDP(α). One that
// is so up to total variation t makes an ε-DP release (ε, (1 + e^ε)t)-DP. A release that is known by its ε
// alone is charged that with its own ε, whatever the budget. Of the others, whose Rényi curve is their law's,
// the real transcript is compared with the ideal one as a whole, which costs (1 + e^ε)·Σt at the ε that is
// promised; so once there is such a release, no more than ε = 20 is promised, also by larger budgets.
//
// The order maximises (ε − overhead(α))/α, the number of Gaussian-like releases that fit, at that ε or ε_B.
// Immutable, safe to share between threads.
struct Spent {
  double epsilon = 0;  // infinite when no bound holds at the δ in question
  std::string method;  // "nothing", "sum", "rdp-filter", or the accountant's name
};

class PrivacyFilter {
 public:
  // ε finite and above 0, δ strictly between 0 and 1.
  PrivacyFilter(double epsilon, double delta);

  // What the releases amount to at the budget's δ; they fit if that is at most ε. Events must be valid,
  // unsampled and of one unit and adjacency.
  Spent spent(std::span<const PrivacyEvent> events) const;

  double order() const { return order_; }  // 0 when ε is too small for the Rényi rule at this δ

 private:
  double epsilon_;
  double delta_;
  double order_ = 0;
  double overhead_ = 0;
};

// Uses by kind of event, ascending. Ten thousand equal charges are one entry. Plain value.
class EventTally {
 public:
  struct Entry {
    std::uint32_t kind = 0;
    std::uint64_t uses = 0;
    bool operator==(const Entry&) const = default;
  };
  void add(std::uint32_t kind, std::uint64_t uses);
  const std::vector<Entry>& entries() const { return entries_; }
  bool operator==(const EventTally&) const = default;

 private:
  std::vector<Entry> entries_;
};

// Gives every distinct event (apart from its count) a number. Grows only; not thread-safe while it grows.
class EventKinds {
 public:
  std::uint32_t intern(const PrivacyEvent& event);
  // size() for an event that was not seen yet.
  std::uint32_t number_of(const PrivacyEvent& event) const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(kinds_.size()); }
  // One event per kind with its uses. A tally may also hold kind size(), which stands for `unseen`.
  std::vector<PrivacyEvent> events(const EventTally& tally, const PrivacyEvent* unseen = nullptr) const;

 private:
  std::vector<PrivacyEvent> kinds_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // by encoded event
};

// The smallest ε at δ that the accountants prove for a list of releases made beforehand: plain sum, Rényi,
// closed form, loss distributions. Stops at the first that is at most `enough`: the cheap ones come first.
// Loss distributions are left out for more than 16 kinds and where ε exceeds 100.
Spent spent_as_planned(std::span<const PrivacyEvent> events, double delta, double enough = 0);

// Budgets are decimal numbers and sums of them are not: ten times 0.1 must fit into 1.
inline bool within(double spent, double budget) { return spent <= budget * (1 + 1e-12); }

}  // namespace sotto::privacy
