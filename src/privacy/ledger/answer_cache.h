#pragma once
// Answers that are drawn once per period and sent again for free until the period ends.
//
// A noisy answer that is redrawn when the history changes tells that it changed. Here the clock alone
// decides: periods begin at fixed instants, and there is no way to drop an answer early. Drawing costs one
// charge, sending the same answer again costs nothing (it is post-processing). The order is room on the disk,
// charge, draw, store, return: a full disk costs nothing, and what was charged can be stored. A crash in
// between costs the charge and the next call pays again, so no second draw is ever free.
//
// When a budget refuses a new draw, the last answer is returned instead, marked as expired: this depends on
// settings and clock only. An answer names the record that paid for it: without its ledger, or with an older
// copy of it, it is dropped, and the next draw pays.
//
// Uses the ledger, which must outlive it. Movable. Safe to call from several threads; draws run one at a
// time. One cache per file.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "privacy/ledger/ledger.h"

namespace sotto::privacy {

// Periods begin at phase, phase + period, ... after 1970. The phase may be drawn once per device so that not
// all ask at the same instant; it must not come from the history.
struct RefreshClock {
  std::chrono::seconds period{0};
  std::chrono::seconds phase{0};
};
Status validate(const RefreshClock& clock);  // one minute ≤ period ≤ 366 days, 0 ≤ phase < period
UtcTime end_of_period(const RefreshClock& clock, UtcTime time);

struct CachedAnswer {
  std::string bytes;
  UtcTime drawn;
  UtcTime valid_until;
  bool is_new = false;   // drawn, and charged, by this call
  bool expired = false;  // a budget refused a new one
};

class AnswerCache {
 public:
  static constexpr std::size_t max_answer_bytes = std::size_t{64} << 10;  // reserved before every draw
  static constexpr std::size_t max_kinds = 256;

  // A missing file is an empty cache.
  static Result<AnswerCache> open(const std::filesystem::path& path, Ledger& ledger,
                                  const RefreshClock& clock);
  AnswerCache(AnswerCache&&) noexcept;
  AnswerCache& operator=(AnswerCache&&) noexcept;
  ~AnswerCache();

  // Runs the mechanism that was charged, on the history as it is now.
  using Draw = std::function<Result<std::string>(const Receipt&)>;
  // kind: what is asked, up to 64 printable bytes, the same for every person ("front page").
  Result<CachedAnswer> get(std::string_view kind, const Release& release, const ClockReading& now,
                           const Draw& draw);

 private:
  struct State;
  explicit AnswerCache(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The bytes of its file: which answer was drawn when, and which record paid for it.
struct StoredAnswer {
  std::string bytes;
  UtcTime drawn;
  UtcTime valid_until;
  std::uint64_t record = 0;  // of the charge
  ChainHash paid{};          // the chain's hash at that record

  bool operator==(const StoredAnswer&) const = default;
};
using StoredAnswers = std::map<std::string, StoredAnswer, std::less<>>;  // by kind

std::string encode(const StoredAnswers& answers);
Result<StoredAnswers> decode_answers(std::string_view bytes);

}  // namespace sotto::privacy
