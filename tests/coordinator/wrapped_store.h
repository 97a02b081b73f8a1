#pragma once
// A store around another one, which does what that does: for tests that look at some of it, or spoil it.

#include "coordinator/store/store.h"

namespace sotto::coordinator {

class WrappedStore : public Store {
 public:
  explicit WrappedStore(std::unique_ptr<Store> real) : real_(std::move(real)) {}

  Result<Enrolment> enrol(const Enrolment& enrolment) override { return real_->enrol(enrolment); }
  Status revoke(const IdentityKey& device, UtcTime now, std::string_view why) override {
    return real_->revoke(device, now, why);
  }
  Result<std::vector<bool>> are_enrolled(std::span<const IdentityKey> devices) override {
    return real_->are_enrolled(devices);
  }
  Result<std::uint64_t> count_enrolled() override { return real_->count_enrolled(); }
  Result<bool> add_campaign(const Fence& fence, const StoredCampaign& campaign,
                            const LogAppend& log) override {
    return real_->add_campaign(fence, campaign, log);
  }
  Status set_state(const Digest& campaign, CampaignState state, UtcTime now, std::string_view why) override {
    return real_->set_state(campaign, state, now, why);
  }
  Result<std::vector<StoredCampaign>> campaigns() override { return real_->campaigns(); }
  Status open_order(const Fence& fence, const StoredOrder& order) override {
    return real_->open_order(fence, order);
  }
  Status begin_unmasking(const Fence& fence, const Digest& round) override {
    return real_->begin_unmasking(fence, round);
  }
  Status keep_sum(const Fence& fence, const Digest& round, const GroupSum& sum) override {
    return real_->keep_sum(fence, round, sum);
  }
  Status leave_out(const Fence& fence, const LeftOut& spoiler) override {
    return real_->leave_out(fence, spoiler);
  }
  Result<std::vector<LeftOut>> left_out(const Digest& campaign) override { return real_->left_out(campaign); }
  Status seal_sums(const Fence& fence, const Digest& round) override {
    return real_->seal_sums(fence, round);
  }
  Status abandon_order(const Fence& fence, const Digest& round, std::string_view why) override {
    return real_->abandon_order(fence, round, why);
  }
  Result<std::optional<StoredOrder>> order(const Digest& round) override { return real_->order(round); }
  Result<std::vector<StoredOrder>> unfinished_orders() override { return real_->unfinished_orders(); }
  Result<std::vector<GroupSum>> sums_of(const Digest& round) override { return real_->sums_of(round); }
  Result<OrderCounts> count_orders(const Digest& campaign) override { return real_->count_orders(campaign); }
  Result<std::uint64_t> next_round(const Digest& campaign) override { return real_->next_round(campaign); }
  Result<Digest> keep_blob(std::string_view bytes) override { return real_->keep_blob(bytes); }
  Result<std::string> blob(const Digest& hash) override { return real_->blob(hash); }
  Result<bool> has_blob(const Digest& hash) override { return real_->has_blob(hash); }
  Status publish_version(const Fence& fence, const ModelVersion& version, const std::optional<Digest>& round,
                         const LogAppend& log) override {
    return real_->publish_version(fence, version, round, log);
  }
  Status roll_back(const Digest& campaign, std::uint64_t version, UtcTime now,
                   std::string_view why) override {
    return real_->roll_back(campaign, version, now, why);
  }
  Status keep_evaluation(const Fence& fence, const Evaluation& evaluation) override {
    return real_->keep_evaluation(fence, evaluation);
  }
  Result<std::vector<Evaluation>> evaluations(const Digest& campaign) override {
    return real_->evaluations(campaign);
  }
  Result<std::optional<ModelVersion>> current_version(const Digest& campaign) override {
    return real_->current_version(campaign);
  }
  Result<std::vector<ModelVersion>> versions(const Digest& campaign) override {
    return real_->versions(campaign);
  }
  Status append_to_log(const Fence& fence, const LogAppend& log) override {
    return real_->append_to_log(fence, log);
  }
  Result<std::vector<std::string>> log_records(std::uint64_t from, std::uint64_t most) override {
    return real_->log_records(from, most);
  }
  Result<std::uint64_t> log_size() override { return real_->log_size(); }
  Result<Lease> acquire(std::string_view name, std::string_view owner, UtcTime now,
                        std::chrono::seconds duration) override {
    return real_->acquire(name, owner, now, duration);
  }
  Result<Lease> renew(const Lease& lease, UtcTime now, std::chrono::seconds duration) override {
    return real_->renew(lease, now, duration);
  }
  Status release(const Lease& lease) override { return real_->release(lease); }
  Status note_action(const AdminAction& action) override { return real_->note_action(action); }
  Result<std::vector<AdminAction>> actions(std::uint64_t from, std::uint64_t most) override {
    return real_->actions(from, most);
  }
  std::string location() const override { return real_->location(); }
  Status check() override { return real_->check(); }

 protected:
  const std::unique_ptr<Store> real_;
};

}  // namespace sotto::coordinator
