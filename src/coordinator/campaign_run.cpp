#include "coordinator/campaign_run.h"

#include <algorithm>
#include <thread>

#include "base/chain_hash.h"
#include "coordinator/store_keeper.h"

namespace sotto::coordinator {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_again{50};

Digest fresh_name(RandomSource& random) {
  std::array<std::uint64_t, 4> words{};
  random.fill(words);
  Digest name{};
  for (std::size_t i = 0; i < name.size(); ++i)
    name[i] = static_cast<std::uint8_t>(words[i / 8] >> (8 * (i % 8)) & 0xff);
  return name;
}

}  // namespace

CampaignRun::CampaignRun(rounds::OpenedCampaign campaign, std::string document,
                         const rounds::OperatorKeys& keys, Parts parts, const CampaignRunSettings& settings)
    : campaign_(std::move(campaign)),
      document_(std::move(document)),
      keys_(keys),
      parts_(std::move(parts)),
      settings_(settings),
      pace_(std::chrono::seconds(campaign_.campaign.shortest_phase_seconds),
            std::chrono::seconds(campaign_.campaign.longest_phase_seconds)),
      log_(parts_.key.public_key()),
      period_(std::chrono::seconds(campaign_.campaign.max_training_seconds +
                                   campaign_.campaign.shortest_phase_seconds)) {
  progress_.rounds = campaign_.campaign.rounds;
}

Result<rounds::OpenedCampaign> CampaignRun::open(const std::string& document, const rounds::Identity& key,
                                                 UtcTime now) {
  SOTTO_TRY(auto opened, rounds::open_campaign(document));
  SOTTO_CHECK(rounds::terms_of(opened.campaign));
  SOTTO_CHECK(rounds::check_time(opened.campaign, now));
  if (opened.campaign.coordinator != key.public_key())
    return bad_input("the campaign names the coordinator {}, and this key is {}: start with the key it names",
                     to_hex(opened.campaign.coordinator), to_hex(key.public_key()));
  return opened;
}

Result<std::unique_ptr<CampaignRun>> CampaignRun::begin(const std::string& document,
                                                        const rounds::OperatorKeys& keys,
                                                        std::span<const std::string> key_changes, Parts parts,
                                                        const CampaignRunSettings& settings) {
  SOTTO_TRY(auto opened, open(document, parts.key, parts.clock()));
  std::unique_ptr<CampaignRun> run(
      new CampaignRun(std::move(opened), document, keys, std::move(parts), settings));
  SOTTO_CHECK(run->replay_log());
  SOTTO_CHECK(run->enter_key_changes(key_changes));
  SOTTO_CHECK(run->enter_campaign());
  SOTTO_CHECK(run->count_orders());
  SOTTO_CHECK(run->show_stored_version());
  return run;
}

Status CampaignRun::show_stored_version() {
  SOTTO_TRY(const auto current, parts_.store.current_version(campaign_.hash));
  if (!current) return {};
  SOTTO_TRY(const std::string bytes, parts_.store.blob(current->model));
  SOTTO_TRY(const rounds::ModelVersion version, rounds::decode_model(bytes));
  SOTTO_TRY(const std::string items, parts_.store.blob(version.table));
  parts_.show_lasting(version.table, items);
  parts_.show_version(current->model, bytes);
  SOTTO_TRY(const auto evaluations, parts_.store.evaluations(campaign_.hash));
  const std::lock_guard lock(mutex_);
  if (!evaluations.empty()) progress_.evaluation = evaluations.back();
  progress_.rounds_done = current->round;
  progress_.version = to_hex(current->model);
  return {};
}

Status CampaignRun::count_orders() {
  SOTTO_TRY(const OrderCounts counts, parts_.store.count_orders(campaign_.hash));
  const std::lock_guard lock(mutex_);
  progress_.orders = counts;
  return {};
}

Status CampaignRun::begin_folding() {
  {
    // Before the version is read: a roll-back that comes now is one more.
    const std::lock_guard lock(mutex_);
    begin_again_ = false;
  }
  SOTTO_TRY(const auto current, parts_.store.current_version(campaign_.hash));
  std::string checkpoint;
  if (current && current->checkpoint) {
    SOTTO_TRY(checkpoint, parts_.store.blob(*current->checkpoint));
  }
  SOTTO_TRY(model_, parts_.folding.begin(checkpoint));
  if (rounds::layout_hash(model_.layout) != campaign_.campaign.layout)
    return bad_input(
        "the campaign is for numbers laid out as {}, and the trainer has '{}' ({}): sign a campaign for this "
        "recipe and data",
        to_hex(campaign_.campaign.layout), model_.layout, to_hex(rounds::layout_hash(model_.layout)));
  SOTTO_TRY(const std::string items, encode(model_.items));
  SOTTO_TRY(items_, parts_.store.keep_blob(items));
  parts_.show_lasting(items_, items);
  begun_ = current;
  has_round_ = false;
  return pick_up_orders(current);
}

