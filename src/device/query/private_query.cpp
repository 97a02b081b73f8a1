#include "device/query/private_query.h"

#include <cmath>

namespace sotto {

namespace {
// The same for every person, as an answer cache wants it.
constexpr std::string_view kKind = "recommendations";
}  // namespace

Result<PrivateQuery> PrivateQuery::open(const std::filesystem::path& answers, Ledger& ledger,
                                        const QuerySettings& settings, std::chrono::seconds phase,
                                        DeviceRandom random) {
  const std::chrono::seconds period(std::llround(settings.refresh_hours * 3600));
  SOTTO_TRY(auto cache, AnswerCache::open(answers, ledger, {period, phase}));
  return PrivateQuery(ledger, std::move(cache), random);
}

Result<std::optional<PaidQuery>> PrivateQuery::ask(const QueryMechanism& mechanism,
                                                   const ReadableHistory& history, const ClockReading& now) {
  const LedgerSettings settings = ledger_->settings();
  const Release release = mechanism.release(settings);
  if (release.reads && release.reads->empty()) {
    return bad_input(
        "no category is marked as not sensitive, so there are no unprotected clicks to ask with");
  }
  const auto draw = [&](const Receipt& receipt) -> Result<std::string> {
    DrawnQuery query;
    if (receipt.is_free()) {
      SOTTO_TRY(query, mechanism.draw_unprotected(history, settings.sensitivity));
    } else {
      SOTTO_CHECK(receipt.covers(ReleasePurpose::serving, release.event));
      SOTTO_TRY(query, mechanism.draw(history, random_));
    }
    return encode(query);
  };
  auto answer = cache_.get(kKind, release, now, draw);
  if (!answer) {
    SOTTO_TRY(const auto refusals, ledger_->refusals(release, now));
    if (refusals.empty()) return tl::unexpected(std::move(answer).error());
    return std::nullopt;
  }
  SOTTO_TRY(auto query, decode_drawn_query(answer->bytes));
  return PaidQuery{std::move(query), answer->drawn, answer->valid_until, answer->is_new, answer->expired};
}

}  // namespace sotto
