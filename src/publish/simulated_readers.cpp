#include "publish/simulated_readers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/distributions.h"
#include "privacy/mechanisms/vector_release.h"
#include "publish/codebook.h"

namespace sotto::publish {

namespace {

constexpr std::size_t most_interests = 8;
constexpr int grouping_iterations = 15;
constexpr double stray_clicks = 0.2;                     // share of clicks that follow no interest
constexpr double median_length = 18, length_spread = 1;  // log-normal

// Adds what one reader clicked in training, or used where the data has interactions, as shares of the groups.
void add_reader(const data::Dataset& dataset, data::UserId user, std::span<const std::uint32_t> group_of,
                std::vector<double>& counts) {
  std::vector<std::uint32_t> groups;
  if (!dataset.has_impressions()) {
    const data::Interactions& rows = dataset.interactions();
    for (std::uint64_t row = rows.user_offsets[user]; row < rows.user_offsets[user + std::size_t{1}]; ++row)
      groups.push_back(group_of[rows.items[row]]);
  }
  const auto [first, last] = dataset.impressions_of(user);
  for (std::size_t i = first; i < last; ++i) {
    const data::Impression impression = dataset.impression(i);
    if (impression.split != data::Split::train) continue;
    if (groups.empty()) {
      for (const data::ItemId item : impression.history) groups.push_back(group_of[item]);
    }
    for (std::size_t j = 0; j < impression.shown.size(); ++j) {
      if (impression.clicked[j] != 0) groups.push_back(group_of[impression.shown[j]]);
    }
  }
  for (const std::uint32_t group : groups) counts[group] += 1.0 / static_cast<double>(groups.size());
}

// A place drawn in proportion to weights; total is their sum.
std::size_t draw(std::span<const double> weights, double total, RandomSource& random) {
  double left = uniform01(random) * total;
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return i;
  }
  return weights.size() - 1;
}

}  // namespace

Result<std::vector<double>> noisy_group_counts(const data::Dataset& dataset,
                                               std::span<const std::uint32_t> group_of, std::size_t groups,
                                               double epsilon, const privacy::NoiseOrigin& noise) {
  std::vector<double> counts(groups);
  for (std::size_t user = 0; user < dataset.user_count(); ++user)
    add_reader(dataset, static_cast<data::UserId>(user), group_of, counts);
  SOTTO_TRY(const auto mechanism, privacy::LaplaceMechanism::create(
                                      {.epsilon = epsilon, .l1_sensitivity = 2, .dimension = groups}));
  privacy::NoiseStream draws(noise, Purpose::noise);
  SOTTO_TRY(const auto noisy, mechanism.release(counts, draws.random()));
  return noisy.reals();
}

Demand demand_of_items(const Rows& items, const ReaderSettings& settings, std::uint64_t seed) {
  Clusters groups = k_means(items, static_cast<std::size_t>(settings.groups), ClusterShape::distance,
                            grouping_iterations, seed);
  Demand demand{std::move(groups.assignment), std::vector<double>(groups.centres.size())};
  for (const std::uint32_t group : demand.group_of)
    demand.shares[group] += 1.0 / static_cast<double>(demand.group_of.size());
  return demand;
}

Result<Demand> release_demand(const data::Dataset& dataset, const Rows& items, const ReaderSettings& settings,
                              std::uint64_t seed, const privacy::NoiseOrigin& noise) {
  Demand demand = demand_of_items(items, settings, seed);
  SOTTO_TRY(demand.shares, noisy_group_counts(dataset, demand.group_of, demand.shares.size(),
                                              settings.demand_epsilon, noise));
  for (double& share : demand.shares) share = std::max(share, 1.0);
  const double sum = std::accumulate(demand.shares.begin(), demand.shares.end(), 0.0);
  for (double& share : demand.shares) share /= sum;
  return demand;
}

std::vector<std::vector<data::ItemId>> simulate_histories(const Demand& demand,
                                                          const ReaderSettings& settings,
                                                          std::uint64_t seed) {
  std::vector<std::vector<data::ItemId>> members(demand.shares.size());
  for (std::size_t item = 0; item < demand.group_of.size(); ++item)
    members[demand.group_of[item]].push_back(static_cast<data::ItemId>(item));
  std::vector<double> weights = demand.shares;
  for (std::size_t group = 0; group < weights.size(); ++group)
    if (members[group].empty()) weights[group] = 0;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);

  std::vector<std::vector<data::ItemId>> histories(static_cast<std::size_t>(settings.readers));
  for (std::size_t reader = 0; reader < histories.size(); ++reader) {
    SeededRandom random(seed, Purpose::newsroom_user, 0, static_cast<std::uint32_t>(reader));
    std::vector<std::size_t> interests(1 + uniform_below(random, most_interests));
    std::vector<double> strengths(interests.size());
    for (std::size_t& interest : interests) interest = draw(weights, total, random);
    for (double& strength : strengths) strength = exponential(random) + exponential(random);
    const double strength = std::accumulate(strengths.begin(), strengths.end(), 0.0);
    const double length = median_length * std::exp(length_spread * normal(random));
    histories[reader].resize(
        static_cast<std::size_t>(std::clamp(length, 1.0, static_cast<double>(settings.max_history))));
    for (data::ItemId& click : histories[reader]) {
      const bool stray = bernoulli(random, stray_clicks);
      const auto& group =
          members[stray ? draw(weights, total, random) : interests[draw(strengths, strength, random)]];
      click = group[uniform_below(random, group.size())];
    }
  }
  return histories;
}

}  // namespace sotto::publish
