#include "privacy/mechanisms/partition_selection.h"

#include <algorithm>
#include <cmath>

#include "base/distributions.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

namespace {

// 2^40 users are more than there are people; counts beyond are a mistake, and noise could not overflow below.
Status require_plausible(std::uint64_t users) {
  if (users < std::uint64_t{1} << 40) return {};
  return bad_input("a count of {} users is not plausible", users);
}

}  // namespace

std::vector<std::uint32_t> cap_items(std::span<const std::uint32_t> items, std::uint32_t cap,
                                     DeviceRandom random) {
  std::vector<std::uint32_t> kept(items.begin(), items.end());
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  if (kept.size() <= cap) return kept;
  shuffle(std::span(kept), random.source());
  kept.resize(cap);
  std::sort(kept.begin(), kept.end());
  return kept;
}

Result<UnknownItems> UnknownItems::create(double epsilon, double delta, std::uint32_t cap) {
  SOTTO_CHECK(require_epsilon(epsilon));
  SOTTO_CHECK(require_delta(delta));
  SOTTO_CHECK(require_at_least(cap, 1, "cap on items per user"));
  SOTTO_TRY(auto noise, DiscreteLaplace::create(cap / epsilon));
  // P(1 + X >= τ) = q^(τ-1)/(1+q) with q = e^(-1/scale); at most δ/cap for every one of the cap items.
  const double q = std::exp(-1 / noise.scale());
  const double wait = noise.scale() * std::log(cap / (delta * (1 + q)));
  const auto threshold =
      std::max<std::int64_t>(2, 1 + static_cast<std::int64_t>(std::ceil(wait * (1 + 1e-12) + 1e-9)));
  return UnknownItems(epsilon, delta, cap, std::move(noise), threshold);
}

Result<std::vector<std::pair<std::uint32_t, std::int64_t>>> UnknownItems::select(
    std::span<const ItemCount> counts, DeviceRandom random) const {
  std::vector<std::pair<std::uint32_t, std::int64_t>> named;
  for (const ItemCount& count : counts) {
    if (count.users == 0)
      return bad_input("item {} is held by nobody: count only items that somebody holds", count.item);
    SOTTO_CHECK(require_plausible(count.users));
    const std::int64_t noisy = static_cast<std::int64_t>(count.users) + noise_.sample(random.source());
    if (noisy >= threshold_) named.emplace_back(count.item, noisy);
  }
  return named;
}

PrivacyEvent UnknownItems::event() const {
  // One user touches at most `cap` samples.
  return {.mechanism = ApproximateDp{epsilon_, delta_},
          .adjacency = Adjacency::add_remove,
          .unit = Unit::user,
          .total_variation = GridNoise::total_variation * cap_,
          .log_ratio = GridNoise::log_ratio * cap_};
}

Result<PublicCatalogue> PublicCatalogue::create(double sigma, std::uint32_t cap, std::uint64_t items) {
  SOTTO_CHECK(require_positive(sigma, "noise of the counts"));
  SOTTO_CHECK(require_at_least(cap, 1, "cap on items per user"));
  SOTTO_CHECK(require_at_least(items, cap, "number of items in the catalogue"));
  SOTTO_TRY(auto noise, DiscreteGaussian::create(sigma));
  return PublicCatalogue(cap, items, std::move(noise));
}

Result<std::vector<std::int64_t>> PublicCatalogue::noisy_counts(std::span<const std::uint64_t> users_per_item,
                                                                DeviceRandom random) const {
  SOTTO_CHECK(require_length(users_per_item.size(), items_, "the counts"));
  std::vector<std::int64_t> noisy(users_per_item.size());
  noise_.fill(std::span(noisy), random.source());
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    SOTTO_CHECK(require_plausible(users_per_item[i]));
    noisy[i] += static_cast<std::int64_t>(users_per_item[i]);
  }
  return noisy;
}

std::vector<std::uint32_t> PublicCatalogue::at_least(std::span<const std::int64_t> noisy_counts,
                                                     std::int64_t threshold) {
  std::vector<std::uint32_t> named;
  for (std::size_t i = 0; i < noisy_counts.size(); ++i) {
    if (noisy_counts[i] >= threshold) named.push_back(static_cast<std::uint32_t>(i));
  }
  return named;
}

PrivacyEvent PublicCatalogue::event() const {
  const double cap = cap_;
  return {.mechanism = DiscreteGaussianNoise{noise_.sigma(), 1, items_, cap, std::sqrt(cap)},
          .adjacency = Adjacency::add_remove,
          .unit = Unit::user,
          .total_variation = GridNoise::total_variation * static_cast<double>(items_),
          .log_ratio = GridNoise::log_ratio * static_cast<double>(items_)};
}

}  // namespace sotto::privacy
