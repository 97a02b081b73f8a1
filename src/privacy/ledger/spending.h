#pragma once
// How many times each kind of release happened, and what that amounts to.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "privacy/ledger/privacy_filter.h"

namespace sotto {

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

}  // namespace sotto
