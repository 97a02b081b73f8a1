#include "device/rounds/participant.h"

#include <algorithm>
#include <set>

#include "base/chain_hash.h"
#include "device/rounds/round_calls.h"
#include "device/rounds/round_inputs.h"
#include "device/wire/server_calls.h"
#include "local/page_evaluation.h"
#include "rounds/come_back.h"

namespace sotto::device {

namespace {

using Outcome = Participation::Outcome;
using std::chrono::steady_clock;

constexpr int most_tries = 8;  // of a request that gets no answer
constexpr std::chrono::milliseconds first_pause{50}, longest_pause{5000};
constexpr std::chrono::milliseconds longest_nap{200};  // before somebody may cancel
// Of the log, in one round: nobody has checked yet who says how long it is. A log grows by a few a day.
constexpr std::size_t most_new_entries = 1'000'000;
constexpr std::size_t most_key_change_bytes = 4096;  // a document of rounds::key_change_kind is smaller

// One round of one device: what has been fetched and counted so far.
class RoundAttempt {
 public:
  RoundAttempt(Exchange& exchange, const ParticipantParts& parts) : exchange_(exchange), parts_(parts) {}

  Talk<Result<Participation>> run() {
    const auto asked = parts_.steady();
    auto done = co_await take_part();
    if (!done || !stays_away_) co_return done;
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(parts_.steady() - asked);
    if (passed < *stays_away_) done->come_back = *stays_away_ - passed;
    co_return done;
  }

 private:
  Talk<Result<Participation>> take_part() {
    SOTTO_CO_TRY(const auto offer, co_await fetch_offer());
    if (!offer) co_return done_;
    // What comes after a withdrawal is not looked at: looking at it keeps what it says.
    if (parts_.cancelled()) co_return ended("cancelled before it looked at the order");
    const auto fetched = parts_.steady();
    SOTTO_CO_TRY(auto accepted, check(*offer));
    if (!accepted) co_return done_;
    // Everybody joins as long after the offer as the campaign lets training last, and has stopped a little
    // before: the step that is under way when time is up still takes its time.
    const steady_clock::duration training =
        std::chrono::seconds(accepted->campaign.campaign.max_training_seconds);
    const auto stops = fetched + training - training / 8;
    SOTTO_CO_TRY(const auto model, co_await fetch_model(*accepted));
    if (!model) co_return done_;
    auto update = accepted->order.order.evaluates ? measured(*accepted, *model, stops)
                                                  : trained(*accepted, *model, stops);
    if (!update) co_return done_;
    // Whoever is late nevertheless waits as long once more: by how much it was late is nobody's business.
    auto joins = fetched + training;
    while (joins < parts_.steady()) joins += training;
    while (!parts_.cancelled()) {
      const auto now = parts_.steady();
      if (now >= joins) break;
      co_await exchange_.pause(
          std::min(std::chrono::ceil<std::chrono::milliseconds>(joins - now), longest_nap));
    }
    if (parts_.cancelled()) co_return ended("cancelled before it checked in");
    co_return co_await join(*std::move(accepted), *std::move(update));
  }

  Participation ended(std::string why) {
    done_.outcome = Outcome::ended;
    done_.why = std::move(why);
    return done_;
  }

  // What comes without an answer, or from a server that is not well, is asked for again, ever more slowly.
  // The call is a copy, because a coroutine outlives what it was called with.
  // cppcheck-suppress passedByValue
  Talk<Result<ServerAnswer>> ask(ServerCall call) {
    std::chrono::milliseconds pause = first_pause;
    for (int tries = 1;; ++tries) {
      Result<ServerAnswer> answer = co_await exchange_.send(call);
      if (answer && !is_unwell(answer->status)) {
        done_.bytes_down += answer->body.size();
        co_return answer;
      }
      if (tries == most_tries || parts_.cancelled()) {
        if (answer) co_return refused("coordinator", *answer);
        co_return answer;
      }
      co_await exchange_.pause(pause);
      pause = std::min(2 * pause, longest_pause);
    }
  }
  static bool is_unwell(int status) { return status >= 500 || status == 429; }

  Talk<Result<std::string>> fetch(ServerCall call) {
    SOTTO_CO_TRY(ServerAnswer answer, co_await ask(std::move(call)));
    if (answer.status != 200) co_return refused("coordinator", answer);
    co_return std::move(answer.body);
  }

