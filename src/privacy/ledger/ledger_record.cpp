#include "privacy/ledger/ledger_record.h"

#include "privacy/ledger/event_codec.h"
#include "privacy/ledger/printable.h"

namespace sotto {
namespace {

enum class RecordTag : std::uint8_t { settings = 1, charge = 2 };
constexpr std::uint16_t kNoCategory = 0xffff;
static_assert(SensitivitySettings::max_categories <= kNoCategory);

void write_opening(ByteWriter& out, RecordTag tag, UtcTime time) {
  out.number(static_cast<std::uint8_t>(tag));
  out.number(static_cast<std::uint64_t>(time.time_since_epoch().count()));
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
    if (const auto category = in.number<std::uint16_t>(); category != kNoCategory) budget.category = category;
    budget.epsilon = in.real();
    budget.delta = in.real();
    settings.budgets.push_back(budget);
  }
  SOTTO_CHECK(validate(settings));
  return settings;
}

Result<Charge> read_charge(ByteReader& in) {
  Charge charge;
  SOTTO_TRY(charge.purpose, read_enum(in, ReleasePurpose::serving, "purpose"));
  charge.about = in.text();
  if (charge.about.size() > kMaxAboutBytes || !is_printable(charge.about)) {
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
  write_opening(out, RecordTag::settings, record.time);
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
    out.number(budget.category.value_or(kNoCategory));
    out.real(budget.epsilon);
    out.real(budget.delta);
  }
  return std::move(out).take();
}

// A charge has an event exactly if it names categories.
std::string encode(const ChargeRecord& record) {
  ByteWriter out;
  write_opening(out, RecordTag::charge, record.time);
  out.number(static_cast<std::uint8_t>(record.charge.purpose));
  out.text(record.charge.about);
  out.number(static_cast<std::uint16_t>(record.charge.categories.size()));
  for (const CategoryId category : record.charge.categories) out.number(category);
  if (record.charge.event) write_event(out, *record.charge.event);
  return std::move(out).take();
}

std::string encode(const LedgerRecord& record) {
  return std::visit([](const auto& one) { return encode(one); }, record);
}

Result<LedgerRecord> decode_record(std::string_view bytes) {
  ByteReader in(bytes);
  const auto tag = in.number<std::uint8_t>();
  const UtcTime time{std::chrono::seconds{static_cast<std::int64_t>(in.number<std::uint64_t>())}};
  SOTTO_CHECK(validate(time));
  Result<LedgerRecord> record = bad_input("unknown record number {}", tag);
  if (tag == static_cast<std::uint8_t>(RecordTag::settings)) {
    SOTTO_TRY(LedgerSettings settings, read_settings(in));
    record = SettingsRecord{time, std::move(settings)};
  } else if (tag == static_cast<std::uint8_t>(RecordTag::charge)) {
    SOTTO_TRY(Charge charge, read_charge(in));
    record = ChargeRecord{time, std::move(charge)};
  }
  if (record && !in.complete()) return bad_input("the record is too short or too long for what it says");
  return record;
}

}  // namespace sotto
