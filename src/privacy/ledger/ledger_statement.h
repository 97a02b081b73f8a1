#pragma once
// The ledger for people: what was told, for what, about what, and how much is left. Plain values.

#include <filesystem>
#include <string>
#include <vector>

#include "privacy/ledger/ledger_anchor.h"
#include "privacy/ledger/ledger_books.h"

namespace sotto::privacy {

// ε of everything in one line, found by the accountants afterwards (as if the releases had been planned).
struct SpendingLine {
  std::string what;
  std::uint64_t charges = 0;
  std::uint64_t free = 0;
  Spent spent;
};

// What was told in the day or the month around the statement, whatever budgets there are.
struct WindowStatement {
  BudgetWindow window = BudgetWindow::day;
  SpendingLine total;
  std::vector<SpendingLine> purposes;
};

// Rounds of training that were charged, by the campaign that asked for them.
struct CampaignStatement {
  std::string campaign;  // hash, hexadecimal
  std::uint64_t rounds = 0;
};

struct LedgerStatement {
  std::string id;    // hexadecimal
  std::string head;  // hash of the newest record: note it elsewhere, and a later statement can be held to it
  std::uint64_t records = 0;
  std::uint64_t torn_bytes = 0;         // an append in progress or interrupted; never part of the account
  bool anchored = false;                // an anchor was there and agrees
  UtcTime began, latest, made;          // by the ledger's clock
  std::chrono::seconds clock_ahead{0};  // of the wall clock; negative: behind
  LedgerSettings settings;
  std::vector<BudgetState> budgets;
  double delta = 0;  // of the lines below: that of the lifetime budget, else the smallest of any budget
  SpendingLine total;
  std::vector<SpendingLine> purposes;
  std::vector<WindowStatement> windows;      // day, month
  std::vector<CampaignStatement> campaigns;  // in the order in which they first asked
  std::vector<SpendingLine> categories;      // sensitive ones, and others that were ever charged
  std::vector<std::string> releases;         // "120 × Gaussian noise, multiplier 1.1"
};

LedgerStatement make_statement(const LedgerBooks& books, const LedgerId& id, const ChainHash& head,
                               const ClockReading& now);

// Verifies the chain of a ledger file, and that it continues its anchor if one is given. Changes nothing and
// works while a device has the ledger open.
Result<LedgerStatement> read_statement(const std::filesystem::path& path, const ClockReading& now,
                                       AnchorStore* anchor = nullptr);

std::string to_text(const LedgerStatement& statement);
std::string to_json(const LedgerStatement& statement);  // one object, one line

}  // namespace sotto::privacy