  Talk<Result<std::optional<RoundOffer>>> fetch_offer() {
    SOTTO_CO_TRY(const ServerAnswer answer, co_await ask(offer_call()));
    // Of one's own draws: the coordinator says the same to all.
    SecureRandom random;
    if (const auto said = rounds::parse_come_back(answer.come_back))
      stays_away_ = rounds::draw(*said, random);
    if (answer.status == 404) co_return std::optional<RoundOffer>();
    if (answer.status != 200) co_return refused("coordinator", answer);
    auto message = rounds::decode_offer(answer.body);
    if (!message) {
      done_.outcome = Outcome::refused;
      done_.refusal = RoundRefusalReason::malformed;
      done_.why = message.error().message;
      co_return std::optional<RoundOffer>();
    }
    RoundOffer offer{std::move(message->campaign), std::move(message->order), message->head, {}, {},
                     message->campaign_entry,      message->model_entry};
    SOTTO_CO_TRY(seen_, read_log());
    // The order is of one state of the log: entries that came since are not for it.
    while (seen_.size() + offer.new_entries.size() < offer.head.head.size &&
           offer.new_entries.size() < most_new_entries) {
      const std::uint64_t from = seen_.size() + offer.new_entries.size();
      SOTTO_CO_TRY(const std::string bytes, co_await fetch(log_call(from)));
      SOTTO_CO_TRY(const auto page, rounds::decode_log_page(bytes));
      if (page.first != from || page.entries.empty()) break;  // the checks say what is missing
      for (const rounds::LogLeaf& leaf : page.entries)
        if (seen_.size() + offer.new_entries.size() < offer.head.head.size) offer.new_entries.push_back(leaf);
    }
    for (const rounds::LogLeaf& leaf : offer.new_entries) {
      if (leaf.kind != rounds::LeafKind::keys) continue;
      if (offer.key_changes.size() == rounds::OperatorKeys::most_former) break;  // the checks miss the rest
      SOTTO_CO_TRY(std::string change, co_await fetch_blob(leaf.hash));
      if (change.size() > most_key_change_bytes) break;
      offer.key_changes.push_back(std::move(change));
    }
    co_return std::optional(std::move(offer));
  }

  Result<rounds::LogFrontier> read_log() const {
    std::error_code missing;
    if (!fs::exists(parts_.log_file, missing)) return rounds::LogFrontier();
    SOTTO_TRY(const std::string bytes, read_file(parts_.log_file, 1 << 16));
    return rounds::LogFrontier::decode(bytes);
  }

  Result<std::optional<AcceptedRound>> check(const RoundOffer& offer) {
    SOTTO_TRY(const auto now, parts_.ledger.time_at(parts_.clock()));
    RoundKnowledge knows{.keys = *parts_.keys,
                         .purpose = parts_.purpose,
                         .policy = parts_.policy,
                         .trainable = {},
                         .now = now,
                         .log = seen_,
                         .charged = [&](const rounds::Digest& campaign, privacy::ReleasePurpose purpose) {
                           return parts_.ledger.rounds_of(campaign, purpose);
                         }};
    if (const auto order = rounds::open_order(offer.order)) done_.evaluates = order->order.evaluates;
    SOTTO_CHECK(find_trainer(offer, knows));
    auto checked = check_round_offer(offer, knows);
    if (!checked) {
      done_.outcome = Outcome::refused;
      done_.refusal = checked.error().reason;
      done_.why = std::move(checked.error().message);
      SOTTO_CHECK(keep_revocations(offer, knows));
      return std::optional<AcceptedRound>();
    }
    done_.round = checked->order.order.round;
    done_.number = checked->order.order.number;
    const rounds::Campaign& campaign = checked->campaign.campaign;
    done_.checked =
        Participation::Checked{checked->campaign.hash,
                               checked->order.order.model,
                               offer.head.head.root,
                               offer.head.head.size,
                               offer.campaign_entry.index,
                               rounds::witnesses_of(offer.head, campaign.witnesses),
                               std::max<std::uint64_t>(campaign.witnesses_needed, parts_.policy.witnesses)};
    SOTTO_CHECK(keep_keys(checked->keys));
    SOTTO_CHECK(write_file_atomically(parts_.log_file, checked->log.encode(), FileReaders::owner));
    return std::optional(*std::move(checked));
  }

  Status keep_keys(const rounds::OperatorKeys& keys) const {
    if (keys.encode() == parts_.keys->encode()) return {};
    SOTTO_CHECK(write_file_atomically(parts_.keys_file, keys.encode(), FileReaders::owner));
    *parts_.keys = keys;
    return {};
  }

