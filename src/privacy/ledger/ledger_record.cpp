#include "privacy/ledger/ledger_record.h"

#include <cmath>

#include "base/byte_codec.h"
#include "base/utf8.h"

namespace sotto::privacy {

const LogFormat ledger_format{
    .what = "ledger",
    .magic = "SOTTOLED",
    .version = 2,
    .opening_bytes = std::tuple_size_v<LedgerId>,
    .link = LogFormat::Link::blake2b,
    .most_body_bytes = std::size_t{1} << 20,
    .most_file_bytes = std::uint64_t{1} << 30,
    .advice =
        "nothing can be sent on its account. Restore the file from a backup, or begin a new ledger, "
        "whose first windows count as spent"};

namespace {

// The numbers are part of the file format: append, never renumber.
enum class MechanismTag : std::uint8_t {
  gaussian = 1,
  laplace = 2,
  randomised_response = 3,
  discrete_gaussian = 4,
  skellam = 5,
  pure = 6,
  approximate = 7,
  concentrated = 8,
};

struct MechanismWriter {
  ByteWriter& out;
  void tag(MechanismTag tag) const { out.number(static_cast<std::uint8_t>(tag)); }
  void operator()(const GaussianNoise& m) const {
    tag(MechanismTag::gaussian);
    out.real(m.noise_multiplier);
  }
  void operator()(const LaplaceNoise& m) const {
    tag(MechanismTag::laplace);
    out.real(m.scale);
  }
  void operator()(const RandomisedResponse& m) const {
    tag(MechanismTag::randomised_response);
    out.real(m.epsilon);
    out.number(m.categories);
  }
  void operator()(const DiscreteGaussianNoise& m) const {
    tag(MechanismTag::discrete_gaussian);
    out.real(m.sigma);
    out.number(m.summands);
    out.number(m.dimension);
    out.real(m.l1_sensitivity);
    out.real(m.l2_sensitivity);
  }
  void operator()(const SkellamNoise& m) const {
    tag(MechanismTag::skellam);
    out.real(m.variance);
    out.real(m.l1_sensitivity);
    out.real(m.l2_sensitivity);
  }
  void operator()(const PureDp& m) const {
    tag(MechanismTag::pure);
    out.real(m.epsilon);
  }
  void operator()(const ApproximateDp& m) const {
    tag(MechanismTag::approximate);
    out.real(m.epsilon);
    out.real(m.delta);
  }
  void operator()(const ConcentratedDp& m) const {
    tag(MechanismTag::concentrated);
    out.real(m.rho);
  }
};

// Braces evaluate from left to right.
Result<Mechanism> read_mechanism(ByteReader& in) {
  const auto tag = in.number<std::uint8_t>();
  switch (static_cast<MechanismTag>(tag)) {
    case MechanismTag::gaussian:
      return GaussianNoise{in.real()};
    case MechanismTag::laplace:
      return LaplaceNoise{in.real()};
    case MechanismTag::randomised_response:
      return RandomisedResponse{in.real(), in.number<std::uint64_t>()};
    case MechanismTag::discrete_gaussian:
      return DiscreteGaussianNoise{in.real(), in.number<std::uint64_t>(), in.number<std::uint64_t>(),
                                   in.real(), in.real()};
    case MechanismTag::skellam:
      return SkellamNoise{in.real(), in.real(), in.real()};
    case MechanismTag::pure:
      return PureDp{in.real()};
    case MechanismTag::approximate:
      return ApproximateDp{in.real(), in.real()};
    case MechanismTag::concentrated:
      return ConcentratedDp{in.real()};
  }
  return bad_input("unknown mechanism number {}", tag);
}

// Set in the unit's number when a log ratio follows the total variation.
constexpr std::uint8_t has_log_ratio = 0x80;

void write_event(ByteWriter& out, const PrivacyEvent& event) {
  std::visit(MechanismWriter{out}, event.mechanism);
  out.number(static_cast<std::uint8_t>(event.adjacency));
  const auto unit = static_cast<std::uint8_t>(event.unit);
  const bool ratio = event.log_ratio > 0;
  out.number(ratio ? static_cast<std::uint8_t>(unit | has_log_ratio) : unit);
  out.number(event.count);
  out.real(event.total_variation);
  if (ratio) out.real(event.log_ratio);
}

Result<PrivacyEvent> read_event(ByteReader& in) {
  SOTTO_TRY(Mechanism mechanism, read_mechanism(in));
  const auto adjacency = in.number<std::uint8_t>();
  const auto flagged = in.number<std::uint8_t>();
  const auto unit = static_cast<std::uint8_t>(flagged & ~has_log_ratio);
  if (adjacency > static_cast<std::uint8_t>(Adjacency::replace_one)) {
    return bad_input("unknown adjacency number {}", adjacency);
  }
  if (unit > static_cast<std::uint8_t>(Unit::user)) return bad_input("unknown unit number {}", unit);
  PrivacyEvent event{mechanism, static_cast<Adjacency>(adjacency), static_cast<Unit>(unit)};
  event.count = in.number<std::uint64_t>();
  event.total_variation = in.real();
  const bool ratio = (flagged & has_log_ratio) != 0;
  if (ratio) event.log_ratio = in.real();
  SOTTO_CHECK(validate(event));
  // −0.0 and a ratio of 0 that is spelt out would pass as second spellings of 0.
  if (std::signbit(event.total_variation)) return bad_input("the total variation slack is negative zero");
  if (ratio && event.log_ratio == 0) return bad_input("a log ratio of 0 is not written down");
  return event;
}

enum class RecordTag : std::uint8_t { settings = 1, charge = 2, closing = 3, round_charge = 4 };
constexpr std::uint16_t no_category = 0xffff;
static_assert(SensitivitySettings::max_categories <= no_category);

void write_opening(ByteWriter& out, RecordTag tag, const Moment& when) {
  const RunningTime running = when.running.value_or(RunningTime{});
  out.number(static_cast<std::uint8_t>(tag));
  out.number(static_cast<std::uint64_t>(when.time.time_since_epoch().count()));
  out.number(running.boot);
  out.number(static_cast<std::uint64_t>(running.since.count()));
}

Result<Moment> read_moment(ByteReader& in) {
  const auto seconds = [&] {
    return std::chrono::seconds{static_cast<std::int64_t>(in.number<std::uint64_t>())};
  };
  const UtcTime time{seconds()};
  RunningTime running{in.number<std::uint64_t>()};
  running.since = seconds();
  if (running == RunningTime{}) {
    SOTTO_CHECK(validate(time));
    return Moment(time);
  }
  SOTTO_CHECK(validate(ClockReading(time, running, false)));
  return Moment(time, running);
}

// An enumeration whose values are 0 to `last`.
template <class Enum>
Result<Enum> read_enum(ByteReader& in, Enum last, std::string_view what) {
  const auto value = in.number<std::uint8_t>();
  if (value > static_cast<std::uint8_t>(last)) return bad_input("unknown {} number {}", what, value);
  return static_cast<Enum>(value);
}

Result<SensitivitySettings> read_sensitivity(ByteReader& in) {
  const auto count = in.number<std::uint16_t>();
  std::vector<std::string> categories;
  std::vector<std::string> not_sensitive;
  for (std::uint16_t i = 0; i < count && in.good(); ++i) {
    const auto sensitive = in.number<std::uint8_t>();
    if (sensitive > 1) return bad_input("a category is sensitive (1) or not (0), not {}", sensitive);
    categories.emplace_back(in.text());
    if (sensitive == 0) not_sensitive.push_back(categories.back());
  }
  return SensitivitySettings::create(std::move(categories), not_sensitive);
}

Result<LedgerSettings> read_settings(ByteReader& in) {
  SOTTO_TRY(const Unit unit, read_enum(in, Unit::user, "unit"));
  SOTTO_TRY(const Adjacency adjacency, read_enum(in, Adjacency::replace_one, "adjacency"));
  SOTTO_TRY(const RequestOrder order, read_enum(in, RequestOrder::planned, "order of requests"));
  SOTTO_TRY(SensitivitySettings sensitivity, read_sensitivity(in));
  LedgerSettings settings{unit, adjacency, order, std::move(sensitivity), {}};
  const auto budgets = in.number<std::uint16_t>();
  for (std::uint16_t i = 0; i < budgets && in.good(); ++i) {
    LedgerBudget budget;
    SOTTO_TRY(budget.window, read_enum(in, BudgetWindow::lifetime, "window"));
    if (const auto category = in.number<std::uint16_t>(); category != no_category) budget.category = category;
    budget.epsilon = in.real();
    budget.delta = in.real();
    settings.budgets.push_back(budget);
  }
  SOTTO_CHECK(validate(settings));
  return settings;
}

void write_hash(ByteWriter& out, const TrainingRound::Hash& hash) {
  out.raw({reinterpret_cast<const char*>(hash.data()), hash.size()});
}
TrainingRound::Hash read_hash(ByteReader& in) {
  TrainingRound::Hash hash{};
  const std::string_view bytes = in.raw(hash.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) hash[i] = static_cast<std::uint8_t>(bytes[i]);
  return hash;
}

Result<Charge> read_charge(ByteReader& in) {
  Charge charge;
  SOTTO_TRY(charge.purpose, read_enum(in, ReleasePurpose::evaluation, "purpose"));
  charge.about = in.text();
  if (charge.about.size() > max_about_bytes || !is_printable(charge.about)) {
    return bad_input("the words about a charge are not printable text");
  }
  const auto categories = in.number<std::uint16_t>();
  for (std::uint16_t i = 0; i < categories && in.good(); ++i) {
    const auto category = in.number<std::uint16_t>();
    if (!charge.categories.empty() && category <= charge.categories.back()) {
      return bad_input("the categories of a charge are not in ascending order");
    }
    charge.categories.push_back(category);
  }
  if (!charge.categories.empty()) {
    SOTTO_TRY(charge.event, read_event(in));
  }
  return charge;
}

}  // namespace

std::string encode(const PrivacyEvent& event) {
  ByteWriter out;
  write_event(out, event);
  return std::move(out).take();
}

std::string encode(const SettingsRecord& record) {
  ByteWriter out;
  const LedgerSettings& settings = record.settings;
  write_opening(out, RecordTag::settings, record.when);
  out.number(static_cast<std::uint8_t>(settings.unit));
  out.number(static_cast<std::uint8_t>(settings.adjacency));
  out.number(static_cast<std::uint8_t>(settings.order));
  const auto& categories = settings.sensitivity.categories();
  out.number(static_cast<std::uint16_t>(categories.size()));
  for (std::size_t id = 0; id < categories.size(); ++id) {
    out.number(
        static_cast<std::uint8_t>(settings.sensitivity.is_sensitive(static_cast<CategoryId>(id)) ? 1 : 0));
    out.text(categories[id]);
  }
  out.number(static_cast<std::uint16_t>(settings.budgets.size()));
  for (const LedgerBudget& budget : settings.budgets) {
    out.number(static_cast<std::uint8_t>(budget.window));
    out.number(budget.category.value_or(no_category));
    out.real(budget.epsilon);
    out.real(budget.delta);
  }
  return std::move(out).take();
}

// A charge has an event exactly if it names categories.
std::string encode(const ChargeRecord& record) {
  ByteWriter out;
  write_opening(out, record.charge.round ? RecordTag::round_charge : RecordTag::charge, record.when);
  if (record.charge.round) {
    write_hash(out, record.charge.round->campaign);
    write_hash(out, record.charge.round->round);
  }
  out.number(static_cast<std::uint8_t>(record.charge.purpose));
  out.text(record.charge.about);
  out.number(static_cast<std::uint16_t>(record.charge.categories.size()));
  for (const CategoryId category : record.charge.categories) out.number(category);
  if (record.charge.event) write_event(out, *record.charge.event);
  return std::move(out).take();
}

std::string encode(const ClosingRecord& record) {
  ByteWriter out;
  write_opening(out, RecordTag::closing, record.when);
  out.number(static_cast<std::uint8_t>(record.reason));
  return std::move(out).take();
}

std::string encode(const LedgerRecord& record) {
  return std::visit([](const auto& one) { return encode(one); }, record);
}

Result<LedgerRecord> decode_record(std::string_view bytes) {
  ByteReader in(bytes);
  const auto tag = in.number<std::uint8_t>();
  SOTTO_TRY(const Moment when, read_moment(in));
  Result<LedgerRecord> record = bad_input("unknown record number {}", tag);
  if (tag == static_cast<std::uint8_t>(RecordTag::settings)) {
    SOTTO_TRY(LedgerSettings settings, read_settings(in));
    record = SettingsRecord{when, std::move(settings)};
  } else if (tag == static_cast<std::uint8_t>(RecordTag::charge)) {
    SOTTO_TRY(Charge charge, read_charge(in));
    record = ChargeRecord{when, std::move(charge)};
  } else if (tag == static_cast<std::uint8_t>(RecordTag::round_charge)) {
    TrainingRound round{read_hash(in)};
    round.round = read_hash(in);
    SOTTO_TRY(Charge charge, read_charge(in));
    if (!is_for_rounds(charge.purpose))
      return bad_input("a round of training was charged for {}", name(charge.purpose));
    charge.round = round;
    record = ChargeRecord{when, std::move(charge)};
  } else if (tag == static_cast<std::uint8_t>(RecordTag::closing)) {
    SOTTO_TRY(const ClosingReason reason, read_enum(in, ClosingReason::past_unknown, "reason"));
    record = ClosingRecord{when, reason};
  }
  if (record && !in.complete()) return bad_input("the record is too short or too long for what it says");
  return record;
}

}  // namespace sotto::privacy
