#include "coordinator/campaign_run.h"

#include <thread>

#include "base/chain_hash.h"
#include "base/log.h"

namespace sotto::coordinator {

namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t records_at_once = 1000;
constexpr std::chrono::milliseconds look_again{50};
// For devices that ask when there is nothing to do.
constexpr std::chrono::milliseconds in_a_pause = std::chrono::minutes(1),
                                    after_the_end = std::chrono::hours(1);

// What happens on the floor, made durable under the round's name.
class StoreKeeper final : public RoundKeeper {
 public:
  StoreKeeper(Store& store, const Fence& fence, const Digest& round)
      : store_(store), fence_(fence), round_(round) {}
  Status begin_unmasking() override { return store_.begin_unmasking(fence_, round_); }
  Status keep_sum(const GroupSum& sum) override { return store_.keep_sum(fence_, round_, sum); }

 private:
  Store& store_;
  const Fence& fence_;
  const Digest& round_;
};

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

Result<std::unique_ptr<CampaignRun>> CampaignRun::begin(const std::string& document,
                                                        const rounds::OperatorKeys& keys,
                                                        std::span<const std::string> key_changes, Parts parts,
                                                        const CampaignRunSettings& settings) {
  SOTTO_TRY(auto opened, rounds::open_campaign(document));
  SOTTO_CHECK(rounds::terms_of(opened.campaign));
  SOTTO_CHECK(rounds::check_time(opened.campaign, parts.clock()));
  if (opened.campaign.coordinator != parts.key.public_key())
    return bad_input("the campaign names the coordinator {}, and this key is {}: start with the key it names",
                     to_hex(opened.campaign.coordinator), to_hex(parts.key.public_key()));
  std::unique_ptr<CampaignRun> run(
      new CampaignRun(std::move(opened), document, keys, std::move(parts), settings));
  SOTTO_CHECK(run->replay_log());
  SOTTO_CHECK(run->enter_key_changes(key_changes));
  SOTTO_CHECK(run->enter_campaign());
  SOTTO_CHECK(run->show_stored_version());
  return run;
}

Status CampaignRun::replay_log() {
  while (true) {
    SOTTO_TRY(const auto records, parts_.store.log_records(log_records_, records_at_once));
    if (records.empty()) break;
    for (const std::string& record : records) SOTTO_CHECK(log_.take(record));
    log_records_ += records.size();
  }
  if (!log_.is_complete()) return failed("the log of {} ends before its head", parts_.store.location());
  return {};
}

Result<LogAppend> CampaignRun::log_entry(const rounds::LogLeaf& leaf) const {
  const std::lock_guard lock(mutex_);
  LogAppend append{log_records_, {}};
  if (log_.find(leaf)) return append;
  UtcTime now = parts_.clock();
  if (log_.head()) now = std::max(now, log_.head()->head.time);  // a clock that was set back
  SOTTO_TRY(append.records, log_.records_for(leaf, parts_.key, now));
  return append;
}

Status CampaignRun::take(const LogAppend& appended) {
  const std::lock_guard lock(mutex_);
  for (const std::string& record : appended.records) SOTTO_CHECK(log_.take(record));
  log_records_ += appended.records.size();
  return {};
}

Status CampaignRun::enter_key_changes(std::span<const std::string> documents) {
  const std::lock_guard appending(appending_);
  const std::vector<rounds::LogLeaf> leaves = log_.leaves();
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].kind != rounds::LeafKind::keys) continue;
    SOTTO_TRY(const std::string document, parts_.store.blob(leaves[i].hash));
    SOTTO_TRY(const auto change, rounds::open_key_change(document));
    // Whoever was shipped with a later key than the first passes over changes before it, as devices do.
    static_cast<void>(keys_.follow(change, i));
    parts_.show_lasting(leaves[i].hash, document);
  }
  for (const std::string& document : documents) {
    const rounds::LogLeaf leaf{rounds::LeafKind::keys, rounds::blob_hash(document)};
    if (log_.find(leaf)) continue;
    SOTTO_TRY(const auto change, rounds::open_key_change(document));
    if (!keys_.follow(change, log_.leaves().size()))
      return bad_input(
          "the change to the key {} is not signed by the operator {}, nor by its recovery key: no device "
          "would "
          "follow it",
          to_hex(change.change.after), to_hex(keys_.current()));
    SOTTO_CHECK(parts_.store.keep_blob(document));
    SOTTO_TRY(const LogAppend entry, log_entry(leaf));
    SOTTO_CHECK(parts_.store.append_to_log(parts_.fence, entry));
    SOTTO_CHECK(take(entry));
    parts_.show_lasting(leaf.hash, document);
  }
  return {};
}

