// Any bytes as a ledger, an anchor or a file of answers: an error, or something consistent. Bytes rarely
// chain by themselves, so they are also taken as the bodies of records and chained properly.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/ledger/answer_cache.h"
#include "privacy/ledger/ledger_anchor.h"
#include "privacy/ledger/ledger_statement.h"

using sotto::privacy::ledger_format;

namespace {

// Composed by closed forms and Rényi curves. Loss distributions of absurd parameters take seconds, which is
// slow, not wrong, and not the subject here.
bool is_quick(const sotto::privacy::LedgerRecord& record) {
  const auto* charge = std::get_if<sotto::privacy::ChargeRecord>(&record);
  if (charge == nullptr || !charge->charge.event) return true;
  const sotto::privacy::Mechanism& mechanism = charge->charge.event->mechanism;
  return std::holds_alternative<sotto::privacy::GaussianNoise>(mechanism) ||
         std::holds_alternative<sotto::privacy::SkellamNoise>(mechanism) ||
         std::holds_alternative<sotto::privacy::ConcentratedDp>(mechanism);
}

void read_ledger(std::string_view bytes) {
  auto reader = sotto::LogReader::open(ledger_format, bytes);
  if (!reader) return;
  std::vector<std::string> bodies;
  bool quick = true;
  std::string_view body;
  while (true) {
    const auto more = reader->next(body);
    if (!more) return;
    if (!*more) break;
    const auto record = sotto::privacy::decode_record(body);
    if (!record) return;
    if (sotto::privacy::encode(*record) != body) std::abort();
    quick = quick && is_quick(*record);
    bodies.emplace_back(body);
  }
  if (reader->complete_bytes() + reader->torn_bytes() != bytes.size()) std::abort();
  const auto books = sotto::privacy::LedgerBooks::replay(bodies);
  if (!books || !quick) return;
  const auto statement = sotto::privacy::make_statement(*books, {}, {}, books->latest());
  if (sotto::privacy::to_text(statement).empty() || sotto::privacy::to_json(statement).empty()) std::abort();
}

// Bodies of up to 255 bytes, each after its length.
std::string chained(std::string_view bodies) {
  std::string file;
  auto encoder = sotto::LogEncoder::begin(ledger_format, std::string(ledger_format.opening_bytes, 'i'), file);
  if (!encoder) std::abort();
  while (!bodies.empty()) {
    const auto length = static_cast<unsigned char>(bodies.front());
    bodies.remove_prefix(1);
    static_cast<void>(encoder->add(bodies.substr(0, length), file));
    bodies.remove_prefix(std::min<std::size_t>(length, bodies.size()));
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_ledger(bytes);
  read_ledger(chained(bytes));
  if (const auto anchor = sotto::privacy::decode_anchor(bytes)) {
    if (sotto::privacy::encode(*anchor) != bytes) std::abort();
  }
  if (const auto answers = sotto::privacy::decode_answers(bytes)) {
    if (sotto::privacy::encode(*answers) != bytes) std::abort();
  }
  return 0;
}
