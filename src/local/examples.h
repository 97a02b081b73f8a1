#pragma once
// From what a device remembers of its reader to what it learns from: each click against items of the same
// page that were shown and not clicked. Drawn exactly as the simulator draws (fl/news_training.h).

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/settings.h"
#include "local/interaction_steps.h"

namespace sotto::local {

// What was shown at once, which of it was clicked, and what had been clicked before, oldest first. Refers to
// the device's memory.
struct OwnImpression {
  std::span<const ItemRow> history, shown;
  std::span<const std::uint8_t> clicked;  // 0 or 1 for each that was shown
};

struct RankingExample {
  std::span<const ItemRow> history;  // the latest clicks
  std::vector<ItemRow> candidates;   // the click first
};

struct ExampleSettings {
  std::int64_t negatives = 20, max_history = 50, max_examples = 10'000;
  // longest: of a history. Attention keeps the square of it.
  void bind(SettingsTable& table, std::int64_t longest);
};

// One example per click, in the order given. Of more than max_examples the last ones. Impressions without a
// click, or without anything else, give none.
Result<std::vector<RankingExample>> examples_of(std::span<const OwnImpression> impressions,
                                                const ExampleSettings& settings, RandomSource& draws);

}  // namespace sotto::local