Status CampaignRun::enter_campaign() {
  const std::lock_guard appending(appending_);
  const rounds::LogLeaf leaf{rounds::LeafKind::campaign, campaign_.hash};
  SOTTO_CHECK(keys_.check(campaign_, log_.find(leaf).value_or(log_.leaves().size())));
  SOTTO_TRY(const LogAppend entry, log_entry(leaf));
  SOTTO_TRY(const bool is_new,
            parts_.store.add_campaign(
                parts_.fence, {campaign_.hash, document_, CampaignState::open, parts_.clock()}, entry));
  return is_new ? take(entry) : Status{};
}

Status CampaignRun::show_stored_version() {
  SOTTO_TRY(const auto current, parts_.store.current_version(campaign_.hash));
  if (!current) return {};
  SOTTO_TRY(const std::string bytes, parts_.store.blob(current->model));
  SOTTO_TRY(const rounds::ModelVersion version, rounds::decode_model(bytes));
  SOTTO_TRY(const std::string items, parts_.store.blob(version.table));
  parts_.show_lasting(version.table, items);
  parts_.show_version(current->model, bytes);
  const std::lock_guard lock(mutex_);
  progress_.rounds_done = current->round;
  progress_.version = to_hex(current->model);
  return {};
}

Status CampaignRun::begin_folding() {
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
  just_begun_ = true;
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
    SOTTO_CHECK(parts_.store.abandon_order(parts_.fence, order.round, "the coordinator was started again"));
  }
  return {};
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

template <class Write>
auto CampaignRun::stored(const Write& write) -> decltype(write()) {
  for (bool is_first = true;; is_first = false) {
    auto done = write();
    if (done || done.error().kind != ErrorKind::failed || parts_.floor.is_stopped()) return done;
    if (is_first) warn("{}; it is tried again until it is stored", done.error().message);
    {
      const std::lock_guard lock(mutex_);
      progress_.last_problem = done.error().message;
    }
    static_cast<void>(sleep(settings_.retry_time));
  }
}

bool CampaignRun::was_rolled_back() {
  const std::lock_guard lock(mutex_);
  return std::exchange(begin_again_, false);
}