  // A revocation proves itself, whatever else is wrong with an offer: it is not forgotten with it.
  Status keep_revocations(const RoundOffer& offer, const RoundKnowledge& knows) const {
    RoundOffer revoking = offer;
    revoking.new_entries.clear();
    revoking.key_changes.clear();
    for (const std::string& document : offer.key_changes) {
      const auto change = rounds::open_key_change(document);
      if (!change || !change->change.revokes) continue;
      revoking.new_entries.push_back({rounds::LeafKind::keys, rounds::blob_hash(document)});
      revoking.key_changes.push_back(document);
    }
    const auto keys = followed_keys(revoking, knows);
    return keys ? keep_keys(*keys) : Status{};
  }

  // What this device can train of what the campaign names; nothing where it cannot, which the checks refuse.
  Status find_trainer(const RoundOffer& offer, RoundKnowledge& knows) {
    const auto campaign = rounds::open_campaign(offer.campaign);
    if (!campaign) return {};
    std::vector<std::pair<std::string, std::string>> settings;
    for (const rounds::LocalSetting& setting : campaign->campaign.local)
      settings.emplace_back(setting.name, setting.value);
    auto trainer = local::find_trainer(campaign->campaign.recipe, settings);
    if (!trainer) return {};
    trainer_ = std::move(*trainer);
    knows.trainable = {{campaign->campaign.recipe, rounds::layout_hash(trainer_->layout().text())}};
    return {};
  }

  Talk<Result<std::string>> fetch_blob(rounds::Digest hash) {
    SOTTO_CO_TRY(std::string bytes, co_await fetch(blob_call(hash)));
    if (rounds::blob_hash(bytes) != hash)
      co_return bad_input("the coordinator sent other bytes than {} names", to_hex(hash));
    co_return bytes;
  }

  Talk<Result<std::string>> items_of(rounds::Digest hash) {
    if (auto kept = read_file(parts_.items_file, rounds::BlobLimits::bytes);
        kept && rounds::blob_hash(*kept) == hash)
      co_return *std::move(kept);
    SOTTO_CO_TRY(std::string bytes, co_await fetch_blob(hash));
    SOTTO_CO_CHECK(write_file_atomically(parts_.items_file, bytes, FileReaders::owner));
    co_return bytes;
  }

  // None: what came is not what the campaign describes, which is refused.
  Talk<Result<std::unique_ptr<const FetchedModel>>> fetch_model(const AcceptedRound& accepted) {
    const std::uint64_t number = accepted.order.order.number;
    SOTTO_CO_TRY(const std::string bytes, co_await fetch_blob(accepted.order.order.model));
    SOTTO_CO_TRY(const auto version, rounds::decode_model(bytes));
    SOTTO_CO_TRY(const std::string items, co_await items_of(version.table));
    SOTTO_CO_TRY(auto table, rounds::decode_items(items));
    const bool evaluates = accepted.order.order.evaluates;
    const std::size_t sent = trainer_->dimension(table.size(), number),
                      asked = accepted.terms.plan.settings().dimension;
    auto model =
        FetchedModel::create(version, std::move(table), *trainer_, std::max<std::uint64_t>(number, 1));
    if (model && (sent == asked || evaluates)) co_return std::move(*model);
    refuse(!model ? std::move(model).error().message
                  : fmt::format("'{}' sends {} numbers in round {}, and the campaign sums {}",
                                accepted.campaign.campaign.recipe, sent, number, asked));
    co_return std::unique_ptr<const FetchedModel>();
  }

  // None: it cannot be trained on, which is refused.
  std::optional<std::vector<float>> trained(const AcceptedRound& accepted, const FetchedModel& model,
                                            steady_clock::time_point until) {
    const std::uint64_t number = accepted.order.order.number;
    const EventsOfReader own(model, trainer_->reads(), parts_.impressions, parts_.rows);
    const auto& evaluation = accepted.campaign.campaign.evaluation;
    const local::OwnEvents trained_on =
        local::without_held_out(own.events(), evaluation ? evaluation->held_out : 0);
    auto update = trainer_->train(model.inputs(), trained_on, parts_.draws.examples(number),
                                  [&] { return parts_.cancelled() || parts_.steady() > until; });
    if (!update) return nothing_or_refusal(accepted, update.error());
    done_.loss = update->loss;
    done_.samples = update->samples;
    return std::move(update->direction);
  }

  std::optional<std::vector<float>> measured(const AcceptedRound& accepted, const FetchedModel& model,
                                             steady_clock::time_point until) {
    const rounds::EvaluationSum& evaluation = *accepted.campaign.campaign.evaluation;
    const EventsOfReader own(model, trainer_->reads(), parts_.impressions, parts_.rows);
    const auto numbers = local::evaluate_pages(
        *trainer_, model.inputs(), own.events(), {evaluation.held_out, evaluation.pages},
        parts_.draws.examples(evaluation_draws(accepted.order.order.number)),
        [&] { return parts_.cancelled() || parts_.steady() > until; });
    if (!numbers) return nothing_or_refusal(accepted, numbers.error());
    return std::vector<float>(numbers->begin(), numbers->end());
  }

