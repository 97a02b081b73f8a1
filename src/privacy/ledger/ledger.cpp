#include "privacy/ledger/ledger.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/random.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::privacy {

namespace fs = std::filesystem;

namespace {

LedgerId new_id() {
  SecureRandom random;
  const std::array<std::uint64_t, 2> words = {random(), random()};
  LedgerId id;
  static_assert(sizeof(words) == sizeof(id));
  std::memcpy(id.data(), words.data(), id.size());
  return id;
}

ChainHash chain_hash_of(std::string_view link) {
  ChainHash hash{};
  std::copy_n(link.begin(), std::min(link.size(), hash.size()), hash.begin());
  return hash;
}

std::string what_would_help(const Refusal& refusal) {
  if (!refusal.fits_alone) return "this release alone is more than the whole budget, add noise to it";
  if (refusal.state.window.end) return "more frees up at " + to_text(*refusal.state.window.end);
  if (refusal.state.closed) {
    return "only a new ledger, whose first use its owner states, can tell anything under it";
  }
  if (!std::isfinite(refusal.epsilon_with_charge))
    return "no bound holds at this δ for all releases together, whatever the budget";
  return "nothing frees up, only new settings can raise it";
}

std::string in_words(const Refusal& refusal, const SensitivitySettings& sensitivity) {
  const BudgetState& state = refusal.state;
  if (state.closed) {
    return fmt::format("the budget ({}) of ε {:g} counts as spent because {}; {}",
                       describe(state.budget, sensitivity), state.budget.epsilon,
                       *state.closed == ClosingReason::clock_mended
                           ? "the ledger's clock was mended"
                           : "nothing tells what was charged before this ledger",
                       what_would_help(refusal));
  }
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
  State(AppendLog log_, LedgerBooks books_) : log(std::move(log_)), books(std::move(books_)) {}

  mutable std::mutex mutex;
  AppendLog log;
  LedgerBooks books;
  LedgerId id{};
  std::vector<ChainHash> hashes;
  std::shared_ptr<AnchorStore> anchor;
  std::uint64_t anchored = 0;  // records that the anchor knows of

  Status catch_up_anchor() {
    if (!anchor || anchored == hashes.size()) return {};
    SOTTO_CHECK(anchor->store(encode(LedgerAnchor{id, hashes.size(), hashes.back(), books.latest()})));
    anchored = hashes.size();
    return {};
  }

  // On disk first, then in the books, then in the anchor. What is on the disk is charged: an anchor that
  // cannot be stored then does not cost the receipt, but holds up the next record.
  Status append(const LedgerRecord& record) {
    SOTTO_CHECK(books.check(record));
    SOTTO_CHECK(catch_up_anchor());
    const std::string body = encode(record);
    SOTTO_CHECK(log.append({&body, 1}));
    SOTTO_CHECK(books.apply(record));
    hashes.push_back(chain_hash_of(log.link()));
    static_cast<void>(catch_up_anchor());
    return {};
  }

  // Closes the windows unless the whole past is there.
  Status check_past(const ClockReading& now, bool first_use) {
    if (!anchor) return {};
    SOTTO_TRY(const auto stored, anchor->load());
    Moment when = books.at(now);
    bool known = first_use;
    if (stored) {
      const auto noted = decode_anchor(*stored);
      known = noted && check_anchor(*noted, id, hashes);
      if (noted && known) anchored = noted->records;
      if (noted) when.time = std::max(when.time, noted->latest);
    }
    if (known) {
      static_cast<void>(catch_up_anchor());
      return {};
    }
    anchored = hashes.size();  // what it holds is of no use
    return append(ClosingRecord{when, ClosingReason::past_unknown});
  }
};

Ledger::Ledger(std::unique_ptr<State> state) : state_(std::move(state)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Result<Ledger> Ledger::create(const fs::path& path, const LedgerSettings& settings, const ClockReading& now,
                              const LedgerOptions& options) {
  SOTTO_CHECK(validate(settings));
  SOTTO_CHECK(validate(now));
  Moment when(now.wall, now.running);
  bool first_use = options.first_use;
  if (options.anchor) {
    SOTTO_TRY(const auto stored, options.anchor->load());
    if (stored) first_use = false;
    if (const auto noted = decode_anchor(stored.value_or(""))) when.time = std::max(when.time, noted->latest);
  }
  std::vector<std::string> bodies = {encode(SettingsRecord{when, settings})};
  if (!first_use) bodies.push_back(encode(ClosingRecord{when, ClosingReason::past_unknown}));
  const LedgerId id = new_id();
  {
    SOTTO_TRY(const AppendLog log,
              AppendLog::create(path, ledger_format, as_text(id), bodies, Durability::power_loss));
    if (options.anchor) {
      const LedgerAnchor anchor{id, bodies.size(), chain_hash_of(log.link()), when.time};
      SOTTO_CHECK(options.anchor->store(encode(anchor)));
    }
  }
  return open(path, now, options);
}

Result<Ledger> Ledger::open(const fs::path& path, const ClockReading& now, const LedgerOptions& options) {
  SOTTO_CHECK(validate(now));
  std::vector<std::string> bodies;
  std::vector<ChainHash> hashes;
  SOTTO_TRY(AppendLog log, AppendLog::open(path, ledger_format, Durability::power_loss,
                                           [&](std::string_view body, std::string_view link) -> Status {
                                             bodies.emplace_back(body);
                                             hashes.push_back(chain_hash_of(link));
                                             return {};
                                           }));
  auto books = LedgerBooks::replay(bodies);
  if (!books) return tl::unexpected(std::move(books).error().in(path.string()));
  SOTTO_CHECK(log.settle());  // an anchor must never run ahead of the disk
  auto state = std::make_unique<State>(std::move(log), std::move(*books));
  std::copy_n(state->log.opening().begin(), state->id.size(), state->id.begin());
  state->hashes = std::move(hashes);
  state->anchor = options.anchor;
  if (auto checked = state->check_past(now, options.first_use); !checked) {
    return tl::unexpected(std::move(checked).error().in(path.string()));
  }
  return Ledger(std::move(state));
}

Result<Receipt> Ledger::charge(const Release& release, const ClockReading& now) {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  const Moment when = state_->books.at(now);
  const LedgerSettings& settings = state_->books.settings();
  SOTTO_TRY(Charge charge, price(release, settings));
  SOTTO_TRY(const std::vector<Refusal> refused, state_->books.refusals(charge, when.time));
  if (!refused.empty()) {
    std::vector<std::string> reasons;
    reasons.reserve(refused.size());
    for (const Refusal& refusal : refused) reasons.push_back(in_words(refusal, settings.sensitivity));
    return bad_input("refused: {}", fmt::join(reasons, "; and "));
  }
  SOTTO_CHECK(state_->append(ChargeRecord{when, charge}));
  return Receipt(state_->books.records(), when.time, std::move(charge));
}

Result<std::vector<Refusal>> Ledger::refusals(const Release& release, const ClockReading& now) const {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  SOTTO_TRY(const Charge charge, price(release, state_->books.settings()));
  return state_->books.refusals(charge, state_->books.at(now).time);
}

Status Ledger::change_settings(const LedgerSettings& settings, const ClockReading& now) {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  return state_->append(SettingsRecord{state_->books.at(now), settings});
}

Status Ledger::mend_clock(const ClockReading& now) {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  return state_->append(ClosingRecord{Moment(now.wall, now.running), ClosingReason::clock_mended});
}

LedgerSettings Ledger::settings() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->books.settings();
}

std::vector<TrainingRound::Hash> Ledger::rounds_of(const TrainingRound::Hash& campaign,
                                                   ReleasePurpose purpose) const {
  const std::scoped_lock lock(state_->mutex);
  return state_->books.rounds_of(campaign, purpose);
}

Result<UtcTime> Ledger::time_at(const ClockReading& now) const {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  return state_->books.at(now).time;
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

Result<LedgerStatement> Ledger::statement(const ClockReading& now) const {
  const std::scoped_lock lock(state_->mutex);
  SOTTO_CHECK(validate(now));
  return make_statement(state_->books, state_->id, state_->hashes.back(), now);
}

}  // namespace sotto::privacy