Status CampaignRun::run() {
  SOTTO_CHECK(begin_folding());
  while (true) {
    SOTTO_TRY(const FoldedRound folded, parts_.folding.next());
    SOTTO_CHECK(publish(folded));
    SOTTO_TRY(const std::uint64_t number, parts_.store.next_round(campaign_.hash));
    const bool orders_are_used_up = !sealed_ && number > campaign_.campaign.rounds;
    if (folded.is_last || orders_are_used_up) {
      SOTTO_CHECK(stored([&] {
        return parts_.store.set_state(campaign_.hash, CampaignState::finished, parts_.clock(),
                                      "all rounds are done");
      }));
      say("finished");
      return {};
    }
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

Status CampaignRun::publish(const FoldedRound& folded) {
  SOTTO_TRY(const std::string bytes,
            encode(rounds::ModelVersion{model_.layout, folded.numbers, folded.items, items_}));
  SOTTO_TRY(const auto before, parts_.store.current_version(campaign_.hash));
  const Digest model = rounds::blob_hash(bytes);
  if (std::exchange(just_begun_, false) && before) {
    if (before->model != model)
      return failed("the trainer has another version than the one that was published after round {}",
                    before->round);
  } else {
    SOTTO_CHECK(stored([&] { return parts_.store.keep_blob(bytes); }));
    ModelVersion version{
        campaign_.hash, sealed_ ? sealed_->number : 0, model, std::nullopt, std::nullopt, parts_.clock(),
        bytes.size()};
    if (before) version.parent = before->model;
    if (!folded.checkpoint.empty()) {
      SOTTO_TRY(version.checkpoint, stored([&] { return parts_.store.keep_blob(folded.checkpoint); }));
    }
    const std::lock_guard appending(appending_);
    SOTTO_TRY(const LogAppend entry, log_entry({rounds::LeafKind::model, model}));
    SOTTO_CHECK(stored([&] {
      return parts_.store.publish_version(parts_.fence, version,
                                          sealed_ ? std::optional(sealed_->round) : std::nullopt, entry);
    }));
    SOTTO_CHECK(take(entry));
    sealed_.reset();
  }
  current_model_ = model;
  parts_.show_version(model, bytes);
  const std::lock_guard lock(mutex_);
  progress_.rounds_done = folded.rounds_done;
  progress_.version = to_hex(model);
  return {};
}

Status CampaignRun::roll_back(std::uint64_t version, std::string_view why) {
  SOTTO_CHECK(parts_.store.roll_back(campaign_.hash, version, parts_.clock(), why));
  {
    const std::lock_guard lock(mutex_);
    begin_again_ = true;
  }
  parts_.floor.end_round("a version was rolled back");
  return {};
}

Status CampaignRun::wait_while_paused() {
  while (true) {
    SOTTO_TRY(const auto campaigns, parts_.store.campaigns());
    for (const StoredCampaign& stored : campaigns) {
      if (stored.hash != campaign_.hash) continue;
      if (stored.state == CampaignState::open) return {};
      if (stored.state == CampaignState::finished) return failed("the campaign was finished");
    }
    say("paused");
    if (!sleep(std::chrono::seconds(1))) return failed("the coordinator stops");
  }
}

Status CampaignRun::wait_for_witnesses() {
  const rounds::Campaign& campaign = campaign_.campaign;
  while (rounds::witnesses_of(head(), campaign.witnesses) < campaign.witnesses_needed) {
    say("waiting for witnesses");
    if (!sleep(std::chrono::milliseconds(200))) return failed("the coordinator stops");
  }
  return {};
}

Result<rounds::RoundOrder> CampaignRun::next_order(const FoldedRound& folded) {
  const UtcTime now = parts_.clock();
  SOTTO_CHECK(rounds::check_time(campaign_.campaign, now));
  rounds::RoundOrder order;
  order.round = fresh_name(random_);
  SOTTO_TRY(order.number, parts_.store.next_round(campaign_.hash));
  order.campaign = campaign_.hash;
  order.model = current_model_;
  order.bound = folded.bound;
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
    const Status tried = try_round(folded);
    if (tried) break;
    if (parts_.floor.is_stopped() || tried.error().kind == ErrorKind::bad_input ||
        abandoned + 1 == settings_.most_abandoned)
      return tl::unexpected(tried.error());
    warn("round {}: {}", folded.rounds_done + 1, tried.error().message);
    {
      const std::lock_guard lock(mutex_);
      if (begin_again_) return tl::unexpected(tried.error());
      ++progress_.orders_abandoned;
      progress_.last_problem = tried.error().message;
    }
    if (!sleep(settings_.retry_time)) return failed("the coordinator stops");
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
  SOTTO_TRY(const auto opened, rounds::open_order(document));
  StoredOrder stored{order.round, order.number, campaign_.hash, document, OrderState::open, {}};
  SOTTO_CHECK(this->stored([&] { return parts_.store.open_order(parts_.fence, stored); }));
  const auto began = steady_clock::now();
  RoundRecord record{.number = order.number, .began = parts_.clock()};
  show(std::make_shared<const OpenOffer>(
      OpenOffer{encode(offer_of(order, document)), order.number, order.expires}));
  StoreKeeper keeper(parts_.store, parts_.fence, stored.round);
  const std::uint64_t groups = campaign_.campaign.cohort / campaign_.campaign.encoding.devices;
  const auto summed = parts_.floor.run({opened.hash, std::move(terms), groups}, pace_, keeper, random_,
                                       began + (order.expires - parts_.clock()));
  {
    const std::lock_guard lock(mutex_);
    offer_.reset();
    withdrawn_ = steady_clock::now();
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
  if (!summed) {
    SOTTO_CHECK(this->stored(
        [&] { return parts_.store.abandon_order(parts_.fence, stored.round, summed.error().message); }));
    return tl::unexpected(summed.error());
  }
  SOTTO_CHECK(this->stored([&] { return parts_.store.seal_sums(parts_.fence, stored.round); }));
  stored.state = OrderState::summed;
  sealed_ = std::move(stored);
  return {};
}

void CampaignRun::show(std::shared_ptr<const OpenOffer> offer) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const auto now = steady_clock::now();
  const std::lock_guard lock(mutex_);
  offer_ = std::move(offer);
  progress_.state = "gathering";
  if (shown_) period_ = (period_ + duration_cast<milliseconds>(now - *shown_)) / 2;
  if (withdrawn_) between_ = (between_ + duration_cast<milliseconds>(now - *withdrawn_)) / 2;
  shown_ = now;
}

std::optional<rounds::ComeBack> CampaignRun::come_back(std::uint64_t enrolled) const {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const std::lock_guard lock(mutex_);
  if (progress_.state == "finished") return rounds::ComeBack{rounds::ComeBack::How::spread, after_the_end};
  if (progress_.state == "paused") return rounds::ComeBack{rounds::ComeBack::How::spread, in_a_pause};
  rounds::Crowd crowd{enrolled, campaign_.campaign.cohort, period_, std::nullopt};
  if (!offer_) {
    milliseconds passed{0};
    if (withdrawn_) passed = duration_cast<milliseconds>(steady_clock::now() - *withdrawn_);
    crowd.next = std::max(milliseconds(0), between_ - passed);
  }
  return rounds::steer(crowd);
}

std::shared_ptr<const OpenOffer> CampaignRun::offer() const {
  const std::lock_guard lock(mutex_);
  return offer_;
}

CampaignProgress CampaignRun::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

std::vector<RoundRecord> CampaignRun::recent_rounds() const {
  const std::lock_guard lock(mutex_);
  return {recent_.begin(), recent_.end()};
}

Result<double> CampaignRun::epsilon_so_far() const {
  const CampaignProgress now = progress();
  const rounds::Campaign& campaign = campaign_.campaign;
  const std::uint64_t orders = std::min(campaign.participations, now.rounds_done + now.orders_abandoned);
  if (orders == 0) return 0.0;
  {
    const std::lock_guard lock(mutex_);
    if (accounted_.first == orders) return accounted_.second;
  }
  SOTTO_TRY(const auto guarantee, rounds::cost_of(campaign, orders, campaign.delta));
  const std::lock_guard lock(mutex_);
  accounted_ = {orders, guarantee.epsilon};
  return guarantee.epsilon;
}

rounds::LogPage CampaignRun::log_page(std::uint64_t from) const {
  const std::lock_guard lock(mutex_);
  rounds::LogPage page{from, {}};
  const auto& leaves = log_.leaves();
  for (std::uint64_t i = from; i < leaves.size() && page.entries.size() < rounds::LogPage::most; ++i)
    page.entries.push_back(leaves[i]);
  return page;
}

rounds::SignedHead CampaignRun::head() const {
  const std::lock_guard lock(mutex_);
  return *log_.head();
}

Status CampaignRun::cosign(const rounds::HeadCosignature& word) {
  const std::lock_guard appending(appending_);
  LogAppend append;
  {
    const std::lock_guard lock(mutex_);
    append.first = log_records_;
    SOTTO_TRY(const std::string record, log_.record_for(word));
    append.records = {record};
  }
  SOTTO_CHECK(parts_.store.append_to_log(parts_.fence, append));
  return take(append);
}

}  // namespace sotto::coordinator
