#pragma once
// A campaign from its first round to its last: version → order → gather → fold, each step durable before the
// next (store/store.h says in which order). A coordinator that was killed goes on where the store says: a
// round whose sums were sealed is folded from them, any other is abandoned and ordered anew.
//
// run() blocks on its thread until the campaign is over, stop() is called or something fails that trying
// again cannot mend. The rest is safe from any thread.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "base/log.h"
#include "coordinator/folding.h"
#include "coordinator/rooms/round_floor.h"
#include "coordinator/store/store.h"
#include "rounds/come_back.h"
#include "rounds/operator_keys.h"
#include "rounds/round_messages.h"

namespace sotto::coordinator {

// What devices are shown at the moment.
struct OpenOffer {
  std::string offer;  // rounds::OfferMessage
  std::uint64_t round = 0;
  rounds::UtcTime expires{};
};

// How a campaign stands, for people.
struct CampaignProgress {
  // starting, gathering, folding, waiting for witnesses, paused, drained, finished
  std::string state = "starting";
  std::uint64_t rounds_done = 0, rounds = 0;
  std::string version;  // hash of the current one
  OrderCounts orders;   // of its whole life, whichever process held them
  std::string last_problem;
  DeskCounts last_round;
  double last_round_seconds = 0;
  std::optional<rounds::UtcTime> order_began;  // of the order that is open
  bool order_evaluates = false;                // it measures a version
  bool measures = false;                       // the current version is yet to be measured
  std::optional<Evaluation> evaluation;        // of the version that was measured last
  std::string alert;                           // it ranks worse than one before it
};

// One order that is over, for people.
struct RoundRecord {
  std::uint64_t number = 0;
  rounds::UtcTime began{};
  double seconds = 0;
  bool evaluates = false;  // its version was measured; number: of the version
  DeskCounts counts;
  std::string abandoned;  // why; empty: its sums were taken
};

struct CampaignRunSettings {
  std::chrono::seconds order_time{600};  // that an order is valid
  std::chrono::seconds retry_time{2};    // between an abandoned order and the next
  std::uint64_t most_abandoned = 1000;   // in a row, before the campaign is given up
  // A version fell when its AUC lies by more than this, and two standard errors of the noise, below the best
  // one before it.
  double largest_fall = 0.01;
  bool rolls_back_falls = false;  // to that best one
};

class CampaignRun {
 public:
  using Clock = std::function<rounds::UtcTime()>;
  // What it works with; all of it must outlive the run.
  struct Parts {
    const rounds::Identity& key;  // the coordinator's, which the campaign names
    Store& store;
    Fence fence;
    Folding& folding;
    RoundFloor& floor;
    Clock clock;
    // Told what devices may fetch: versions, and what stays: the table of items, which all of them name, and
    // changes of the operator's key.
    std::function<void(const Digest&hash, std::string bytes)> show_version, show_lasting;
  };
  // Refuses what no store can help: a campaign that cannot hold, is over, or names another coordinator.
  static Result<rounds::OpenedCampaign> open(const std::string& document, const rounds::Identity& key,
                                             rounds::UtcTime now);
  // The campaign is in the log when it returns, and the version that was published last is shown again: it
  // does not wait for the trainer. Refuses what open() refuses. `keys`
  // are as devices were shipped with them, and every change is entered in the log once.
  static Result<std::unique_ptr<CampaignRun>> begin(const std::string& document,
                                                    const rounds::OperatorKeys& keys,
                                                    std::span<const std::string> key_changes, Parts parts,
                                                    const CampaignRunSettings& settings);
  // Begins with the trainer, and refuses one whose numbers are laid out otherwise than the campaign says.
  Status run();

  std::shared_ptr<const OpenOffer> offer() const;  // null: no round is open
  CampaignProgress progress() const;
  // From an order that was shown to the version that is made of it, or its end without one.
  bool has_round() const { return has_round_; }
  // The last orders since this process began, oldest first.
  static constexpr std::size_t most_recent = 200;
  std::vector<RoundRecord> recent_rounds() const;
  // ε against the server of a device that was charged for every order so far, evaluations among them: at most
  // as much as it is in all.
  Result<double> epsilon_so_far() const;
  // And of one that takes part as often as the campaign lets it, in rounds and in evaluations.
  Result<double> epsilon_in_all() const;
  // When devices, of whom so many are enrolled, should ask for an order again.
  std::optional<rounds::ComeBack> come_back(std::uint64_t enrolled) const;
  // The leaves of the log behind the first `from`.
  rounds::LogPage log_page(std::uint64_t from) const;
  rounds::SignedHead head() const;
  // A witness's word about the head.
  Status cosign(const rounds::HeadCosignature& word);
  // An older version is trained on from now on; a round on another one ends without a version, even while its
  // sums are folded. Rounds that were done stay done: what devices were charged for is not given back, and
  // the campaign has as many rounds less to go.
  Status roll_back(std::uint64_t version, std::string_view why);
  // Paused, or open again.
  Status set_state(CampaignState state, std::string_view why);
  // Another number whenever the store has other versions, measurements or campaigns than before.
  std::uint64_t revision() const { return revision_; }
  const rounds::OpenedCampaign& campaign() const { return campaign_; }
  const std::string& campaign_document() const { return document_; }
  const rounds::OperatorKeys& operator_keys() const { return keys_; }  // behind all changes

