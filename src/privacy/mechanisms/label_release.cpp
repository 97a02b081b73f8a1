#include "privacy/mechanisms/label_release.h"

#include <algorithm>
#include <cmath>

#include "base/distributions.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

namespace {

Status check(double epsilon, std::uint32_t negatives) {
  SOTTO_CHECK(require_epsilon(epsilon));
  return require_at_least(negatives, 1, "number of negatives");
}

Status check_impression(std::size_t shown, std::uint32_t click) {
  SOTTO_CHECK(require_at_least(shown, 2, "number of shown items"));
  if (shown > std::uint32_t{1} << 24) return bad_input("an impression of {} items is not plausible", shown);
  if (click < shown) return {};
  return bad_input("click {} is outside the impression of {} items", click, shown);
}

}  // namespace

Result<PaperLabelPermutation> PaperLabelPermutation::create(double epsilon, std::uint32_t negatives) {
  SOTTO_CHECK(check(epsilon, negatives));
  return PaperLabelPermutation(epsilon, negatives);
}

double PaperLabelPermutation::beta(std::size_t shown) const {
  return std::max(0.0, epsilon_ + std::log(negatives_ / (static_cast<double>(shown) - 1)));
}

Result<LabelledSample> PaperLabelPermutation::release(std::span<const unsigned char> clicked,
                                                      std::uint32_t click, DeviceRandom random) const {
  SOTTO_CHECK(check_impression(clicked.size(), click));
  if (clicked[click] == 0) return bad_input("item {} is not marked as clicked", click);
  std::vector<std::uint32_t> unclicked;
  for (std::uint32_t i = 0; i < clicked.size(); ++i) {
    if (clicked[i] == 0) unclicked.push_back(i);
  }
  if (unclicked.empty()) return bad_input("every shown item was clicked: there is no negative to sample");
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(negatives_, unclicked.size()));
  std::vector<std::uint32_t> items{click};
  for (const std::uint32_t i :
       sample_without_replacement(static_cast<std::uint32_t>(unclicked.size()), count, random.source())) {
    items.push_back(unclicked[i]);
  }
  const double odds = std::exp(beta(clicked.size()));
  std::size_t positive = 0;
  if (uniform01(random.source()) >= odds / (count + odds))
    positive = 1 + uniform_below(random.source(), count);
  LabelledSample sample{items[positive], {}};
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != positive) sample.negatives.push_back(items[i]);
  }
  shuffle(std::span(sample.negatives), random.source());  // the order must not tell what the paper hides
  return sample;
}

MechanismStatement PaperLabelPermutation::statement() const {
  return {.claimed_epsilon = epsilon_,
          .holds = std::nullopt,
          .why = "the real click is always among the items sent, so the item set itself gives it away"};
}

Result<SoundLabelRelease> SoundLabelRelease::create(double epsilon, std::uint32_t negatives) {
  SOTTO_CHECK(check(epsilon, negatives));
  return SoundLabelRelease(epsilon, negatives);
}

Result<LabelledSample> SoundLabelRelease::release(std::uint32_t shown, std::uint32_t click,
                                                  DeviceRandom random) const {
  SOTTO_CHECK(check_impression(shown, click));
  SOTTO_TRY(const KaryResponse response, KaryResponse::create(epsilon_, shown, Unit::click));
  SOTTO_TRY(const std::uint64_t positive, response.respond(click, random));
  LabelledSample sample{static_cast<std::uint32_t>(positive), {}};
  sample.negatives = sample_without_replacement(shown - 1, std::min(negatives_, shown - 1), random.source());
  for (std::uint32_t& item : sample.negatives) item += item >= sample.positive ? 1 : 0;
  return sample;
}

Result<MechanismStatement> SoundLabelRelease::statement(std::uint32_t shown) const {
  SOTTO_TRY(const KaryResponse response, KaryResponse::create(epsilon_, shown, Unit::click));
  return MechanismStatement{.claimed_epsilon = epsilon_, .holds = response.event()};
}

}  // namespace sotto::privacy