Status CampaignRun::pick_up_orders(const std::optional<ModelVersion>& current) {
  SOTTO_TRY(const auto unfinished, parts_.store.unfinished_orders());
  sealed_.reset();
  for (const StoredOrder& order : unfinished) {
    if (order.campaign != campaign_.hash) continue;
    SOTTO_TRY(const auto opened, rounds::open_order(order.document));
    if (order.state == OrderState::summed && current && opened.order.model == current->model) {
      sealed_ = order;
      info("round {} is folded from the sums that were kept", order.number);
      continue;
    }
    const bool is_of_another = current && opened.order.model != current->model;
    SOTTO_CHECK(parts_.store.abandon_order(
        parts_.fence, order.round,
        is_of_another ? "its version is not the current one" : "the coordinator was started again"));
  }
  return count_orders();
}

void CampaignRun::say(std::string state, std::string problem) {
  const std::lock_guard lock(mutex_);
  progress_.state = std::move(state);
  if (!problem.empty()) progress_.last_problem = std::move(problem);
}

bool CampaignRun::sleep(std::chrono::milliseconds time) const {
  const auto until = steady_clock::now() + time;
  while (!parts_.floor.is_stopped() && steady_clock::now() < until) std::this_thread::sleep_for(look_again);
  return !parts_.floor.is_stopped();
}

bool CampaignRun::rest(std::chrono::milliseconds time) const {
  const auto until = steady_clock::now() + time;
  while (!parts_.floor.is_draining() && steady_clock::now() < until)
    if (!sleep(look_again)) return false;
  return !parts_.floor.is_stopped();
}

bool CampaignRun::was_rolled_back() const {
  const std::lock_guard lock(mutex_);
  return begin_again_;
}

tl::unexpected<Error> CampaignRun::stay_drained() {
  say("drained");
  while (sleep(std::chrono::seconds(1))) {
  }
  return failed("the coordinator stops");
}

Status CampaignRun::set_state(CampaignState state, std::string_view why) {
  SOTTO_CHECK(parts_.store.set_state(campaign_.hash, state, parts_.clock(), why));
  ++revision_;
  return {};
}

Status CampaignRun::finish() {
  SOTTO_CHECK(stored([&] { return set_state(CampaignState::finished, "all rounds are done"); }));
  say("finished");
  return {};
}

Status CampaignRun::run() {
  SOTTO_CHECK(begin_folding());
  while (true) {
    SOTTO_TRY(const FoldedRound folded, parts_.folding.next());
    SOTTO_TRY(const bool is_current, publish(folded));
    if (!is_current) {
      SOTTO_CHECK(begin_folding());
      continue;
    }
    if (!sealed_) measure_version();
    {
      const std::lock_guard lock(mutex_);
      progress_.measures = false;
    }
    if (was_rolled_back()) {
      SOTTO_CHECK(begin_folding());
      continue;
    }
    SOTTO_TRY(const std::uint64_t number, parts_.store.next_round(campaign_.hash));
    const bool orders_are_used_up = !sealed_ && number > campaign_.campaign.rounds;
    if (folded.is_last || orders_are_used_up) return finish();
    if (!sealed_) SOTTO_CHECK(wait_while_paused());
    const auto sums = gather(folded);
    if (was_rolled_back()) {
      SOTTO_CHECK(begin_folding());
      continue;
    }
    if (!sums) return tl::unexpected(sums.error());
    say("folding");
    SOTTO_CHECK(parts_.folding.give(*sums));
  }
}

