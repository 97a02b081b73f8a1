#include "fl/training_data.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/distributions.h"
#include "base/log.h"
#include "data/splits.h"

namespace sotto::fl {

void TrainingDataSettings::bind(SettingsTable& table) {
  table.add("negatives", negatives, {1, 100}, "Non-clicked items of the same impression per click (K)")
      .add("max_history", max_history, {1, 10000},
           "Most recent clicks of a history that the user model reads")
      .add("validation_impressions", validation_impressions, {0, 100000000},
           "Impressions to choose the best round by; 0: keep the last round")
      .add_choice("validation", validation, {"random", "latest"},
                  "Which training impressions choose the best round where the data has no validation split: "
                  "any, or the latest ones, which resemble the test days")
      .add("user_share", user_share, {1e-6, 1.0}, "Share of the users who train (FedNewsRec's paper: 0.5)");
}

std::uint64_t TrainingData::sample_count() const {
  std::uint64_t total = 0;
  for (const auto& list : samples) total += list.size();
  return total;
}

const std::vector<data::TrainingSample>& TrainingData::of(data::UserId user) const {
  const auto position = std::lower_bound(users.begin(), users.end(), user) - users.begin();
  return samples.at(static_cast<std::size_t>(position));
}

namespace {

std::vector<std::uint32_t> seeded_choice(std::vector<std::uint32_t> from, std::size_t most,
                                         std::uint64_t seed, std::uint32_t stream) {
  if (from.size() <= most) return from;
  SeededRandom random(seed, Purpose::split, stream);
  auto chosen = sample_without_replacement(static_cast<std::uint32_t>(from.size()),
                                           static_cast<std::uint32_t>(most), random);
  for (auto& index : chosen) index = from[index];
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// The latest by time; of one time, and where times are unknown, those that stand last.
std::vector<std::uint32_t> latest(const data::Dataset& dataset, std::vector<std::uint32_t> from,
                                  std::size_t most) {
  std::stable_sort(from.begin(), from.end(), [&](std::uint32_t a, std::uint32_t b) {
    return dataset.impression(a).time < dataset.impression(b).time;
  });
  from.erase(from.begin(), from.end() - static_cast<std::ptrdiff_t>(std::min(most, from.size())));
  std::sort(from.begin(), from.end());
  return from;
}

// Has something to rank: a click and a non-click.
bool rankable(const data::Impression& impression) {
  const auto clicks = std::count(impression.clicked.begin(), impression.clicked.end(), std::uint8_t{1});
  return clicks > 0 && static_cast<std::size_t>(clicks) < impression.clicked.size();
}

}  // namespace

Result<TrainingData> prepare_training_data(const data::Dataset& dataset, const TrainingDataSettings& settings,
                                           std::uint64_t seed) {
  if (!dataset.has_impressions())
    return bad_input(
        "{} has no impressions, which this recipe trains on: make them with 'sotto data view DATA --view "
        "text "
        "--out DIR' (--view impressions where items have no text) and train on DIR",
        dataset.name());
  TrainingData data;
  std::vector<std::uint32_t> train, validation;
  for (std::uint32_t i = 0; i < dataset.impression_count(); ++i) {
    const data::Impression impression = dataset.impression(i);
    if (impression.split == data::Split::test) data.test.push_back(i);
    if (impression.split == data::Split::validation && rankable(impression)) validation.push_back(i);
    if (impression.split == data::Split::train && rankable(impression)) train.push_back(i);
  }
  const auto wanted = static_cast<std::size_t>(settings.validation_impressions);
  const bool own_split = !validation.empty();
  const std::size_t spared = std::min(wanted, train.size() / 5);  // never more than a fifth
  data.validation = own_split                         ? seeded_choice(validation, wanted, seed, 1)
                    : settings.validation == "latest" ? latest(dataset, train, spared)
                                                      : seeded_choice(train, spared, seed, 2);
  std::unordered_set<std::uint32_t> held_out;
  if (!own_split) held_out.insert(data.validation.begin(), data.validation.end());

  std::vector<std::uint32_t> users;
  for (std::uint32_t user = 0; user < dataset.user_count(); ++user) users.push_back(user);
  const auto share =
      static_cast<std::size_t>(std::ceil(settings.user_share * static_cast<double>(users.size())));
  for (const data::UserId user : seeded_choice(std::move(users), share, seed, 3)) {
    auto samples = data::training_samples(dataset, user, data::Split::train);
    std::erase_if(samples,
                  [&](const data::TrainingSample& sample) { return held_out.contains(sample.impression); });
    if (samples.empty()) continue;
    data.users.push_back(user);
    data.samples.push_back(std::move(samples));
  }
  if (data.users.empty())
    return bad_input("{} has no training impression with both clicked and not clicked items", dataset.name());
  if (data.test.size() < data::few_test_impressions)
    warn(
        "{} has {} test impressions: by so few an AUC has a standard error of about {:.0f} points and says "
        "little "
        "(docs/data-formats.md: test_from)",
        dataset.name(), data.test.size(), 100 * data::auc_error_of(data.test.size()));
  return data;
}

}  // namespace sotto::fl