 private:
  CampaignRun(rounds::OpenedCampaign campaign, std::string document, const rounds::OperatorKeys& keys,
              Parts parts, const CampaignRunSettings& settings);
  Status replay_log();
  // Enters the changes that the log lacks, and follows all that it has.
  Status enter_key_changes(std::span<const std::string> documents);
  Status enter_campaign();
  Status show_stored_version();
  Status count_orders();
  Status begin_folding();
  Status pick_up_orders(const std::optional<ModelVersion>& current);
  // False, and the round is abandoned: what it was made of is not the current version any more.
  Result<bool> publish(const FoldedRound& folded);
  Status discard_sealed();
  Status finish();
  Result<std::vector<GroupSum>> gather(const FoldedRound& folded);
  // One order: its sums are sealed, or it is abandoned and the error says why.
  Status try_round(const FoldedRound& folded);
  Result<rounds::RoundOrder> next_order(const FoldedRound& folded);
  Result<rounds::RoundOrder> order_for_now();
  // The order is over without what it was for; the error says why.
  tl::unexpected<Error> abandon(const StoredOrder& order, const Error& why);
  // Shows an order until its groups have summed. An error says why they have not.
  Result<DeskCounts> hold(const rounds::RoundOrder& order, const std::string& document,
                          rounds::CampaignTerms terms, RoundKeeper& keeper);
  // Where the campaign asks for it: devices measure the current version. What fails is said, and training
  // goes on: whoever may have been charged is not asked twice, not by another process either.
  void measure_version();
  Result<Evaluation> try_evaluation();
  Status judge(const Evaluation& measured, const std::vector<Evaluation>& before);
  bool was_rolled_back() const;
  // A drained coordinator waits for its end here.
  tl::unexpected<Error> stay_drained();
  rounds::OfferMessage offer_of(const rounds::RoundOrder& order, std::string document) const;
  Status wait_for_witnesses();
  Status wait_while_paused();
  Result<LogAppend> log_entry(const rounds::LogLeaf& leaf) const;
  Status take(const LogAppend& appended);
  void say(std::string state, std::string problem = {});
  // A write that found no room, or no database, is made again until it is done: what devices gave for it
  // cannot be asked for twice. Every write of the store may be repeated.
  template <class Write>
  auto stored(const Write& write) -> decltype(write());
  void show(std::shared_ptr<const OpenOffer> offer);
  bool sleep(std::chrono::milliseconds time) const;  // false: stopped
  bool rest(std::chrono::milliseconds time) const;   // the same; over at once when there is no next order

  const rounds::OpenedCampaign campaign_;
  const std::string document_;
  rounds::OperatorKeys keys_;
  const Parts parts_;
  const CampaignRunSettings settings_;
  SecureRandom random_;
  PhasePace pace_;
  FoldedModel model_;
  rounds::Digest items_{};             // hash of the table
  rounds::Digest current_model_{};     // hash of the version that is trained next
  std::uint64_t current_round_ = 0;    // that made it
  std::optional<StoredOrder> sealed_;  // the order whose sums are folded, or wait to be
  std::optional<ModelVersion> begun_;  // that the trainer began with, until it has handed it back

  std::atomic<bool> has_round_ = false;
  std::atomic<std::uint64_t> revision_ = 0;

  std::mutex changing_;       // from reading the log's end, or which version is current, to having written
  mutable std::mutex mutex_;  // of what follows
  rounds::PublicLog log_;
  std::uint64_t log_records_ = 0;
  bool begin_again_ = false;  // a version was rolled back
  std::shared_ptr<const OpenOffer> offer_;
  // When an order was shown and withdrawn last, and how long it took lately from order to order and from
  // the end of one to the next.
  std::optional<std::chrono::steady_clock::time_point> shown_, withdrawn_;
  std::chrono::milliseconds period_{0}, between_{1000};
  CampaignProgress progress_;
  std::deque<RoundRecord> recent_;
  // Participations and evaluations, and their ε.
  mutable std::pair<std::pair<std::uint64_t, std::uint64_t>, double> accounted_{};
  mutable std::optional<double> epsilon_in_all_;
};

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

}  // namespace sotto::coordinator
