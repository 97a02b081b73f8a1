#include "privacy/ledger/answer_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <mutex>

#include "base/byte_codec.h"
#include "base/files.h"
#include "base/temporary_sibling.h"
#include "base/utf8.h"

namespace sotto::privacy {

namespace {

constexpr std::uint64_t most_file_bytes_of_answers = std::uint64_t{32} << 20;
// Of one answer in the file, besides its bytes and the name of its kind.
constexpr std::uint64_t answer_overhead = 2 + 8 + 8 + 8 + 32 + 4;

constexpr std::string_view answers_magic = "SOTTOANS";
constexpr std::uint32_t answers_version = 1;
constexpr std::size_t max_kind_bytes = 64;

std::uint64_t answers_check(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void write_time(ByteWriter& out, UtcTime time) {
  out.number(static_cast<std::uint64_t>(time.time_since_epoch().count()));
}

Result<UtcTime> read_time(ByteReader& in) {
  const UtcTime time{std::chrono::seconds{static_cast<std::int64_t>(in.number<std::uint64_t>())}};
  SOTTO_CHECK(validate(time));
  return time;
}

Result<StoredAnswer> read_answer(ByteReader& in) {
  StoredAnswer answer;
  SOTTO_TRY(answer.drawn, read_time(in));
  SOTTO_TRY(answer.valid_until, read_time(in));
  if (answer.valid_until <= answer.drawn || answer.valid_until - answer.drawn > std::chrono::days{366}) {
    return bad_input("an answer is valid for up to 366 days, not from {} to {}", to_text(answer.drawn),
                     to_text(answer.valid_until));
  }
  answer.record = in.number<std::uint64_t>();
  const std::string_view paid = in.raw(answer.paid.size());
  std::copy(paid.begin(), paid.end(), answer.paid.begin());
  const auto size = in.number<std::uint32_t>();
  if (size > AnswerCache::max_answer_bytes) return bad_input("an answer of {} bytes is too long", size);
  answer.bytes = in.raw(size);
  return answer;
}

Status validate_answer_kind(std::string_view kind) {
  if (!kind.empty() && kind.size() <= max_kind_bytes && is_printable(kind)) return {};
  return bad_input("a kind of answer is named by 1 to {} bytes of printable UTF-8, not \"{}\"",
                   max_kind_bytes, printable(kind));
}

}  // namespace

std::string encode(const StoredAnswers& answers) {
  ByteWriter out;
  out.raw(answers_magic);
  out.number(answers_version);
  out.number(static_cast<std::uint32_t>(answers.size()));
  for (const auto& [kind, answer] : answers) {
    out.text(kind);
    write_time(out, answer.drawn);
    write_time(out, answer.valid_until);
    out.number(answer.record);
    out.raw(as_text(answer.paid));
    out.number(static_cast<std::uint32_t>(answer.bytes.size()));
    out.raw(answer.bytes);
  }
  out.number(answers_check(out.bytes()));
  return std::move(out).take();
}

Result<StoredAnswers> decode_answers(std::string_view bytes) {
  constexpr std::size_t check_bytes = 8;
  if (!bytes.starts_with(answers_magic) || bytes.size() < answers_magic.size() + check_bytes) {
    return bad_input("this is not a file of answers");
  }
  const std::string_view checked = bytes.substr(0, bytes.size() - check_bytes);
  if (ByteReader(bytes.substr(checked.size())).number<std::uint64_t>() != answers_check(checked)) {
    return bad_input(
        "the file of answers is damaged: delete it, the next answers are drawn and charged anew");
  }
  ByteReader in(checked.substr(answers_magic.size()));
  if (const auto found = in.number<std::uint32_t>(); found != answers_version) {
    return bad_input("the answers have format {}, this program knows format {}", found, answers_version);
  }
  const auto count = in.number<std::uint32_t>();
  if (count > AnswerCache::max_kinds) return bad_input("{} kinds of answers are too many", count);
  StoredAnswers answers;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string kind(in.text());
    SOTTO_CHECK(validate_answer_kind(kind));
    SOTTO_TRY(StoredAnswer answer, read_answer(in));
    if (!answers.empty() && kind <= answers.rbegin()->first) return bad_input("the answers are not in order");
    answers.emplace_hint(answers.end(), std::move(kind), std::move(answer));
  }
  if (!in.complete()) return bad_input("the file of answers is too short or too long for what it says");
  return answers;
}

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
    remove_temporary_siblings(path);
    std::error_code unreadable;
    if (!fs::exists(path, unreadable) && !unreadable) return {};
    SOTTO_TRY(const std::string bytes, read_file(path, most_file_bytes_of_answers));
    SOTTO_TRY(answers, decode_answers(bytes));
    std::erase_if(
        answers, [&](const auto& entry) { return ledger.hash_at(entry.second.record) != entry.second.paid; });
    return {};
  }

  // Where the answers with one more will be written. An error: nothing was charged yet.
  Result<AtomicFile> reserve(std::string_view kind) const {
    const auto reserve = [&]() -> Result<AtomicFile> {
      // Replacing a file needs no more room in its folder, making one may.
      std::error_code ignored;
      if (!fs::exists(path, ignored)) {
        SOTTO_CHECK(write_file_atomically(path, encode(answers), FileReaders::owner));
      }
      SOTTO_TRY(AtomicFile file, AtomicFile::create(path, FileReaders::owner));
      SOTTO_CHECK(file.reserve(encode(answers).size() + kind.size() + answer_overhead + max_answer_bytes));
      return file;
    };
    auto file = reserve();
    if (!file) return tl::unexpected(std::move(file).error().in("nothing was charged"));
    return file;
  }

  Result<CachedAnswer> draw_and_store(std::string_view kind, const Receipt& receipt, const Draw& draw,
                                      AtomicFile file) {
    SOTTO_TRY(std::string bytes, draw(receipt));
    if (bytes.size() > max_answer_bytes) {
      return bad_input("an answer has at most {} bytes, not {}", max_answer_bytes, bytes.size());
    }
    const StoredAnswer stored{std::move(bytes), receipt.time(), end_of_period(clock, receipt.time()),
                              receipt.record(), *ledger.hash_at(receipt.record())};
    StoredAnswers after = answers;
    after.insert_or_assign(std::string(kind), stored);
    SOTTO_CHECK(file.write(encode(after)));
    SOTTO_CHECK(file.commit());
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

Result<CachedAnswer> AnswerCache::get(std::string_view kind, const Release& release, const ClockReading& now,
                                      const Draw& draw) {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate_answer_kind(kind));
  SOTTO_TRY(const UtcTime time, state_->ledger.time_at(now));
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
    SOTTO_TRY(const std::vector<Refusal> refused, state_->ledger.refusals(release, now));
    if (!refused.empty()) {
      const StoredAnswer& answer = stored->second;
      return CachedAnswer{answer.bytes, answer.drawn, answer.valid_until, false, true};
    }
  }
  SOTTO_TRY(AtomicFile file, state_->reserve(kind));
  SOTTO_TRY(const Receipt receipt, state_->ledger.charge(release, now));
  return state_->draw_and_store(kind, receipt, draw, std::move(file));
}

}  // namespace sotto::privacy
