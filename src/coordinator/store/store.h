#pragma once
// The coordinator's memory: what must still be true after a crash, in transactions named by what they
// promise.
//
// When a call has returned without an error, its promise is on the disk (in PostgreSQL: committed); when it
// returns an error nothing has changed. One exception: a disk error or a lost connection in the very
// moment of the commit leaves open which of both it is, and the message says so. Every call may therefore be
// made again: what has been done already is answered as it was the first time, what contradicts it is
// ErrorKind::conflict and changes nothing.
//
// Order of writing, so that a crash at any point is harmless:
//   enrol → 200; open_order → first invitation; begin_unmasking → the unmask request; keep_sum of each group
//   → seal_sums → fold; keep_blob of model and checkpoint → publish_version {version, log, order folded} →
//   served.
// After a crash unfinished_orders() says what is left: before `summed` abandon_order(), from it on fold again
// from sums_of().
//
// Thread-safe: every call may come from any thread. Writes run one at a time in the whole store, also between
// processes; reads see the last complete write and do not wait for one under way. A store may be opened by
// several processes; leases say which of them may do what.

#include <chrono>
#include <memory>
#include <span>

#include "base/result.h"
#include "coordinator/store/records.h"

namespace sotto::coordinator {

class Store {
 public:
  virtual ~Store() = default;

  // -- Devices
  // -----------------------------------------------------------------------------------------------

  // The device is enrolled, and the token is used. The same device with the same token has the same answer
  // again; a token of another device, a device that has used another token, and one that was revoked are
  // refused.
  virtual Result<Enrolment> enrol(const Enrolment& enrolment) = 0;
  // From now on the device is unknown, and cannot enrol again. Refuses a device that never was enrolled.
  virtual Status revoke(const IdentityKey& device, UtcTime now, std::string_view why) = 0;
  // For each in turn.
  virtual Result<std::vector<bool>> are_enrolled(std::span<const IdentityKey> devices) = 0;
  virtual Result<std::uint64_t> count_enrolled() = 0;

  // -- Campaigns
  // ---------------------------------------------------------------------------------------------

  // The campaign is open and in the public log. Nothing is appended to the log when it was there already;
  // false then.
  virtual Result<bool> add_campaign(const Fence& fence, const StoredCampaign& campaign,
                                    const LogAppend& log) = 0;
  // open ↔ paused, and from both finished, for good.
  virtual Status set_state(const Digest& campaign, CampaignState state, UtcTime now,
                           std::string_view why) = 0;
  virtual Result<std::vector<StoredCampaign>> campaigns() = 0;  // oldest first

  // -- Rounds
  // ------------------------------------------------------------------------------------------------

  // The order may be shown to devices. Its campaign must be open, and no other order of its number alive. One
  // that measures a version: it is there, it was not measured, and no device was charged for measuring it.
  virtual Status open_order(const Fence& fence, const StoredOrder& order) = 0;
  // Devices may be asked to unmask, and may have been charged: of this round nothing is gathered again, and
  // it is counted for good.
  virtual Status begin_unmasking(const Fence& fence, const Digest& round) = 0;
  // The group's sum outlives the process. Kept until the round is folded or abandoned.
  virtual Status keep_sum(const Fence& fence, const Digest& round, const GroupSum& sum) = 0;
  // The device spoiled a group of this round: it is left out of its campaign from now on, for good.
  virtual Status leave_out(const Fence& fence, const LeftOut& spoiler) = 0;
  virtual Result<std::vector<LeftOut>> left_out(const Digest& campaign) = 0;  // ascending by device
  // No further sum is taken; the round may be folded, as often as it needs. Refuses a round without any sum.
  virtual Status seal_sums(const Fence& fence, const Digest& round) = 0;
  // The round is over without a version, and its sums are gone.
  virtual Status abandon_order(const Fence& fence, const Digest& round, std::string_view why) = 0;
  virtual Result<std::optional<StoredOrder>> order(const Digest& round) = 0;
  virtual Result<std::vector<StoredOrder>> unfinished_orders() = 0;        // oldest first
  virtual Result<std::vector<GroupSum>> sums_of(const Digest& round) = 0;  // ascending by group
  virtual Result<OrderCounts> count_orders(const Digest& campaign) = 0;
  // The number of its next order: one above every round that is not abandoned.
  virtual Result<std::uint64_t> next_round(const Digest& campaign) = 0;

