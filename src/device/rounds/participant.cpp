#include "device/rounds/participant.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/chain_hash.h"
#include "local/local_trainer.h"
#include "rounds/model_version.h"

namespace sotto::device {

namespace {

using Outcome = Participation::Outcome;
using std::chrono::steady_clock;

constexpr int most_tries = 8;  // of a request that gets no answer
constexpr std::chrono::milliseconds first_pause{50}, longest_pause{5000};
constexpr std::chrono::milliseconds longest_nap{200};  // before somebody may cancel

// One round of one device: what has been fetched and counted so far.
class RoundAttempt {
 public:
  RoundAttempt(RoundTransport& transport, const ParticipantParts& parts)
      : transport_(transport), parts_(parts) {}

  Result<Participation> run() {
    const auto asked = parts_.steady();
    auto done = take_part();
    if (!done || !stays_away_) return done;
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(parts_.steady() - asked);
    if (passed < *stays_away_) done->come_back = *stays_away_ - passed;
    return done;
  }

 private:
  Result<Participation> take_part() {
    SOTTO_TRY(const auto offer, fetch_offer());
    if (!offer) return done_;
    const auto fetched = parts_.steady();
    SOTTO_TRY(auto accepted, check(*offer));
    if (!accepted) return done_;
    // Everybody joins as long after the offer as the campaign lets training last, and has stopped by then.
    const auto joins = fetched + std::chrono::seconds(accepted->campaign.campaign.max_training_seconds);
    SOTTO_TRY(auto update, trained(*accepted, joins));
    wait_until(joins);
    if (parts_.cancelled()) return ended("cancelled before it checked in");
    return join(*std::move(accepted), std::move(update));
  }

  Participation ended(std::string why) {
    done_.outcome = Outcome::ended;
    done_.why = std::move(why);
    return done_;
  }

  // What comes without an answer is asked for again, ever more slowly.
  template <class Ask>
  auto with_patience(const Ask& ask) -> decltype(ask()) {
    std::chrono::milliseconds pause = first_pause;
    for (int tries = 1;; ++tries) {
      auto answer = ask();
      if (answer || answer.error().kind == ErrorKind::bad_input || tries == most_tries || parts_.cancelled())
        return answer;
      parts_.wait(pause);
      pause = std::min(2 * pause, longest_pause);
    }
  }

  void wait_until(steady_clock::time_point time) const {
    for (auto now = parts_.steady(); !parts_.cancelled() && now < time; now = parts_.steady())
      parts_.wait(std::min(std::chrono::ceil<std::chrono::milliseconds>(time - now), longest_nap));
  }

  Result<std::optional<RoundOffer>> fetch_offer() {
    SOTTO_TRY(const auto bytes, with_patience([&] { return transport_.fetch_offer(); }));
    // Of one's own draws: the coordinator says the same to all.
    SecureRandom random;
    if (const auto said = transport_.come_back()) stays_away_ = rounds::draw(*said, random);
    if (!bytes) return std::optional<RoundOffer>();
    done_.bytes_down += bytes->size();
    auto message = rounds::decode_offer(*bytes);
    if (!message) {
      done_.outcome = Outcome::refused;
      done_.refusal = RoundRefusalReason::malformed;
      done_.why = message.error().message;
      return std::optional<RoundOffer>();
    }
    RoundOffer offer{std::move(message->campaign), std::move(message->order), message->head, {},
                     message->campaign_entry,      message->model_entry};
    SOTTO_TRY(seen_, read_log());
    // The order is of one state of the log: entries that came since are not for it.
    while (seen_.size() + offer.new_entries.size() < offer.head.head.size) {
      const std::uint64_t from = seen_.size() + offer.new_entries.size();
      SOTTO_TRY(const std::string page_bytes, with_patience([&] { return transport_.fetch_log(from); }));
      done_.bytes_down += page_bytes.size();
      SOTTO_TRY(const auto page, rounds::decode_log_page(page_bytes));
      if (page.first != from || page.entries.empty()) break;  // the checks say what is missing
      for (const rounds::LogLeaf& leaf : page.entries)
        if (seen_.size() + offer.new_entries.size() < offer.head.head.size) offer.new_entries.push_back(leaf);
    }
    return std::optional(std::move(offer));
  }

