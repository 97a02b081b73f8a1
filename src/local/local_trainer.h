#pragma once
// What one device computes in a round: from public inputs and its own events to the numbers that it would add
// to a secure sum, before clipping, rounding and noise. The simulator runs the same code
// (fl/device_updates.h).

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "local/examples.h"
#include "local/layout.h"

namespace sotto::local {

// The words of all items: item i has words [offsets[i], offsets[i + 1]).
struct ItemTitles {
  std::span<const std::uint32_t> words;    // rows of RoundInputs::words
  std::span<const std::uint64_t> offsets;  // [M + 1]
};

// A categorical feature: row r has values codes[offsets[r]] to codes[offsets[r + 1]], several or none.
struct CodeField {
  std::span<const std::uint64_t> offsets;
  std::span<const std::uint32_t> codes;
  std::size_t rows() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::span<const std::uint32_t> of(std::size_t row) const {
    return codes.subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
};

// What everybody may see and a device has fetched; of it, what the trainer reads. Refers to the caller's
// memory.
//
// Letters: P parameters, M items, D numbers of an item, V words, E numbers of a word.
struct RoundInputs {
  std::span<const float> parameters;               // [P], in the trainer's layout
  Eigen::Map<const Rows> items = {nullptr, 0, 0};  // [M, D]
  Eigen::Map<const Rows> words = {nullptr, 0, 0};  // [V, E]
  ItemTitles titles;
  std::vector<CodeField> item_fields;  // by item
  std::uint64_t round = 1;             // of the campaign, from 1
};

// What the device alone has, oldest first; of it, what the trainer reads. Item rows are of RoundInputs.
struct OwnEvents {
  std::vector<OwnImpression> impressions;
  std::vector<OwnRow> rows;
  std::vector<CodeField> user_fields;     // each of one row
  std::vector<CodeField> context_fields;  // by row of `rows`: in which situation it was
};

// Which of its events a trainer reads, and how rows count.
struct EventUse {
  bool reads_rows = false;    // otherwise impressions
  double positive_above = 3;  // ratings above this are positive; a row without a rating always is
  bool distinct = false;      // of several rows of one item the first counts
};

// What a device ranks for its reader: items after a history, or in a situation.
struct RankingQuestion {
  std::span<const ItemRow> history, items;
  std::vector<CodeField> situation = {};  // each of one row
};

struct LocalUpdate {
  // [dimension], to descend along: a gradient summed over the examples, or what local steps have taken away
  // from the parameters.
  std::vector<float> direction;
  double loss = 0;            // summed
  std::uint64_t samples = 0;  // examples
};

// Asked between bounded pieces of work; true stops the training.
using Cancelled = std::function<bool()>;

// Immutable and safe to share between threads. train() is a function of its arguments and of what it draws:
// negatives first, then dropout. Without events to learn from the direction is zero. Work is bounded by the
// settings and by the sizes of the inputs, memory by them and by pieces of a few megabytes. Inputs that do
// not fit are refused, and so are numbers that are not finite, in inputs and results.
class LocalTrainer {
 public:
  virtual ~LocalTrainer() = default;
  virtual const Layout& layout() const = 0;
  // Numbers in the direction of a round, from 1, for so many items: all parameters, unless another number is
  // returned.
  virtual std::size_t dimension(std::size_t /*items*/, std::uint64_t /*round*/) const {
    return layout().size();
  }
  virtual EventUse reads() const { return {}; }
  virtual Result<LocalUpdate> train(const RoundInputs& inputs, const OwnEvents& own, RandomSource& draws,
                                    const Cancelled& cancelled) const = 0;
  // How the device ranks by the parameters that it has fetched, after tuning them to its reader where the
  // recipe says so: a score for each of the question's items. Nothing of it is sent.
  virtual Result<std::vector<float>> rank(const RoundInputs& inputs, const OwnEvents& own,
                                          const RankingQuestion& question, RandomSource& draws,
                                          const Cancelled& cancelled) const = 0;
};

// A campaign's settings of the training on devices.
using LocalSettings = std::span<const std::pair<std::string, std::string>>;

// The trainer of a recipe. Recipes that do not train on devices, unknown settings and values out of range are
// refused. What is not given has the recipe's default.
Result<std::unique_ptr<LocalTrainer>> find_trainer(std::string_view recipe, LocalSettings settings);
std::vector<std::string> recipes_with_trainers();

}  // namespace sotto::local