  // -- Blobs and versions
  // ------------------------------------------------------------------------------------

  // The bytes can be read by their SHA-256, from all nodes. A blob that no version came to name stays.
  virtual Result<Digest> keep_blob(std::string_view bytes) = 0;
  // Refuses bytes that are not what their name says.
  virtual Result<std::string> blob(const Digest& hash) = 0;
  virtual Result<bool> has_blob(const Digest& hash) = 0;

  // The version is the current one of its campaign, the log says so, and the order of its round is folded:
  // all three or none. Version 0 needs no order. Refuses a version whose blobs are missing, whose parent is
  // not the current version, and whose order has no sealed sums.
  virtual Status publish_version(const Fence& fence, const ModelVersion& version,
                                 const std::optional<Digest>& round, const LogAppend& log) = 0;
  // An older version is current again; those after it stay. Orders of the version before fail at
  // publish_version.
  virtual Status roll_back(const Digest& campaign, std::uint64_t version, UtcTime now,
                           std::string_view why) = 0;
  virtual Result<std::optional<ModelVersion>> current_version(const Digest& campaign) = 0;
  virtual Result<std::vector<ModelVersion>> versions(const Digest& campaign) = 0;  // ascending by round
  // What devices say of a version, once; its order is folded with it. Refuses a version without an order for
  // which devices were asked.
  virtual Status keep_evaluation(const Fence& fence, const Evaluation& evaluation) = 0;
  virtual Result<std::vector<Evaluation>> evaluations(const Digest& campaign) = 0;  // ascending by version

  // -- The public log
  // ----------------------------------------------------------------------------------------

  // For cosignatures and packs; campaigns and versions bring their records with them.
  virtual Status append_to_log(const Fence& fence, const LogAppend& log) = 0;
  virtual Result<std::vector<std::string>> log_records(std::uint64_t from, std::uint64_t most) = 0;
  virtual Result<std::uint64_t> log_size() = 0;

  // -- Leases
  // ------------------------------------------------------------------------------------------------

  // The owner holds the lease until `now + duration`, with a fence above all before it. Who holds it already
  // may acquire it anew, which shuts out its own earlier self; another must wait until it is over. Clocks
  // that differ between nodes make a lease begin early or late; only the fence decides what is written.
  virtual Result<Lease> acquire(std::string_view name, std::string_view owner, UtcTime now,
                                std::chrono::seconds duration) = 0;
  // The same fence for longer. Refused when somebody has acquired it since.
  virtual Result<Lease> renew(const Lease& lease, UtcTime now, std::chrono::seconds duration) = 0;
  // Anybody may acquire it now. Nothing to do when it is lost already.
  virtual Status release(const Lease& lease) = 0;

  // -- What people did
  // ---------------------------------------------------------------------------------------

  // For actions that change nothing here; set_state, roll_back and revoke note themselves.
  virtual Status note_action(const AdminAction& action) = 0;
  virtual Result<std::vector<AdminAction>> actions(std::uint64_t from,
                                                   std::uint64_t most) = 0;  // oldest first

  // Where it is, without a password: for logs.
  virtual std::string location() const = 0;
  // Answers to a question: for /readyz.
  virtual Status check() = 0;
};

// location: a folder (SQLite; made when it is missing) or postgresql://… (the database must exist). owner:
// the coordinator's key; a store belongs to the key that opened it first. Refuses a damaged store, one of
// another key, and one that a later version of sotto has written; brings one of an earlier version up to
// date.
Result<std::unique_ptr<Store>> open_store(std::string_view location, const IdentityKey& owner);
// To look at, whoever it belongs to: makes, mends and changes nothing, and what would write is an error.
// Refuses what is no store of this version of sotto.
Result<std::unique_ptr<Store>> open_store_to_read(std::string_view location);

}  // namespace sotto::coordinator
