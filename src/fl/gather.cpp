#include "fl/gather.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/random.h"
#include "base/thread_pool.h"
#include "fl/divergence.h"
#include "fl/law_gather.h"
#include "fl/masked_gather.h"
#include "fl/process_group.h"
#include "local/check_numbers.h"
#include "secagg/vectors/bit_packing.h"
#include "secagg/vectors/modular_sum.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::fl {

std::uint64_t Gathered::arrived() const {
  std::uint64_t all = 0;
  for (const GroupSum& group : groups) all += group.arrived;
  return all;
}

Result<std::vector<std::span<const data::UserId>>> groups_of(std::span<const data::UserId> cohort,
                                                             const secagg::EncodingPlan& plan) {
  const auto size = static_cast<std::size_t>(plan.settings().devices);
  if (size == 0 || cohort.size() % size != 0)
    return bad_input("a cohort of {} devices does not divide into groups of {}, as the plan has them",
                     cohort.size(), size);
  std::vector<std::span<const data::UserId>> groups;
  for (std::size_t first = 0; first < cohort.size(); first += size)
    groups.push_back(cohort.subspan(first, size));
  return groups;
}

namespace {

// Updates that wait together: enough to keep all threads busy, little memory beside a round's gradients.
std::size_t devices_at_once(std::size_t dimension) {
  constexpr std::size_t memory = std::size_t{16} << 20, most = 1024;
  const std::size_t fit = memory / (sizeof(float) * std::max<std::size_t>(dimension, 1));
  return std::clamp(fit, static_cast<std::size_t>(thread_count()),
                    std::max(most, static_cast<std::size_t>(thread_count())));
}

// Encodes the updates of one group's devices, many at a time.
class EncodingQueue {
 public:
  EncodingQueue(const RoundOrder& order, const privacy::NoiseOrigin& noise, GroupInProcess& group)
      : order_(order), device_(order.plan), noise_(noise), group_(group) {}

  // The update is copied. One that cannot be encoded fails this call or a later one, flush() at the latest.
  Status add(const UserUpdate& own) {
    const torch::Tensor plain = (own.direction / order_.bound).to(torch::kCPU, torch::kFloat32).contiguous();
    const float* first = plain.data_ptr<float>();
    waiting_.push_back({own.user, std::vector<float>(first, first + plain.numel())});
    if (waiting_.size() < devices_at_once(waiting_.back().update.size())) return {};
    return flush();
  }

  Status flush() {
    std::vector<Status> outcomes(waiting_.size());
    parallel_for(waiting_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) outcomes[i] = encode(waiting_[i]);
    });
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (!outcomes[i])
        return refused_update(std::move(outcomes[i]).error(), waiting_[i].update, order_.round);
    waiting_.clear();
    return {};
  }

 private:
  struct Waiting {
    data::UserId user;
    std::vector<float> update;
  };

  Status encode(const Waiting& own) const {
    privacy::NoiseStream draws(noise_, Purpose::noise, order_.round, own.user);
    SOTTO_TRY(const auto entries, device_.encode(std::span<const float>(own.update), draws.random()));
    return group_.take(own.user, entries);
  }

  const RoundOrder& order_;
  secagg::UpdateEncoder device_;
  privacy::NoiseOrigin noise_;
  GroupInProcess& group_;
  std::vector<Waiting> waiting_;
};

class PlainGroup final : public GroupInProcess {
 public:
  explicit PlainGroup(const secagg::EncodingPlan& plan) : plan_(plan), sum_(plan.entries(), 0) {}

  Status take(data::UserId, std::span<const std::uint32_t> entries) override {
    const std::lock_guard lock(adding_);
    ++arrived_;
    return secagg::add_entries(std::span(sum_), entries);
  }
  Result<GroupSum> finish() override {
    secagg::reduce_entries(std::span(sum_), plan_.modulus());
    return GroupSum{std::move(sum_), arrived_};
  }
  std::uint64_t bytes_up() const override {
    return secagg::packed_bytes(plan_.entries(), plan_.modulus().bits());
  }
  std::uint64_t bytes_down() const override { return 0; }

 private:
  secagg::EncodingPlan plan_;
  std::mutex adding_;
  std::vector<std::uint32_t> sum_;
  std::uint64_t arrived_ = 0;
};

// Drawn by the leader alone, which counts who took part: draws may be secret.
CappedCohorts::Cohort leaders_cohort(CappedCohorts& cohorts, std::uint32_t round) {
  CappedCohorts::Cohort cohort;
  if (processes().leads()) cohort = cohorts.sample(round);
  processes().from_leader(cohort.drawn);
  processes().from_leader(cohort.present);
  return cohort;
}

}  // namespace

