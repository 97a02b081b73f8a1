#include "privacy/ledger/replay.h"

namespace sotto {
namespace {

Result<LedgerRecord> decode(const journal_format::Journal& journal, std::size_t i) {
  auto record = decode_record(journal.bodies[i]);
  if (record) return record;
  return tl::unexpected(std::move(record).error().in(
      fmt::format("record {} was not written by a version of this program that can be read here", i + 1)));
}

}  // namespace

Result<LedgerBooks> replay(const journal_format::Journal& journal) {
  SOTTO_TRY(const LedgerRecord first, decode(journal, 0));
  SOTTO_TRY(LedgerBooks books, LedgerBooks::begin(first));
  for (std::size_t i = 1; i < journal.bodies.size(); ++i) {
    SOTTO_TRY(const LedgerRecord record, decode(journal, i));
    SOTTO_CHECK(books.apply(record));
  }
  return books;
}

}  // namespace sotto
