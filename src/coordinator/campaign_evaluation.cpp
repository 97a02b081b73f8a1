// Versions that devices measure: an order that trains nothing, what comes of it, and what a fall leads to.

#include <algorithm>
#include <cmath>
#include <set>

#include "coordinator/campaign_run.h"
#include "coordinator/store_keeper.h"
#include "rounds/evaluation.h"

namespace sotto::coordinator {

namespace {

// A measurement that a crash interrupts is given up: its sums are kept in memory alone.
class MeasurementKeeper final : public StoreKeeper {
 public:
  using StoreKeeper::StoreKeeper;
  Status keep_sum(const GroupSum& sum) override {
    sums.push_back(sum);
    return {};
  }
  std::vector<GroupSum> sums;
};

std::string in_percent(const Evaluation& measured) {
  return fmt::format("{:.2f} ± {:.2f} %", 100 * measured.auc, 100 * measured.noise);
}

}  // namespace

void CampaignRun::measure_version() {
  const auto& asked = campaign_.campaign.evaluation;
  if (!asked || current_round_ % asked->every != 0 || parts_.floor.is_draining()) return;
  const auto measured = [&]() -> Status {
    SOTTO_TRY(const auto before, parts_.store.evaluations(campaign_.hash));
    if (std::ranges::find(before, current_round_, &Evaluation::version) != before.end()) return {};
    SOTTO_CHECK(wait_while_paused());
    if (parts_.floor.is_draining()) return {};
    SOTTO_TRY(const Evaluation now, try_evaluation());
    return judge(now, before);
  }();
  has_round_ = false;
  if (measured || parts_.floor.is_stopped() || was_rolled_back()) return;
  warn("version {} was not measured: {}", current_round_, measured.error().message);
  const std::lock_guard lock(mutex_);
  progress_.last_problem = measured.error().message;
}

Result<Evaluation> CampaignRun::try_evaluation() {
  SOTTO_CHECK(wait_for_witnesses());
  SOTTO_TRY(rounds::RoundOrder order, order_for_now());
  order.number = current_round_;
  order.evaluates = true;
  SOTTO_TRY(rounds::CampaignTerms terms, rounds::evaluation_terms(campaign_.campaign));
  SOTTO_TRY(const std::string document, rounds::sign_order(order, campaign_, parts_.key));
  const StoredOrder stored{order.round, order.number, campaign_.hash, document, OrderState::open, {}, true};
  SOTTO_CHECK(this->stored([&] { return parts_.store.open_order(parts_.fence, stored); }));
  MeasurementKeeper keeper(parts_.store, parts_.fence, stored.round, [this] { return count_orders(); });
  const auto held = hold(order, document, std::move(terms), keeper);
  if (!held) return abandon(stored, held.error());
  const DeskCounts& counts = *held;
  std::vector<std::vector<std::uint32_t>> sums;
  for (GroupSum& sum : keeper.sums) sums.push_back(std::move(sum.entries));
  const auto estimated = rounds::estimate_of(campaign_.campaign, sums, counts.devices_summed);
  if (!estimated) return abandon(stored, estimated.error());
  const rounds::VersionEstimate& estimate = *estimated;
  const auto whole = [](double value) { return std::round(value * 1e9) / 1e9; };
  const Evaluation measured{campaign_.hash,      current_round_,        counts.devices_summed,
                            whole(estimate.auc), whole(estimate.noise), parts_.clock()};
  SOTTO_CHECK(this->stored([&] { return parts_.store.keep_evaluation(parts_.fence, measured); }));
  ++revision_;
  info("version {} ranks with AUC {} on pages that {} devices kept out of training", measured.version,
       in_percent(measured), measured.devices);
  return measured;
}

Status CampaignRun::judge(const Evaluation& measured, const std::vector<Evaluation>& before) {
  // The versions that this one was made of.
  SOTTO_TRY(const auto versions, parts_.store.versions(campaign_.hash));
  std::set<std::uint64_t> ancestors;
  std::optional<Digest> parent = current_model_;
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    if (version->model != parent) continue;
    ancestors.insert(version->round);
    parent = version->parent;
  }
  const Evaluation* best = nullptr;
  for (const Evaluation& one : before)
    if (ancestors.contains(one.version) && (best == nullptr || one.auc > best->auc)) best = &one;
  const bool fell = best != nullptr && measured.auc < best->auc - settings_.largest_fall -
                                                          2 * std::hypot(measured.noise, best->noise);
  std::string alert;
  if (fell)
    alert = fmt::format("version {} ranks with AUC {}, and version {} had {}", measured.version,
                        in_percent(measured), best->version, in_percent(*best));
  {
    const std::lock_guard lock(mutex_);
    progress_.evaluation = measured;
    progress_.alert = alert;
  }
  if (!fell) return {};
  warn("{}", alert);
  return settings_.rolls_back_falls ? roll_back(best->version, alert) : Status{};
}

}  // namespace sotto::coordinator