Result<bool> CampaignRun::publish(const FoldedRound& folded) {
  SOTTO_TRY(const std::string bytes,
            encode(rounds::ModelVersion{model_.layout, folded.numbers, folded.items, items_}));
  const Digest model = rounds::blob_hash(bytes);
  if (const auto begun = std::exchange(begun_, std::nullopt)) {
    if (begun->model != model)
      return bad_input(
          "the trainer has another version than the one that was published after round {}: start the "
          "coordinator "
          "with the data, --seed, --set and --begin-with that its campaign was begun with",
          begun->round);
    current_round_ = begun->round;
  } else {
    SOTTO_CHECK(stored([&] { return parts_.store.keep_blob(bytes); }));
    ModelVersion version{campaign_.hash, 0, model, std::nullopt, std::nullopt, parts_.clock(), bytes.size()};
    if (sealed_) {
      // Not whichever is current now: a roll-back may have come since.
      SOTTO_TRY(const auto opened, rounds::open_order(sealed_->document));
      version.round = sealed_->number;
      version.parent = opened.order.model;
    }
    if (!folded.checkpoint.empty()) {
      SOTTO_TRY(version.checkpoint, stored([&] { return parts_.store.keep_blob(folded.checkpoint); }));
    }
    const std::lock_guard changing(changing_);
    SOTTO_TRY(const auto current, parts_.store.current_version(campaign_.hash));
    if (sealed_ && current && version.parent != current->model) {
      SOTTO_CHECK(discard_sealed());
      return false;
    }
    SOTTO_TRY(const LogAppend entry, log_entry({rounds::LeafKind::model, model}));
    SOTTO_CHECK(stored([&] {
      return parts_.store.publish_version(parts_.fence, version,
                                          sealed_ ? std::optional(sealed_->round) : std::nullopt, entry);
    }));
    ++revision_;
    SOTTO_CHECK(take(entry));
    current_round_ = version.round;
    sealed_.reset();
  }
  has_round_ = false;
  current_model_ = model;
  parts_.show_version(model, bytes);
  const std::lock_guard lock(mutex_);
  const auto& measured = campaign_.campaign.evaluation;
  progress_.measures = measured && current_round_ % measured->every == 0;
  if (!begin_again_) {
    progress_.rounds_done = folded.rounds_done;
    progress_.version = to_hex(model);
  }
  return true;
}

Status CampaignRun::discard_sealed() {
  constexpr std::string_view why = "the version that its sums are about was rolled back";
  SOTTO_CHECK(stored([&] { return parts_.store.abandon_order(parts_.fence, sealed_->round, why); }));
  warn("round {}: {}", sealed_->number, why);
  SOTTO_CHECK(count_orders());
  const std::lock_guard lock(mutex_);
  progress_.last_problem = why;
  if (!recent_.empty() && recent_.back().number == sealed_->number) recent_.back().abandoned = why;
  sealed_.reset();
  return {};
}

Status CampaignRun::roll_back(std::uint64_t version, std::string_view why) {
  {
    const std::lock_guard changing(changing_);
    SOTTO_CHECK(parts_.store.roll_back(campaign_.hash, version, parts_.clock(), why));
    ++revision_;
    SOTTO_CHECK(show_stored_version());
    const std::lock_guard lock(mutex_);
    begin_again_ = true;
  }
  parts_.floor.look();
  return {};
}

Status CampaignRun::wait_while_paused() {
  while (!parts_.floor.is_draining()) {
    SOTTO_TRY(const auto campaigns, parts_.store.campaigns());
    for (const StoredCampaign& stored : campaigns) {
      if (stored.hash != campaign_.hash) continue;
      if (stored.state == CampaignState::open) return {};
      if (stored.state == CampaignState::finished) return failed("the campaign was finished");
    }
    say("paused");
    if (!rest(std::chrono::seconds(1))) return failed("the coordinator stops");
  }
  return {};
}

Status CampaignRun::wait_for_witnesses() {
  const rounds::Campaign& campaign = campaign_.campaign;
  while (rounds::witnesses_of(head(), campaign.witnesses) < campaign.witnesses_needed) {
    say("waiting for witnesses");
    if (parts_.floor.is_draining()) return stay_drained();
    if (!sleep(std::chrono::milliseconds(200))) return failed("the coordinator stops");
  }
  return {};
}

Result<rounds::RoundOrder> CampaignRun::next_order(const FoldedRound& folded) {
  SOTTO_TRY(rounds::RoundOrder order, order_for_now());
  SOTTO_TRY(order.number, parts_.store.next_round(campaign_.hash));
  order.bound = folded.bound;
  return order;
}

Result<rounds::RoundOrder> CampaignRun::order_for_now() {
  const UtcTime now = parts_.clock();
  SOTTO_CHECK(rounds::check_time(campaign_.campaign, now));
  rounds::RoundOrder order;
  order.round = fresh_name(random_);
  order.campaign = campaign_.hash;
  order.model = current_model_;
  order.head = head().head;
  order.expires = std::min(now + settings_.order_time, campaign_.campaign.valid_until);
  return order;
}

rounds::OfferMessage CampaignRun::offer_of(const rounds::RoundOrder& order, std::string document) const {
  const std::lock_guard lock(mutex_);
  const auto entry = [&](rounds::LeafKind kind, const Digest& hash) {
    const std::uint64_t index = *log_.find({kind, hash});
    return rounds::InclusionProof{index, log_.tree().inclusion(index, order.head.size)};
  };
  return {document_, std::move(document), *log_.head(), entry(rounds::LeafKind::campaign, campaign_.hash),
          entry(rounds::LeafKind::model, order.model)};
}

