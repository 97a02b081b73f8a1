#include "local/interaction_steps.h"

#include <algorithm>

#include "base/distributions.h"

namespace sotto::local {

namespace {

// A negative is drawn again when the user knows the item; a user who knows nearly all items gets fewer.
constexpr int most_draws = 20;

}  // namespace

InteractionSteps::InteractionSteps(std::span<const OwnRow> rows, const StepSettings& settings,
                                   std::uint64_t items, RandomSource& draws)
    : rows_(rows), settings_(settings), items_(items), draws_(draws) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    known_.push_back(rows[row].item);
    if (rows[row].positive)
      positives_.push_back(row);
    else if (settings.labels == "ratings")
      negatives_.push_back(row);
  }
  std::sort(known_.begin(), known_.end());
  known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
  shuffle(std::span(positives_), draws_);
  if (settings.remembers) {
    // What is predicted must not be among what is remembered, unless it really was used twice.
    const auto half = positives_.begin() + static_cast<std::ptrdiff_t>(positives_.size() / 2);
    for (auto row = positives_.begin(); row != half; ++row) history_.push_back(rows[*row].item);
    positives_.erase(positives_.begin(), half);
  }
  const auto batch = static_cast<std::size_t>(settings.batch);
  per_epoch_ = in_epoch_ = (positives_.size() + batch - 1) / batch;
}

std::vector<InteractionExample> InteractionSteps::next() {
  if (per_epoch_ == 0 || (settings_.most > 0 && steps_ == settings_.most)) return {};
  if (in_epoch_ == per_epoch_) {
    if (epochs_ == settings_.epochs) return {};
    ++epochs_, in_epoch_ = 0;
    shuffle(std::span(positives_), draws_);
    shuffle(std::span(negatives_), draws_);
  }
  const std::size_t step = in_epoch_++, batch = static_cast<std::size_t>(settings_.batch);
  ++steps_;
  const std::size_t begin = step * batch, end = std::min(begin + batch, positives_.size());
  // Low ratings are spread evenly over the steps of an epoch.
  const std::size_t low_begin = step * negatives_.size() / per_epoch_,
                    low_end = (step + 1) * negatives_.size() / per_epoch_;
  return examples(std::span(positives_).subspan(begin, end - begin),
                  std::span(negatives_).subspan(low_begin, low_end - low_begin));
}

std::vector<InteractionExample> InteractionSteps::examples(std::span<const std::size_t> positives,
                                                           std::span<const std::size_t> negatives) {
  const float weight = 1 / static_cast<float>(std::max<std::size_t>(positives.size(), 1));
  std::vector<InteractionExample> examples;
  for (const std::size_t row : positives) examples.push_back({row, rows_[row].item, 1, weight});
  for (const std::size_t row : negatives) examples.push_back({row, rows_[row].item, 0, weight});
  if (settings_.labels == "ratings") return examples;
  for (const std::size_t row : positives) {
    for (std::int64_t n = 0; n < settings_.negatives; ++n) {
      for (int draw = 0; draw < most_draws; ++draw) {
        const auto item = static_cast<ItemRow>(uniform_below(draws_, items_));
        if (std::binary_search(known_.begin(), known_.end(), item)) continue;
        examples.push_back({row, item, 0, weight});
        break;
      }
    }
  }
  return examples;
}

}  // namespace sotto::local
