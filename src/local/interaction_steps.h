#pragma once
// What a device trains on in a round of PrivRec, drawn from its own rows: which of its positives it remembers
// and which it predicts, the negatives beside them, and how these are cut into local steps. The simulator
// draws by the same code (fl/interaction_training.h).

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/settings.h"

namespace sotto::local {

using ItemRow = std::uint32_t;  // of the items that the device knows

// Something that the reader used or rated.
struct OwnRow {
  ItemRow item = 0;
  bool positive = true;
};

struct StepSettings {
  std::string labels = "sampled";
  std::int64_t negatives = 10, epochs = 1, batch = 64;
  std::int64_t most = 1;   // steps; 0: all of the epochs
  bool remembers = false;  // one half of the positives is remembered, the other predicted
};

struct InteractionExample {
  std::size_t row = 0;  // of the reader's rows: whose situation it is
  ItemRow item = 0;
  float label = 0, weight = 1;
};

// One user's way through its rows, which must stay valid, as must the draws.
class InteractionSteps {
 public:
  // items: how many there are, of which negatives are drawn that the reader has no row of.
  InteractionSteps(std::span<const OwnRow> rows, const StepSettings& settings, std::uint64_t items,
                   RandomSource& draws);
  const std::vector<ItemRow>& history() const { return history_; }  // repeats count
  // The examples of the next step; none when all are done.
  std::vector<InteractionExample> next();

 private:
  std::vector<InteractionExample> examples(std::span<const std::size_t> positives,
                                           std::span<const std::size_t> negatives);

  std::span<const OwnRow> rows_;
  StepSettings settings_;
  std::uint64_t items_;
  RandomSource& draws_;
  std::vector<ItemRow> history_, known_;            // known_: ascending
  std::vector<std::size_t> positives_, negatives_;  // row numbers
  std::size_t per_epoch_ = 0, in_epoch_ = 0;
  std::int64_t epochs_ = 0, steps_ = 0;  // so far
};

}  // namespace sotto::local