Result<std::vector<GroupSum>> CampaignRun::gather(const FoldedRound& folded) {
  for (std::uint64_t abandoned = 0; !sealed_; ++abandoned) {
    if (was_rolled_back()) return failed("a version was rolled back");
    if (parts_.floor.is_draining()) return stay_drained();
    const Status tried = try_round(folded);
    if (tried) break;
    if (parts_.floor.is_stopped() || tried.error().kind == ErrorKind::bad_input ||
        abandoned + 1 == settings_.most_abandoned)
      return tl::unexpected(tried.error());
    warn("round {}: {}", folded.rounds_done + 1, tried.error().message);
    {
      const std::lock_guard lock(mutex_);
      if (begin_again_) return tl::unexpected(tried.error());
      progress_.last_problem = tried.error().message;
    }
    if (!rest(settings_.retry_time)) return failed("the coordinator stops");
    SOTTO_CHECK(wait_while_paused());
  }
  return parts_.store.sums_of(sealed_->round);
}

Status CampaignRun::try_round(const FoldedRound& folded) {
  SOTTO_CHECK(wait_for_witnesses());
  SOTTO_TRY(const rounds::RoundOrder order, next_order(folded));
  // Before anybody is shown the order: it takes a moment, and whoever comes meanwhile would be sent away.
  SOTTO_TRY(rounds::CampaignTerms terms, rounds::terms_of(campaign_.campaign, order.number));
  SOTTO_TRY(const std::string document, rounds::sign_order(order, campaign_, parts_.key));
  StoredOrder stored{order.round, order.number, campaign_.hash, document, OrderState::open, {}};
  SOTTO_CHECK(this->stored([&] { return parts_.store.open_order(parts_.fence, stored); }));
  StoreKeeper keeper(parts_.store, parts_.fence, stored.round, [this] { return count_orders(); });
  const auto summed = hold(order, document, std::move(terms), keeper);
  if (!summed) return abandon(stored, summed.error());
  SOTTO_CHECK(this->stored([&] { return parts_.store.seal_sums(parts_.fence, stored.round); }));
  stored.state = OrderState::summed;
  sealed_ = std::move(stored);
  return {};
}

tl::unexpected<Error> CampaignRun::abandon(const StoredOrder& order, const Error& why) {
  const Status abandoned =
      stored([&] { return parts_.store.abandon_order(parts_.fence, order.round, why.message); });
  has_round_ = false;
  if (!abandoned) return tl::unexpected(abandoned.error());
  if (const Status counted = count_orders(); !counted) return tl::unexpected(counted.error());
  return tl::unexpected(why);
}

Result<DeskCounts> CampaignRun::hold(const rounds::RoundOrder& order, const std::string& document,
                                     rounds::CampaignTerms terms, RoundKeeper& keeper) {
  SOTTO_TRY(const auto opened, rounds::open_order(document));
  has_round_ = true;
  const auto began = steady_clock::now();
  RoundRecord record{.number = order.number, .began = parts_.clock(), .evaluates = order.evaluates};
  {
    const std::lock_guard lock(mutex_);
    progress_.order_began = record.began;
    progress_.order_evaluates = order.evaluates;
  }
  show(std::make_shared<const OpenOffer>(
      OpenOffer{encode(offer_of(order, document)), order.number, order.expires}));
  const std::uint64_t groups = campaign_.campaign.cohort / campaign_.campaign.encoding.devices;
  auto summed = parts_.floor.run(
      {opened.hash, std::move(terms), groups}, pace_, keeper, random_,
      began + (order.expires - parts_.clock()),
      [this] { return was_rolled_back() ? std::string("a version was rolled back") : std::string(); });
  {
    const std::lock_guard lock(mutex_);
    offer_.reset();
    withdrawn_ = steady_clock::now();
    progress_.order_began.reset();
    progress_.last_round_seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
    if (summed) progress_.last_round = *summed;
    record.seconds = progress_.last_round_seconds;
    record.counts = summed ? *summed : parts_.floor.counts();
    if (!summed) record.abandoned = summed.error().message;
    recent_.push_back(std::move(record));
    if (recent_.size() > most_recent) recent_.pop_front();
  }
  if (const DeskCounts counts = parts_.floor.counts(); counts.groups_implausible > 0)
    warn("round {}: {} groups were thrown away; {}", order.number, counts.groups_implausible,
         counts.last_failure);
  return summed;
}

}  // namespace sotto::coordinator