  Result<rounds::LogFrontier> read_log() const {
    std::error_code missing;
    if (!fs::exists(parts_.log_file, missing)) return rounds::LogFrontier();
    SOTTO_TRY(const std::string bytes, read_file(parts_.log_file, 1 << 16));
    return rounds::LogFrontier::decode(bytes);
  }

  Result<std::optional<AcceptedRound>> check(const RoundOffer& offer) {
    SOTTO_TRY(const auto now, parts_.ledger.time_at(parts_.clock()));
    RoundKnowledge knows{
        .operator_key = parts_.operator_key,
        .policy = parts_.policy,
        .trainable = {},
        .now = now,
        .log = seen_,
        .charged = [&](const rounds::Digest& campaign) { return parts_.ledger.rounds_of(campaign); }};
    SOTTO_CHECK(find_trainer(offer, knows));
    auto checked = check_round_offer(offer, knows);
    if (!checked) {
      done_.outcome = Outcome::refused;
      done_.refusal = checked.error().reason;
      done_.why = std::move(checked.error().message);
      return std::optional<AcceptedRound>();
    }
    done_.round = checked->order.order.round;
    done_.number = checked->order.order.number;
    SOTTO_CHECK(write_file_atomically(parts_.log_file, checked->log.encode(), FileReaders::owner));
    return std::optional(*std::move(checked));
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

  Result<std::string> fetch_blob(const rounds::Digest& hash) {
    SOTTO_TRY(std::string bytes, with_patience([&] { return transport_.fetch_blob(hash); }));
    done_.bytes_down += bytes.size();
    if (rounds::blob_hash(bytes) != hash)
      return bad_input("the coordinator sent other bytes than {} names", to_hex(hash));
    return bytes;
  }

  Result<std::string> items_of(const rounds::Digest& hash) {
    if (auto kept = read_file(parts_.items_file, rounds::BlobLimits::bytes);
        kept && rounds::blob_hash(*kept) == hash)
      return *std::move(kept);
    SOTTO_TRY(std::string bytes, fetch_blob(hash));
    SOTTO_CHECK(write_file_atomically(parts_.items_file, bytes, FileReaders::owner));
    return bytes;
  }

  // The device's impressions by the rows of the table. What the table does not have was never public, or is
  // so no more, and is left out.
  local::OwnEvents events_of(const rounds::ItemTable& items) {
    std::unordered_map<std::string_view, local::ItemRow> rows;
    for (std::size_t i = 0; i < items.size(); ++i) rows.emplace(items.ids[i], static_cast<local::ItemRow>(i));
    kept_.clear();
    for (const StoredImpression& one : parts_.impressions) {
      Kept kept;
      for (const std::string& id : one.history)
        if (const auto row = rows.find(id); row != rows.end()) kept.history.push_back(row->second);
      for (std::size_t i = 0; i < one.shown.size(); ++i) {
        const auto row = rows.find(one.shown[i]);
        if (row == rows.end()) continue;
        kept.shown.push_back(row->second);
        kept.clicked.push_back(one.clicked[i]);
      }
      kept_.push_back(std::move(kept));
    }
    local::OwnEvents events;
    for (const Kept& kept : kept_) events.impressions.push_back({kept.history, kept.shown, kept.clicked});
    return events;
  }

  Result<std::vector<float>> trained(const AcceptedRound& accepted, steady_clock::time_point until) {
    SOTTO_TRY(const std::string model_bytes, fetch_blob(accepted.order.order.model));
    SOTTO_TRY(const auto version, rounds::decode_model(model_bytes));
    if (version.layout != trainer_->layout().text())
      return bad_input("the model is laid out as '{}', and the campaign's is '{}'", version.layout,
                       trainer_->layout().text());
    SOTTO_TRY(const std::string item_bytes, items_of(version.items));
    SOTTO_TRY(const auto items, rounds::decode_items(item_bytes));
    const local::RoundInputs inputs{
        version.numbers,
        Eigen::Map<const local::Rows>(items.vectors.data(), static_cast<Eigen::Index>(items.size()),
                                      static_cast<Eigen::Index>(items.dimension))};
    const local::OwnEvents own = events_of(items);
    auto update = trainer_->train(inputs, own, parts_.draws.examples(accepted.order.order.number),
                                  [&] { return parts_.cancelled() || parts_.steady() > until; });
    const std::size_t dimension = trainer_->dimension(items.size());
    // Whoever could not finish in time must not be told from whoever had nothing to learn.
    if (!update && update.error().kind == ErrorKind::failed) return std::vector<float>(dimension, 0.0F);
    if (!update) return tl::unexpected(update.error());
    done_.loss = update->loss;
    done_.samples = update->samples;
    return std::move(update->direction);
  }

  Status check_members(const std::vector<secagg::IdentityKey>& members) const {
    const std::set<secagg::IdentityKey> distinct(members.begin(), members.end());
    if (distinct.size() != members.size()) return bad_input("a device stands twice in the group");
    if (!distinct.contains(parts_.identity.public_key()))
      return bad_input("this device is not in the group that it was invited to");
    return {};
  }

  Result<RoundTransport::Reply> post(const std::string& path, std::string_view body) {
    const auto signature = parts_.identity.sign(rounds::request_statement("POST", path, body));
    SOTTO_TRY(auto reply, with_patience([&] {
                return transport_.post(path, body, parts_.identity.public_key(), signature);
              }));
    done_.bytes_up += body.size();
    done_.bytes_down += reply.body.size();
    return reply;
  }

  Result<Participation> join(AcceptedRound accepted, std::vector<float> update) {
    const rounds::Digest order = accepted.order.hash;
    const rounds::UtcTime expires = accepted.order.order.expires;
    const std::uint64_t number = accepted.order.order.number;
    RoundSession session(std::move(accepted), std::move(update),
                         {parts_.identity, parts_.ledger, parts_.clock,
                          [this](const auto& members) { return check_members(members); }, parts_.draws.keys(),
                          parts_.draws.noise(number)});
    while (true) {
      const SessionStep step = session.next();
      if (const auto* over = std::get_if<SessionDone>(&step)) {
        done_.was_charged = session.was_charged();
        done_.outcome = over->why.empty() ? Outcome::took_part : Outcome::ended;
        done_.why = over->why;
        return done_;
      }
      SOTTO_TRY(const auto now, parts_.ledger.time_at(parts_.clock()));
      if (parts_.cancelled() || now >= expires) {
        session.end(now >= expires ? "the order expired" : "cancelled");
        continue;
      }
      if (std::holds_alternative<SessionWait>(step)) {
        parts_.wait(first_pause);
        continue;
      }
      send(session, std::get<SessionCall>(step), order);
    }
  }

  void send(RoundSession& session, const SessionCall& call, const rounds::Digest& order) {
    const bool checks_in = call.stage == SessionStage::check_in;
    const std::string path =
        checks_in ? "/v1/checkin" : fmt::format("/v1/rounds/{}/{}", to_hex(room_), name(call.stage));
    const std::string body = checks_in ? encode(rounds::CheckIn{order}) : std::string(as_text(call.body));
    const auto reply = post(path, body);
    if (!reply) return session.end(reply.error().message);
    if (reply->kind == RoundTransport::Reply::Kind::refused) return session.end(reply->body);
    if (reply->kind == RoundTransport::Reply::Kind::wait) {
      static_cast<void>(session.received(call.stage, std::nullopt));
      return;
    }
    std::string message = reply->body;
    if (checks_in) {
      auto place = rounds::decode_group_place(message);
      if (!place) return session.end(place.error().message);
      room_ = place->room;
      message = std::move(place->invitation);
    }
    // What is wrong with it ends the session, and its next step says so.
    static_cast<void>(session.received(call.stage, rounds::as_bytes(message)));
  }

  struct Kept {
    std::vector<local::ItemRow> history, shown;
    std::vector<std::uint8_t> clicked;
  };

  RoundTransport& transport_;
  const ParticipantParts& parts_;
  Participation done_;
  rounds::LogFrontier seen_;
  std::unique_ptr<local::LocalTrainer> trainer_;
  std::vector<Kept> kept_;
  rounds::Digest room_{};
  std::optional<std::chrono::milliseconds> stays_away_;
};

}  // namespace

std::string_view name(Participation::Outcome outcome) {
  switch (outcome) {
    case Outcome::no_round:
      return "no round";
    case Outcome::refused:
      return "refused";
    case Outcome::ended:
      return "ended";
    case Outcome::took_part:
      break;
  }
  return "took part";
}

Result<Participation> take_part(RoundTransport& transport, const ParticipantParts& parts) {
  return RoundAttempt(transport, parts).run();
}

}  // namespace sotto::device
