#include "fl/interaction_tasks.h"

#include <algorithm>

#include "base/distributions.h"

namespace sotto {

namespace {

// A negative is drawn again when the user knows the item; a user who knows nearly all items gets fewer.
constexpr int most_draws = 20;
// Draws of fine-tuning do not follow the rounds.
constexpr std::uint32_t tuning_round = 0xFFFFFFFF;

}  // namespace

void TaskSettings::bind(SettingsTable& table) {
  table
      .add_choice("labels", labels, {"sampled", "ratings"},
                  "Negatives: items the user never touched (sampled), or rows rated low (the paper's)")
      .add("negatives", negatives, {1, 1000}, "Sampled negatives per positive")
      .add("local_epochs", local_epochs, {1, 10000}, "Local epochs of a device in a round (E2)")
      .add("local_batch", local_batch, {1, 1000000}, "Positives per local step")
      .add("local_steps", local_steps, {0, 1000000}, "Local steps of a round at most; 0: all of the epochs");
}

Result<InteractionTasks> InteractionTasks::create(const Dataset& dataset, const InteractionData& data,
                                                  const TabularInputs& inputs, const TaskSettings& settings,
                                                  std::uint64_t seed) {
  const bool any_negative = std::any_of(data.rows.begin(), data.rows.end(),
                                        [](const UserRows& user) { return !user.negative.empty(); });
  if (settings.labels == "ratings" && !any_negative)
    return bad_input("{} has no row that is not positive: use labels=sampled", dataset.name());
  return InteractionTasks(dataset, inputs, settings, seed);
}

// Only of the rows given: what a test user will use is not known to its device yet.
std::vector<ItemId> InteractionTasks::known_items(const UserRows& rows) const {
  std::vector<ItemId> known;
  for (const auto* list : {&rows.positive, &rows.negative})
    for (const std::uint64_t row : *list) known.push_back(dataset_.interactions().items[row]);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  return known;
}

std::vector<TabularExample> InteractionTasks::step(std::span<const std::uint64_t> positives,
                                                   std::span<const std::uint64_t> negatives,
                                                   std::span<const ItemId> known,
                                                   RandomSource& random) const {
  const auto& items = dataset_.interactions().items;
  const float weight = 1 / static_cast<float>(std::max<std::size_t>(positives.size(), 1));
  std::vector<TabularExample> examples;
  for (const std::uint64_t row : positives) examples.push_back({row, items[row], 1, weight});
  for (const std::uint64_t row : negatives) examples.push_back({row, items[row], 0, weight});
  if (settings_.labels == "ratings") return examples;
  for (const std::uint64_t row : positives) {
    for (std::int64_t n = 0; n < settings_.negatives; ++n) {
      for (int draw = 0; draw < most_draws; ++draw) {
        const auto item = static_cast<ItemId>(uniform_below(random, dataset_.item_count()));
        if (std::binary_search(known.begin(), known.end(), item)) continue;
        examples.push_back({row, item, 0, weight});
        break;
      }
    }
  }
  return examples;
}

TabularTask InteractionTasks::draw(const UserRows& rows, std::int64_t epochs, std::int64_t most_steps,
                                   RandomSource& random) const {
  TabularTask task;
  task.user = rows.user;
  std::vector<std::uint64_t> positives = rows.positive, negatives;
  if (settings_.labels == "ratings") negatives = rows.negative;
  const std::vector<ItemId> known = known_items(rows);
  shuffle(std::span(positives), random);
  if (reads_history(inputs_.choice)) {
    // Remember one half, predict the other: what is predicted must not be among what is remembered, unless
    // it really was used twice.
    const auto half = positives.begin() + static_cast<std::ptrdiff_t>(positives.size() / 2);
    for (auto row = positives.begin(); row != half; ++row)
      task.history.push_back(dataset_.interactions().items[*row]);
    positives.erase(positives.begin(), half);
  }
  const auto batch = static_cast<std::size_t>(settings_.local_batch);
  const std::size_t per_epoch = (positives.size() + batch - 1) / batch;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    shuffle(std::span(positives), random);
    shuffle(std::span(negatives), random);
    for (std::size_t s = 0; s < per_epoch; ++s) {
      if (most_steps > 0 && task.steps.size() == static_cast<std::size_t>(most_steps)) return task;
      const std::size_t begin = s * batch, end = std::min(begin + batch, positives.size());
      // Low ratings are spread evenly over the steps of an epoch.
      const std::size_t low_begin = s * negatives.size() / per_epoch,
                        low_end = (s + 1) * negatives.size() / per_epoch;
      task.steps.push_back(step(std::span(positives).subspan(begin, end - begin),
                                std::span(negatives).subspan(low_begin, low_end - low_begin), known, random));
    }
  }
  return task;
}

TabularTask InteractionTasks::training(std::uint32_t round, const UserRows& rows) const {
  SeededRandom random(seed_, Purpose::negative_sampling, round, rows.user);
  return draw(rows, settings_.local_epochs, settings_.local_steps, random);
}

TabularTask InteractionTasks::halves(std::uint32_t round, const UserRows& rows) const {
  SeededRandom random(seed_, Purpose::negative_sampling, round, rows.user);
  TabularTask task = draw(rows, 1, 1, random);
  // draw() remembers one half and predicts the other; both steps predict from the same memory.
  if (task.steps.empty()) return task;
  std::vector<TabularExample> support, query;
  std::size_t positives = 0;
  for (const auto& example : task.steps.front()) positives += example.label > 0 ? 1 : 0;
  std::size_t number = 0;
  for (const auto& example : task.steps.front()) {
    const bool first_half = number++ % 2 == 0;
    if (first_half || positives == 1) support.push_back(example);
    if (!first_half || positives == 1) query.push_back(example);
  }
  task.steps = {std::move(support), std::move(query)};
  return task;
}

TabularTask InteractionTasks::tuning(const UserRows& support, std::int64_t epochs) const {
  SeededRandom random(seed_, Purpose::negative_sampling, tuning_round, support.user);
  TabularTask task;
  task.user = support.user;
  if (!support.positive.empty()) task = draw(support, epochs, 0, random);
  return task;
}

std::vector<ItemId> InteractionTasks::remembered(const UserRows& support) const {
  std::vector<ItemId> items;
  if (!reads_history(inputs_.choice)) return items;
  for (const std::uint64_t row : support.positive) items.push_back(dataset_.interactions().items[row]);
  return items;
}

}  // namespace sotto
