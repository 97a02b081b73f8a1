// From a device's clicks to a page: what is asked, what is said when nothing may be asked, what is ranked
// here.

#include <algorithm>
#include <cmath>

#include "device/sdk/device_state.h"
#include "device/wire/query_wire.h"
#include "device/wire/server_calls.h"

namespace sotto::device {

namespace {

RecommendRequest popular_request(const std::string& model, std::uint32_t wanted) {
  RecommendRequest request;
  request.model = model;
  request.query = privacy::PopularQuery{};
  request.count = wanted;
  return request;
}

Talk<Result<RecommendAnswer>> list_for(Exchange& exchange, const RecommendRequest& request) {
  SOTTO_CO_TRY(const ServerAnswer answer, co_await exchange.send(recommend_call(encode(request))));
  if (answer.status != 200) co_return refused("server", answer);
  co_return decode_recommend_answer(answer.body);
}

// A pack without a guide holds the live pool: nothing needs to be asked, blindly or otherwise.
bool holds_pool(const DevicePack& pack) { return pack.blind_guide.empty() && pack.items.size() > 0; }

}  // namespace

std::string_view name(Recommendations::Source source) {
  switch (source) {
    case Recommendations::Source::fresh_query:
      return "fresh query";
    case Recommendations::Source::repeated_query:
      return "repeated query";
    case Recommendations::Source::expired_query:
      return "expired query";
    case Recommendations::Source::blind_query:
      return "blind query";
    case Recommendations::Source::popular:
      return "popular";
    case Recommendations::Source::local:
      return "local";
  }
  return "unknown";
}

Result<std::optional<PaidQuery>> Device::State::ask(const ReadableHistory& readable) {
  if (!mechanism) {
    SOTTO_TRY(mechanism, QueryMechanism::create(settings.query, installed->pack, environment.mechanisms));
  }
  if (!query) {
    const std::chrono::seconds period(std::llround(settings.query.refresh_hours * 3600));
    SOTTO_TRY(auto opened, PrivateQuery::open(path_of(file_names::answers), ledger, settings.query,
                                              phase_of(ledger, period), random));
    query.emplace(std::move(opened));
  }
  return query->ask(*mechanism, readable, now());
}

// A question names a guide that everybody can see.
Talk<Status> Device::State::ensure_guide(Exchange& exchange) {
  SOTTO_CO_CHECK(co_await blind.ensure_guide(exchange));
  SOTTO_CO_TRY(const auto hash, rounds::digest_from_hex(blind.guide_version(), "the guide's version"));
  co_return co_await log.demand(exchange, {rounds::LeafKind::guide, hash});
}

Talk<Result<BlindRanking::Asked>> Device::State::ask_blindly(Exchange& exchange, std::vector<float> user) {
  SOTTO_CO_CHECK(co_await ensure_guide(exchange));
  const std::chrono::seconds period(std::llround(settings.query.refresh_hours * 3600));
  const privacy::RefreshClock clock{period, phase_of(ledger, period)};
  const auto wanted = static_cast<std::size_t>(settings.query.wanted);
  co_return co_await blind.ask(exchange, std::move(user), wanted, ledger, clock, now());
}

Result<std::string> Device::State::why_no_answer() {
  const privacy::Release release = mechanism->release(ledger.settings());
  SOTTO_TRY(const auto refusals, ledger.refusals(release, now()));
  for (const privacy::Refusal& refusal : refusals) {
    if (!refusal.fits_alone)
      return fmt::format(
          "one answer tells more than the whole budget of epsilon {:g} allows: raise the budget, or ask "
          "with "
          "a smaller epsilon than {:g}",
          refusal.state.budget.epsilon, settings.query.epsilon);
  }
  const auto closed = std::find_if(refusals.begin(), refusals.end(), [](const privacy::Refusal& refusal) {
    return refusal.state.closed.has_value();
  });
  if (closed != refusals.end()) {
    return std::string(*closed->state.closed == privacy::ClosingReason::clock_mended
                           ? "the budget counts as spent because the ledger's clock was mended"
                           : "the budget counts as spent because nothing tells what was charged before; on "
                             "first use the host states it");
  }
  return std::string("the budget is spent");
}

PageFilter Device::State::page_filter() const {
  PageFilter filter;
  for (const StoredClick& click : history.clicks()) filter.hidden.insert(click.item);
  for (std::string& item : listed(settings.blocked_items)) filter.hidden.insert(std::move(item));
  for (std::string& category : listed(settings.blocked_categories))
    filter.blocked_categories.insert(std::move(category));
  filter.languages = listed(settings.languages);
  filter.most_per_category = static_cast<std::size_t>(settings.most_per_category);
  return filter;
}

Talk<Status> Device::State::prepare(Exchange& exchange) {
  if (settings.ranking != "blind")
    co_return bad_input("only blind questions need keys: set ranking to blind");
  const auto used = installed;
  if (!used) co_return bad_input("no pack is installed: fetch one first");
  if (holds_pool(used->pack)) co_return {};
  SOTTO_CO_CHECK(co_await ensure_guide(exchange));
  co_return blind.prepare();
}

Talk<Result<Recommendations>> Device::State::recommend(Exchange& exchange, std::size_t count) {
  if (!installed) co_return bad_input("no pack is installed: fetch one first");
  SOTTO_CO_CHECK(forget_old());
  const std::shared_ptr<const Installed> used = installed;
  const ReadableHistory readable = history.readable(used->pack, ledger.settings().sensitivity);
  const std::vector<float> user = user_vector(used->user_model, used->pack, readable);
  const PageFilter filter = page_filter();
  const auto wanted = static_cast<std::uint32_t>(settings.query.wanted);
  Recommendations result;

  std::string ranking = settings.ranking;
  if (ranking == "blind" && holds_pool(used->pack)) ranking = "local";
  if (ranking != "local") {
    if (const Status agreed = may_ask(); !agreed) {
      ranking = "local";
      result.note = agreed.error().message;
    }
  }
  std::optional<RecommendRequest> request;
  if (ranking == "private") {
    const auto paid = ask(readable);
    if (!paid && paid.error().kind == ErrorKind::bad_input) co_return tl::unexpected(paid.error());
    if (!paid) {
      result.note = paid.error().message;  // a full disk, say: there is still the public list
    } else if (*paid) {
      const PaidQuery& answer = **paid;
      result.source = answer.is_new    ? Recommendations::Source::fresh_query
                      : answer.expired ? Recommendations::Source::expired_query
                                       : Recommendations::Source::repeated_query;
      request = request_of(answer.query, wanted);
    } else {
      SOTTO_CO_TRY(result.note, why_no_answer());
    }
  }
  if (ranking == "blind") {
    const auto asked = co_await ask_blindly(exchange, user);
    if (asked) {
      result.source =
          asked->is_new ? Recommendations::Source::blind_query : Recommendations::Source::repeated_query;
      result.items = used->reranker.rank_scored(asked->items, user, filter, count);
      co_return result;
    }
    result.note = asked.error().message;
  }
  // The question that was paid for, then the public list.
  for (int tries = request ? 0 : 1; ranking != "local" && tries < 2; ++tries) {
    if (tries == 1) {
      request = popular_request(used->pack.model, wanted);
      result.source = Recommendations::Source::popular;
    }
    const auto answer = co_await list_for(exchange, *request);
    if (answer) {
      result.items = used->reranker.rank(answer->items, user, filter, count);
      co_return result;
    }
    result.note = answer.error().message;
  }
  result.source = Recommendations::Source::local;
  result.items = used->reranker.rank_pool(user, filter, count);
  co_return result;
}

Conversation<Recommendations> Device::recommend(std::size_t count) {
  return Conversation<Recommendations>(
      [&](Exchange& exchange) { return state_->recommend(exchange, count); });
}
Result<Recommendations> Device::recommend(Transport& transport, std::size_t count) {
  return carry(recommend(count), transport, no_pause);
}

Result<Recommendations> Device::rank_again(std::span<const std::string> items, std::size_t count) {
  State& state = *state_;
  if (!state.installed) return bad_input("no pack is installed: fetch one first");
  SOTTO_CHECK(state.forget_old());
  const Installed& used = *state.installed;
  const ReadableHistory readable = state.history.readable(used.pack, state.ledger.settings().sensitivity);
  const std::vector<float> user = user_vector(used.user_model, used.pack, readable);
  const PageFilter filter = state.page_filter();
  Recommendations result;
  result.items = items.empty() ? used.reranker.rank_pool(user, filter, count)
                               : used.reranker.rank(items, user, filter, count);
  return result;
}

Conversation<void> Device::prepare() {
  return Conversation<void>([&](Exchange& exchange) { return state_->prepare(exchange); });
}
Status Device::prepare(Transport& transport) { return carry(prepare(), transport, no_pause); }

}  // namespace sotto::device
