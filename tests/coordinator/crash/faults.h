#pragma once
// Processes that end as in a power cut, at a point that has a name: before or after a transaction of the
// store, a step of the trainer, a request of a device. Wrapped around the real ones.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "base/chain_hash.h"
#include "base/files.h"
#include "coordinator/running_deployment.h"
#include "coordinator/wrapped_store.h"

namespace sotto::coordinator {

// The n-th time that the process comes by the point of this name it is no more.
class DeathPoint {
 public:
  DeathPoint(std::string name, int passes) : name_(std::move(name)), left_(passes) {}
  void pass(std::string_view when, std::string_view what) {
    if (name_.size() != when.size() + 1 + what.size() || !name_.starts_with(when) || !name_.ends_with(what))
      return;
    if (--left_ == 0) ::kill(::getpid(), SIGKILL);
  }
  template <class Do>
  auto around(std::string_view what, const Do& act) {
    pass("before", what);
    auto done = act();
    pass("after", what);
    return done;
  }

 private:
  const std::string name_;
  std::atomic<int> left_;
};

// One line at the end of a file: what was written before a kill is read after it.
inline void note(const fs::path& file, const std::string& line) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string text = line + "\n";
  if (descriptor < 0 || ::write(descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    ::_exit(9);
  ::close(descriptor);
}

class MortalStore final : public WrappedStore {
 public:
  // Notes every sum that was kept, as "ROUND ARRIVED", in the file.
  MortalStore(std::unique_ptr<Store> real, DeathPoint& death, fs::path sums)
      : WrappedStore(std::move(real)), death_(death), sums_(std::move(sums)) {}

  Result<Enrolment> enrol(const Enrolment& enrolment) override {
    return death_.around("enrol", [&] { return real_->enrol(enrolment); });
  }
  Status revoke(const IdentityKey& device, UtcTime now, std::string_view why) override {
    return death_.around("revoke", [&] { return real_->revoke(device, now, why); });
  }
  Result<bool> add_campaign(const Fence& fence, const StoredCampaign& campaign,
                            const LogAppend& log) override {
    return death_.around("add_campaign", [&] { return real_->add_campaign(fence, campaign, log); });
  }
  Status set_state(const Digest& campaign, CampaignState state, UtcTime now, std::string_view why) override {
    return death_.around("set_state", [&] { return real_->set_state(campaign, state, now, why); });
  }
  Status open_order(const Fence& fence, const StoredOrder& order) override {
    return death_.around("open_order", [&] { return real_->open_order(fence, order); });
  }
  Status begin_unmasking(const Fence& fence, const Digest& round) override {
    return death_.around("begin_unmasking", [&] { return real_->begin_unmasking(fence, round); });
  }
  Status keep_sum(const Fence& fence, const Digest& round, const GroupSum& sum) override {
    return death_.around("keep_sum", [&] {
      const Status kept = real_->keep_sum(fence, round, sum);
      if (kept) note(sums_, fmt::format("{} {}", to_hex(round), sum.arrived));
      return kept;
    });
  }
  Status seal_sums(const Fence& fence, const Digest& round) override {
    return death_.around("seal_sums", [&] { return real_->seal_sums(fence, round); });
  }
  Status abandon_order(const Fence& fence, const Digest& round, std::string_view why) override {
    return death_.around("abandon_order", [&] { return real_->abandon_order(fence, round, why); });
  }
  Result<Digest> keep_blob(std::string_view bytes) override {
    return death_.around("keep_blob", [&] { return real_->keep_blob(bytes); });
  }
  Status publish_version(const Fence& fence, const ModelVersion& version, const std::optional<Digest>& round,
                         const LogAppend& log) override {
    return death_.around("publish_version",
                         [&] { return real_->publish_version(fence, version, round, log); });
  }
  Status roll_back(const Digest& campaign, std::uint64_t version, UtcTime now,
                   std::string_view why) override {
    return death_.around("roll_back", [&] { return real_->roll_back(campaign, version, now, why); });
  }
  Status keep_evaluation(const Fence& fence, const Evaluation& evaluation) override {
    return death_.around("keep_evaluation", [&] { return real_->keep_evaluation(fence, evaluation); });
  }
  Status append_to_log(const Fence& fence, const LogAppend& log) override {
    return death_.around("append_to_log", [&] { return real_->append_to_log(fence, log); });
  }
  Result<Lease> acquire(std::string_view name, std::string_view owner, UtcTime now,
                        std::chrono::seconds duration) override {
    return death_.around("acquire", [&] { return real_->acquire(name, owner, now, duration); });
  }
  Result<Lease> renew(const Lease& lease, UtcTime now, std::chrono::seconds duration) override {
    return death_.around("renew", [&] { return real_->renew(lease, now, duration); });
  }

 private:
  DeathPoint& death_;
  const fs::path sums_;
};

class MortalTrainer final : public Folding {
 public:
  MortalTrainer(Folding& real, DeathPoint& death) : real_(real), death_(death) {}
  Result<FoldedModel> begin(const std::string& checkpoint) override { return real_.begin(checkpoint); }
  Result<FoldedRound> next() override {
    return death_.around("next", [&] { return real_.next(); });
  }
  Status give(const std::vector<GroupSum>& sums) override {
    return death_.around("give", [&] { return real_.give(sums); });
  }

 private:
  Folding& real_;
  DeathPoint& death_;
};

// Notes which versions were offered, and, before it is sent, of which round an upload is and which bytes.
class MortalTransport final : public device::Transport {
 public:
  MortalTransport(device::Transport& real, DeathPoint& death, fs::path folder)
      : real_(real), death_(death), folder_(std::move(folder)) {}

  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    const std::string_view what = purpose_of(call);
    if (what == "upload")
      note(folder_ / "sent", fmt::format("{} {}", to_hex(round_), to_hex(rounds::blob_hash(call.body))));
    return death_.around(what, [&] {
      auto answer = real_.send(call);
      if (what == "order" && answer && answer->status == 200) remember(answer->body);
      return answer;
    });
  }

 private:
  void remember(const std::string& offer) {
    const auto message = rounds::decode_offer(offer);
    if (!message) return;
    const auto order = rounds::open_order(message->order);
    if (!order) return;
    round_ = order->order.round;
    if (std::exchange(model_, order->order.model) != order->order.model)
      note(folder_ / "offered", to_hex(order->order.model));
  }

  device::Transport& real_;
  DeathPoint& death_;
  const fs::path folder_;
  rounds::Digest round_{}, model_{};
};

}  // namespace sotto::coordinator
