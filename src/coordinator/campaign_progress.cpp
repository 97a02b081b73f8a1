// How a campaign stands, for people, and when devices should come.

#include <algorithm>

#include "coordinator/campaign_run.h"

namespace sotto::coordinator {

namespace {

using std::chrono::steady_clock;

// For devices that ask when there is nothing to do.
constexpr std::chrono::milliseconds in_a_pause = std::chrono::minutes(1),
                                    after_the_end = std::chrono::hours(1);

}  // namespace

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
  if (progress_.state == "paused" || progress_.state == "drained")
    return rounds::ComeBack{rounds::ComeBack::How::spread, in_a_pause};
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
  const std::uint64_t orders = std::min(campaign.participations, now.orders.trained);
  const std::uint64_t evaluations =
      campaign.evaluation ? std::min(campaign.evaluation->participations, now.orders.evaluated) : 0;
  if (orders + evaluations == 0) return 0.0;
  const std::pair took_part(orders, evaluations);
  {
    const std::lock_guard lock(mutex_);
    if (accounted_.first == took_part) return accounted_.second;
  }
  SOTTO_TRY(const auto guarantee, rounds::cost_of(campaign, orders, campaign.delta, evaluations));
  const std::lock_guard lock(mutex_);
  accounted_ = {took_part, guarantee.epsilon};
  return guarantee.epsilon;
}

Result<double> CampaignRun::epsilon_in_all() const {
  const rounds::Campaign& campaign = campaign_.campaign;
  {
    const std::lock_guard lock(mutex_);
    if (epsilon_in_all_) return *epsilon_in_all_;
  }
  SOTTO_TRY(const auto guarantee,
            rounds::cost_of(campaign, campaign.participations, campaign.delta,
                            campaign.evaluation ? campaign.evaluation->participations : 0));
  const std::lock_guard lock(mutex_);
  epsilon_in_all_ = guarantee.epsilon;
  return guarantee.epsilon;
}

}  // namespace sotto::coordinator