// Processes that train together each add up the updates of their share of a group's devices. What they bring
// together are whole numbers, so that the sum is the same for any number of them.
Result<Gathered> SimulatedRounds::sum(const RoundOrder& order) {
  const auto& agreed = devices_.agreed;
  if (!agreed.empty())
    SOTTO_CHECK(agreed[std::min<std::size_t>(order.round, agreed.size() - 1)].check(order.plan));
  const CappedCohorts::Cohort cohort = leaders_cohort(devices_.cohorts, order.round);
  SOTTO_TRY(const auto groups, groups_of(cohort.drawn, order.plan));
  Gathered gathered;
  for (const auto& group : groups) {
    std::vector<data::UserId> present;
    std::set_intersection(group.begin(), group.end(), cohort.present.begin(), cohort.present.end(),
                          std::back_inserter(present));
    lost_.clear();
    const LostDevices& losing = devices_.lost;
    for (const data::UserId user : present)
      if (local::is_lost(losing.share, losing.seed, order.round, user)) lost_.push_back(user);
    const std::size_t stayed_away = group.size() - present.size();
    if (losing.phase <= local::RoundPhase::upload)
      std::erase_if(present,
                    [&](data::UserId user) { return std::binary_search(lost_.begin(), lost_.end(), user); });
    if (present.size() + order.plan.settings().dropped < group.size())
      return failed(
          "round {}: {} of {} devices stayed away because they may take part only {} times, and {} were "
          "lost: raise participations or dropping",
          order.round, stayed_away, group.size(), devices_.cohorts.participations(),
          group.size() - stayed_away - present.size());
    SOTTO_CHECK(add_group(order, group, present, gathered));
  }
  return gathered;
}

Status InProcessGather::add_group(const RoundOrder& order, std::span<const data::UserId> group,
                                  std::span<const data::UserId> present, Gathered& gathered) {
  SOTTO_TRY(const auto sum, open(order, group, present));
  EncodingQueue queue(order, devices().noise, *sum);
  Tally share;
  const auto add_own = [&](const UserUpdate& own) -> Status {
    if (Status number = check_loss(own.loss, order.round); !number) return number;
    share.loss += own.loss;
    share.samples += own.samples;
    return queue.add(own);
  };
  Status added = devices().updates.each_update(order.round, processes().share_of(present), add_own);
  if (added) added = queue.flush();
  SOTTO_CHECK(processes().agree(std::move(added)));
  SOTTO_TRY(GroupSum finished, sum->finish());
  share.arrived = finished.arrived;
  share.add_up(processes());
  processes().add(std::span(finished.entries));
  secagg::reduce_entries(std::span(finished.entries), order.plan.modulus());
  finished.arrived = share.arrived;
  gathered.loss += share.loss;
  gathered.samples += share.samples;
  gathered.groups.push_back(std::move(finished));
  gathered.bytes_up = std::max(gathered.bytes_up, sum->bytes_up());
  gathered.bytes_down = std::max(gathered.bytes_down, sum->bytes_down());
  return {};
}

Result<std::unique_ptr<GroupInProcess>> SimulatedGather::open(const RoundOrder& order,
                                                              std::span<const data::UserId>,
                                                              std::span<const data::UserId>) {
  return std::make_unique<PlainGroup>(order.plan);
}

namespace {
constexpr std::string_view calmer =
    "Its noise or its steps are too large: fewer rounds and a larger cohort need less noise; or lower "
    "learning_rate";
}

Status check_loss(double loss, std::uint32_t round) {
  if (std::isfinite(loss)) return {};
  return diverged(round + 1, "the loss", calmer);
}

tl::unexpected<Error> refused_update(Error why, std::span<const float> update, std::uint32_t round) {
  if (local::all_finite(update)) return tl::unexpected(std::move(why));
  return diverged(round + 1, "a device's update", calmer);
}

void SumSettings::bind(SettingsTable& table) {
  table
      .add_choice("sums", sums, {"auto", "simulated", "masked", "law"},
                  "masked: through the clients and the server of secure aggregation; simulated: the same "
                  "whole numbers without masks, which cancel; law: no device's own numbers, the noise of "
                  "all drawn once from the law of its sum; auto: law from 1,000 devices per round on, "
                  "simulated below")
      .add_choice("server", server, {"semi-honest", "active"},
                  "sums=masked: what the masks withstand, a server that keeps to the protocol or one that "
                  "may send anything to anybody (up to some hundred devices)")
      .add("lost", lost, {0.0, 0.9}, "Share of a round's devices that are lost while it lasts")
      .add_choice("lost_phase", lost_phase, {"advertise", "share", "upload", "confirm", "reveal"},
                  "The phase of the secure sum in which they are; behind upload their updates are in it");
}

std::string SumSettings::chosen(std::uint64_t cohort) const {
  if (sums != "auto") return sums;
  return cohort >= large_cohort ? "law" : "simulated";
}

Result<std::unique_ptr<Gather>> SumSettings::gather(SimulatedDevices devices) const {
  constexpr std::string_view phases[] = {"advertise", "share", "upload", "confirm", "reveal"};
  const auto phase = std::find(std::begin(phases), std::end(phases), lost_phase) - std::begin(phases);
  devices.lost.share = lost;
  devices.lost.phase = static_cast<local::RoundPhase>(phase);
  const std::string way = chosen(devices.cohorts.drawn());
  if (way == "law") return std::make_unique<LawGather>(std::move(devices));
  if (way == "simulated") return std::make_unique<SimulatedGather>(std::move(devices));
  if (processes().size() > 1)
    return bad_input(
        "sums=masked runs a group's clients and its server in one process: leave out --processes, or take "
        "sums=law or sums=simulated, whose whole numbers are the same");
#ifdef SOTTO_HAVE_PROTOCOL
  return std::make_unique<MaskedGather>(std::move(devices), server == "active"
                                                                ? secagg::ServerModel::active
                                                                : secagg::ServerModel::semi_honest);
#else
  return bad_input("this build has no libsodium and so no masks: leave out sums=masked");
#endif
}

}  // namespace sotto::fl
