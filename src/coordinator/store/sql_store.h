#pragma once
// The store over a database: the same statements for SQLite and PostgreSQL. One connection writes, another
// reads, so that a device that checks in does not wait for the disk.

#include "coordinator/store/blobs.h"
#include "coordinator/store/store.h"

namespace sotto::coordinator {

class SqlStore final : public Store {
 public:
  SqlStore(std::string location, std::unique_ptr<Connection> writer, std::unique_ptr<Connection> reader,
           std::unique_ptr<Blobs> blobs)
      : location_(std::move(location)),
        writer_(std::move(writer)),
        reader_(std::move(reader)),
        blobs_(std::move(blobs)) {}

  Result<Enrolment> enrol(const Enrolment& enrolment) override;
  Status revoke(const IdentityKey& device, UtcTime now, std::string_view why) override;
  Result<std::vector<bool>> are_enrolled(std::span<const IdentityKey> devices) override;
  Result<std::uint64_t> count_enrolled() override;

  Result<bool> add_campaign(const Fence& fence, const StoredCampaign& campaign,
                            const LogAppend& log) override;
  Status set_state(const Digest& campaign, CampaignState state, UtcTime now, std::string_view why) override;
  Result<std::vector<StoredCampaign>> campaigns() override;

  Status open_order(const Fence& fence, const StoredOrder& order) override;
  Status begin_unmasking(const Fence& fence, const Digest& round) override;
  Status keep_sum(const Fence& fence, const Digest& round, const GroupSum& sum) override;
  Status leave_out(const Fence& fence, const LeftOut& spoiler) override;
  Result<std::vector<LeftOut>> left_out(const Digest& campaign) override;
  Status seal_sums(const Fence& fence, const Digest& round) override;
  Status abandon_order(const Fence& fence, const Digest& round, std::string_view why) override;
  Result<std::optional<StoredOrder>> order(const Digest& round) override;
  Result<std::vector<StoredOrder>> unfinished_orders() override;
  Result<std::vector<GroupSum>> sums_of(const Digest& round) override;
  Result<OrderCounts> count_orders(const Digest& campaign) override;
  Result<std::uint64_t> next_round(const Digest& campaign) override;

  Result<Digest> keep_blob(std::string_view bytes) override { return blobs_->keep(bytes); }
  Result<std::string> blob(const Digest& hash) override { return blobs_->read(hash); }
  Result<bool> has_blob(const Digest& hash) override;
  Status publish_version(const Fence& fence, const ModelVersion& version, const std::optional<Digest>& round,
                         const LogAppend& log) override;
  Status roll_back(const Digest& campaign, std::uint64_t version, UtcTime now, std::string_view why) override;
  Result<std::optional<ModelVersion>> current_version(const Digest& campaign) override;
  Result<std::vector<ModelVersion>> versions(const Digest& campaign) override;
  Status keep_evaluation(const Fence& fence, const Evaluation& evaluation) override;
  Result<std::vector<Evaluation>> evaluations(const Digest& campaign) override;

  Status append_to_log(const Fence& fence, const LogAppend& log) override;
  Result<std::vector<std::string>> log_records(std::uint64_t from, std::uint64_t most) override;
  Result<std::uint64_t> log_size() override;

  Result<Lease> acquire(std::string_view name, std::string_view owner, UtcTime now,
                        std::chrono::seconds duration) override;
  Result<Lease> renew(const Lease& lease, UtcTime now, std::chrono::seconds duration) override;
  Status release(const Lease& lease) override;

  Status note_action(const AdminAction& action) override;
  Result<std::vector<AdminAction>> actions(std::uint64_t from, std::uint64_t most) override;

  std::string location() const override { return location_; }
  Status check() override;

 private:
  Status check_blobs(const ModelVersion& version);

  std::string location_;
  Door writer_, reader_;
  std::unique_ptr<Blobs> blobs_;
};

// Parts of several transactions.
tl::unexpected<Error> conflict(std::string message);
// Refuses the write of somebody whose lease another has acquired since.
Status check_fence(Connection& database, const Fence& fence);
Status append(Connection& database, const LogAppend& log);
Status note(Connection& database, const AdminAction& action);
Result<StoredOrder> find_order(Connection& database, const Digest& round);
// Folded or abandoned: either way its sums are not needed any more.
Status end_order(Connection& database, const StoredOrder& order, OrderState state, std::string_view why);
// Refuses a version that is not there, or was measured.
Status check_unmeasured(Connection& database, const Digest& campaign, std::uint64_t version);
// UTF-8 without control characters, as both databases hold it. `what` is named in the refusal.
Status check_text(std::string_view what, std::string_view text, std::size_t most);
constexpr std::size_t most_name_bytes = 200, most_words_bytes = 2000;

}  // namespace sotto::coordinator
