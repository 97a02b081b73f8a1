#include "privacy/ledger/ledger.h"

#include <cmath>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/random.h"
#include "privacy/ledger/journal_file.h"
#include "privacy/ledger/ledger_anchor.h"
#include "privacy/ledger/ledger_statement.h"
#include "privacy/ledger/replay.h"

namespace sotto {

namespace fs = std::filesystem;
using journal_format::LedgerId;

namespace {

LedgerId new_id() {
  SecureRandom random;
  const std::array<std::uint64_t, 2> words = {random(), random()};
  LedgerId id;
  static_assert(sizeof(words) == sizeof(id));
  std::memcpy(id.data(), words.data(), id.size());
  return id;
}

std::string what_would_help(const Refusal& refusal) {
  if (!refusal.fits_alone) return "this release alone is more than the whole budget, add noise to it";
  if (refusal.state.window.end) return "more frees up at " + to_text(*refusal.state.window.end);
  if (!std::isfinite(refusal.epsilon_with_charge))
    return "no bound holds at this δ for all releases together, whatever the budget";
  return "nothing frees up, only new settings can raise it";
}

std::string in_words(const Refusal& refusal, const SensitivitySettings& sensitivity) {
  const BudgetState& state = refusal.state;
  return fmt::format(
      "the budget ({}) of ε {:g} at δ {:g} would be exceeded: ε {:.4g} is spent, {:.4g} left, this release "
      "would make it {:.4g}; {}",
      describe(state.budget, sensitivity), state.budget.epsilon, state.budget.delta, state.spent.epsilon,
      state.left(), refusal.epsilon_with_charge, what_would_help(refusal));
}

}  // namespace

Receipt::Receipt(Receipt&& other) noexcept
    : record_(std::exchange(other.record_, 0)), time_(other.time_), charge_(std::move(other.charge_)) {}

Receipt& Receipt::operator=(Receipt&& other) noexcept {
  if (this != &other) {
    record_ = std::exchange(other.record_, 0);
    time_ = other.time_;
    charge_ = std::move(other.charge_);
  }
  return *this;
}

Status Receipt::covers(ReleasePurpose purpose, const PrivacyEvent& event) const {
  if (record_ == 0) return bad_input("the receipt was used already: charge again");
  if (purpose != charge_.purpose) {
    return bad_input("the receipt is for {}, not for {}", name(charge_.purpose), name(purpose));
  }
  if (!charge_.event) {
    return bad_input("nothing was charged: only clicks of categories that are not sensitive may be used");
  }
  if (encode(event) != encode(*charge_.event)) {
    return bad_input("the receipt is for {} use(s) of {}, not for {} use(s) of {}", charge_.event->count,
                     describe(charge_.event->mechanism), event.count, describe(event.mechanism));
  }
  return {};
}

struct Ledger::State {
  State(JournalFile file_, LedgerBooks books_) : file(std::move(file_)), books(std::move(books_)) {}

  mutable std::mutex mutex;
  JournalFile file;
  LedgerBooks books;
  LedgerId id{};
  std::vector<ChainHash> hashes;
  LedgerOptions options;
  UtcTime seen;  // the latest time of any record or question

  UtcTime advance(UtcTime now) { return seen = std::max({seen, now, books.latest()}); }

  // On disk first, then in the books, then in the anchor.
  Status append(const LedgerRecord& record) {
    SOTTO_CHECK(books.check(record));
    SOTTO_CHECK(file.append(encode(record)));
    SOTTO_CHECK(books.apply(record));
    hashes.push_back(file.head());
    return options.anchor ? write_anchor(*options.anchor, {id, hashes.size(), file.head()}) : Status{};
  }

  Status check_or_begin_anchor() {
    if (!options.anchor) return {};
    std::error_code unreadable;
    if (fs::exists(*options.anchor, unreadable) || unreadable) {
      SOTTO_TRY(const LedgerAnchor anchor, read_anchor(*options.anchor));
      SOTTO_CHECK(check_anchor(anchor, id, hashes));
    } else if (!options.begin_anchor && hashes.size() > 1) {
      return bad_input(
          "the anchor {} is missing, so nothing tells whether the ledger is an old copy: restore the anchor, "
          "or begin a new one if you trust the ledger",
          options.anchor->string());
    }
    return write_anchor(*options.anchor, {id, hashes.size(), file.head()});
  }
};

Ledger::Ledger(std::unique_ptr<State> state) : state_(std::move(state)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Result<Ledger> Ledger::create(const fs::path& path, const LedgerSettings& settings, UtcTime now,
                              const LedgerOptions& options) {
  SOTTO_CHECK(validate(settings));
  SOTTO_CHECK(validate(now));
  std::error_code ignored;
  if (options.anchor && fs::exists(*options.anchor, ignored)) {
    return bad_input("the anchor {} exists already: a ledger was here before", options.anchor->string());
  }
  SOTTO_CHECK(JournalFile::create(path, new_id(), encode(SettingsRecord{now, settings})));
  return open(path, options);
}

Result<Ledger> Ledger::open(const fs::path& path, const LedgerOptions& options) {
  SOTTO_TRY(JournalFile::Opened opened, JournalFile::open(path));
  auto books = replay(opened.journal);
  if (!books) return tl::unexpected(std::move(books).error().in(path.string()));
  auto state = std::make_unique<State>(std::move(opened.file), std::move(*books));
  state->id = opened.journal.id;
  state->hashes = std::move(opened.journal.hashes);
  state->options = options;
  state->seen = state->books.latest();
  if (auto anchored = state->check_or_begin_anchor(); !anchored) {
    return tl::unexpected(std::move(anchored).error().in(path.string()));
  }
  return Ledger(std::move(state));
}

Result<Receipt> Ledger::charge(const Release& release, UtcTime now) {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  const UtcTime time = state_->advance(now);
  const LedgerSettings& settings = state_->books.settings();
  SOTTO_TRY(Charge charge, price(release, settings));
  SOTTO_TRY(const std::vector<Refusal> refused, state_->books.refusals(charge, time));
  if (!refused.empty()) {
    std::vector<std::string> reasons;
    reasons.reserve(refused.size());
    for (const Refusal& refusal : refused) reasons.push_back(in_words(refusal, settings.sensitivity));
    return bad_input("refused: {}", fmt::join(reasons, "; and "));
  }
  SOTTO_CHECK(state_->append(ChargeRecord{time, charge}));
  return Receipt(state_->books.records(), time, std::move(charge));
}

Result<std::vector<Refusal>> Ledger::refusals(const Release& release, UtcTime now) {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  SOTTO_TRY(const Charge charge, price(release, state_->books.settings()));
  return state_->books.refusals(charge, state_->advance(now));
}

Status Ledger::change_settings(const LedgerSettings& settings, UtcTime now) {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  return state_->append(SettingsRecord{state_->advance(now), settings});
}

LedgerSettings Ledger::settings() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->books.settings();
}

Result<UtcTime> Ledger::effective_time(UtcTime now) {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  return state_->advance(now);
}

std::uint64_t Ledger::records() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->books.records();
}

std::string Ledger::id() const { return to_hex(state_->id); }

std::optional<ChainHash> Ledger::hash_at(std::uint64_t record) const {
  const std::scoped_lock lock(state_->mutex);
  if (record < 1 || record > state_->hashes.size()) return std::nullopt;
  return state_->hashes[record - 1];
}

Result<LedgerStatement> Ledger::statement(UtcTime now) {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  return make_statement(state_->books, state_->id, state_->file.head(), state_->advance(now));
}

}  // namespace sotto