  // Whoever could not finish in time must not be told from whoever had nothing to tell.
  std::optional<std::vector<float>> nothing_or_refusal(const AcceptedRound& accepted, const Error& error) {
    if (error.kind == ErrorKind::failed)
      return std::vector<float>(accepted.terms.plan.settings().dimension, 0.0F);
    refuse(error.message);
    return std::nullopt;
  }

  void refuse(std::string why) {
    done_.outcome = Outcome::refused;
    done_.refusal = RoundRefusalReason::unknown_recipe;
    done_.why = std::move(why);
  }

  Status check_members(const std::vector<secagg::IdentityKey>& members) const {
    const std::set<secagg::IdentityKey> distinct(members.begin(), members.end());
    if (distinct.size() != members.size()) return bad_input("a device stands twice in the group");
    if (!distinct.contains(parts_.identity->public_key()))
      return bad_input("this device is not in the group that it was invited to");
    return {};
  }

  Talk<Result<Participation>> join(AcceptedRound accepted, std::vector<float> update) {
    const rounds::Digest order = accepted.order.hash;
    const rounds::UtcTime expires = accepted.order.order.expires;
    const rounds::RoundOrder& asked = accepted.order.order;
    const std::uint64_t number = asked.evaluates ? evaluation_draws(asked.number) : asked.number;
    RoundSession session(std::move(accepted), std::move(update),
                         {*parts_.identity, parts_.ledger, parts_.clock,
                          [this](const auto& members) { return check_members(members); }, parts_.draws.keys(),
                          parts_.draws.noise(number)});
    while (true) {
      const SessionStep step = session.next();
      if (const auto* over = std::get_if<SessionDone>(&step)) {
        done_.was_charged = session.was_charged();
        done_.outcome = over->why.empty() ? Outcome::took_part : Outcome::ended;
        done_.why = over->why;
        co_return done_;
      }
      SOTTO_CO_TRY(const auto now, parts_.ledger.time_at(parts_.clock()));
      if (parts_.cancelled() || now >= expires) {
        session.end(now >= expires ? "the order expired" : "cancelled");
        continue;
      }
      if (std::holds_alternative<SessionWait>(step)) {
        co_await exchange_.pause(first_pause);
        continue;
      }
      const auto& call = std::get<SessionCall>(step);
      ServerCall request = request_of(call, order);
      const std::size_t sent = request.body.size();
      const Result<ServerAnswer> answer = co_await ask(std::move(request));
      if (answer) done_.bytes_up += sent;
      hear(session, call.stage, answer);
    }
  }

  ServerCall request_of(const SessionCall& call, const rounds::Digest& order) const {
    if (call.stage == SessionStage::check_in)
      return signed_call("/v1/checkin", encode(rounds::CheckIn{order}), *parts_.identity);
    return signed_call(fmt::format("/v1/rounds/{}/{}", to_hex(room_), name(call.stage)),
                       std::string(as_text(call.body)), *parts_.identity);
  }

  void hear(RoundSession& session, SessionStage stage, const Result<ServerAnswer>& answer) {
    if (!answer) return session.end(answer.error().message);
    if (answer->status == 202) {
      static_cast<void>(session.received(stage, std::nullopt));
      return;
    }
    if (answer->status != 200) return session.end(error_text(*answer));
    std::string message = answer->body;
    if (stage == SessionStage::check_in) {
      auto place = rounds::decode_group_place(message);
      if (!place) return session.end(place.error().message);
      room_ = place->room;
      message = std::move(place->invitation);
    }
    // What is wrong with it ends the session, and its next step says so.
    static_cast<void>(session.received(stage, rounds::as_bytes(message)));
  }

  Exchange& exchange_;
  const ParticipantParts& parts_;
  Participation done_;
  rounds::LogFrontier seen_;
  std::unique_ptr<local::LocalTrainer> trainer_;
  rounds::Digest room_{};
  std::optional<std::chrono::milliseconds> stays_away_;
};

}  // namespace

std::string_view name(Participation::Outcome outcome) {
  switch (outcome) {
    case Outcome::no_round:
      return "no round";
    case Outcome::not_now:
      return "not now";
    case Outcome::refused:
      return "refused";
    case Outcome::ended:
      return "ended";
    case Outcome::took_part:
      break;
  }
  return "took part";
}

Talk<Result<Participation>> take_part(Exchange& exchange, ParticipantParts parts) {
  RoundAttempt attempt(exchange, parts);
  co_return co_await attempt.run();
}

}  // namespace sotto::device
