#include "privacy/ledger/answer_cache.h"

#include <mutex>

#include "base/files.h"
#include "privacy/ledger/answer_file.h"

namespace sotto {

Status validate(const RefreshClock& clock) {
  using std::chrono::days;
  using std::chrono::minutes;
  if (clock.period < minutes{1} || clock.period > days{366}) {
    return bad_input("answers are refreshed every minute at most and every 366 days at least, not every {} s",
                     clock.period.count());
  }
  if (clock.phase.count() < 0 || clock.phase >= clock.period) {
    return bad_input("the phase must lie between 0 and the period of {} s, not be {} s", clock.period.count(),
                     clock.phase.count());
  }
  return {};
}

UtcTime end_of_period(const RefreshClock& clock, UtcTime time) {
  const auto since_a_beginning = (time.time_since_epoch() + (clock.period - clock.phase)) % clock.period;
  return time + (clock.period - since_a_beginning);
}

struct AnswerCache::State {
  std::mutex mutex;
  fs::path path;
  Ledger& ledger;
  RefreshClock clock;
  StoredAnswers answers;

  State(fs::path path_, Ledger& ledger_, RefreshClock clock_)
      : path(std::move(path_)), ledger(ledger_), clock(clock_) {}

  Status load() {
    std::error_code unreadable;
    if (!fs::exists(path, unreadable) && !unreadable) return {};
    SOTTO_TRY(const std::string bytes, read_file(path, kMaxAnswerFileBytes));
    SOTTO_TRY(answers, decode_answers(bytes));
    for (const auto& [kind, answer] : answers) {
      if (ledger.hash_at(answer.record) != answer.paid) {
        return bad_input(
            "the answer to \"{}\" was paid for by record {}, which this ledger does not have: the answers "
            "belong to another ledger, or the ledger was rolled back. Restore the newest copy of both",
            kind, answer.record);
      }
    }
    return {};
  }

  Result<CachedAnswer> draw_and_store(std::string_view kind, Receipt receipt, const Draw& draw) {
    SOTTO_TRY(std::string bytes, draw(receipt));
    if (bytes.size() > max_answer_bytes) {
      return bad_input("an answer has at most {} bytes, not {}", max_answer_bytes, bytes.size());
    }
    const StoredAnswer stored{std::move(bytes), receipt.time(), end_of_period(clock, receipt.time()),
                              receipt.record(), *ledger.hash_at(receipt.record())};
    StoredAnswers after = answers;
    after.insert_or_assign(std::string(kind), stored);
    SOTTO_CHECK(write_file_atomically(path, encode(after)));
    answers = std::move(after);
    return CachedAnswer{stored.bytes, stored.drawn, stored.valid_until, true, false};
  }
};

AnswerCache::AnswerCache(std::unique_ptr<State> state) : state_(std::move(state)) {}
AnswerCache::AnswerCache(AnswerCache&&) noexcept = default;
AnswerCache& AnswerCache::operator=(AnswerCache&&) noexcept = default;
AnswerCache::~AnswerCache() = default;

Result<AnswerCache> AnswerCache::open(const fs::path& path, Ledger& ledger, const RefreshClock& clock) {
  SOTTO_CHECK(validate(clock));
  auto state = std::make_unique<State>(path, ledger, clock);
  if (auto loaded = state->load(); !loaded) {
    return tl::unexpected(std::move(loaded).error().in(path.string()));
  }
  return AnswerCache(std::move(state));
}

Result<CachedAnswer> AnswerCache::get(std::string_view kind, const Release& release, UtcTime now,
                                      const Draw& draw) {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate_answer_kind(kind));
  SOTTO_TRY(const UtcTime time, state_->ledger.effective_time(now));
  const auto stored = state_->answers.find(kind);
  const bool known = stored != state_->answers.end();
  if (known && time < stored->second.valid_until) {
    const StoredAnswer& answer = stored->second;
    return CachedAnswer{answer.bytes, answer.drawn, answer.valid_until, false, false};
  }
  if (!known && state_->answers.size() == max_kinds) {
    return bad_input("more than {} kinds of answers: a kind is what is asked, not who asks or when",
                     max_kinds);
  }
  if (known) {
    SOTTO_TRY(const std::vector<Refusal> refused, state_->ledger.refusals(release, time));
    if (!refused.empty()) {
      const StoredAnswer& answer = stored->second;
      return CachedAnswer{answer.bytes, answer.drawn, answer.valid_until, false, true};
    }
  }
  SOTTO_TRY(Receipt receipt, state_->ledger.charge(release, time));
  return state_->draw_and_store(kind, std::move(receipt), draw);
}

}  // namespace sotto
