#include "local/ranking_trainer.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "local/tape/losses.h"

namespace sotto::local {

namespace {

constexpr std::size_t numbers_at_once = std::size_t{4} << 20;  // 16 MB

bool all_finite(std::span<const float> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); });
}

// The examples of a piece with every item and every history once.
struct Piece {
  std::vector<ItemRow> items;
  std::unordered_map<ItemRow, Index> row_of_item;
  Histories histories;
  RowNumbers pair_history, pair_item;

  explicit Piece(std::span<const RankingExample> examples) {
    std::span<const ItemRow> latest;
    RowNumbers blank;  // places of empty histories
    for (const RankingExample& example : examples) {
      // Clicks on one page have one history.
      const bool same = !histories.clicks.empty() && std::ranges::equal(latest, example.history);
      if (!same) {
        for (const ItemRow item : example.history) histories.rows.push_back(row(item));
        if (example.history.empty()) {
          blank.push_back(static_cast<Index>(histories.rows.size()));
          histories.rows.push_back(0);
        }
        histories.offsets.push_back(static_cast<Index>(histories.rows.size()));
        histories.clicks.push_back(static_cast<Index>(example.history.size()));
        latest = example.history;
      }
      for (const ItemRow item : example.candidates) {
        pair_history.push_back(static_cast<Index>(histories.clicks.size()) - 1);
        pair_item.push_back(row(item));
      }
    }
    for (const Index place : blank)
      histories.rows[static_cast<std::size_t>(place)] = static_cast<Index>(items.size());
  }

 private:
  Index row(ItemRow item) {
    const auto [found, is_first] = row_of_item.try_emplace(item, static_cast<Index>(items.size()));
    if (is_first) items.push_back(item);
    return found->second;
  }
};

}  // namespace

Status check_inputs(const Layout& layout, const RoundInputs& inputs, const OwnEvents& own) {
  if (inputs.parameters.size() != layout.size())
    return bad_input("{} parameters were fetched and the model has {}: fetch those of its version",
                     inputs.parameters.size(), layout.size());
  if (!all_finite(inputs.parameters))
    return bad_input("a fetched parameter is not a finite number: the model cannot be trained any further");
  const auto items = static_cast<std::size_t>(inputs.items.rows());
  const auto known = [&](ItemRow item) { return item < items; };
  for (const OwnImpression& impression : own.impressions)
    for (const auto rows : {impression.history, impression.shown})
      if (const auto unknown = std::find_if_not(rows.begin(), rows.end(), known); unknown != rows.end())
        return bad_input("an impression names item {} of {}: leave items out that were not fetched", *unknown,
                         items);
  return {};
}

std::size_t RankingTrainer::examples_at_once(std::span<const RankingExample> examples) const {
  const std::size_t rows_at_once = std::max<std::size_t>(numbers_at_once / model_->numbers_per_row(), 1);
  std::size_t rows = 0, count = 0;
  while (count < examples.size()) {
    rows += examples[count].history.size() + examples[count].candidates.size();
    if (count > 0 && rows > rows_at_once) break;
    ++count;
  }
  return count;
}

void RankingTrainer::add(const RoundInputs& inputs, std::span<const RankingExample> examples,
                         RandomSource& draws, LocalUpdate& update) const {
  Piece piece(examples);
  Tape<float> tape;
  const std::vector<Value<float>> parameters = model_->layout().on(tape, inputs.parameters);
  Pass pass{tape, parameters, draws};
  const Value<float> items = model_->items(pass, inputs, piece.items);
  const Value<float> blank = tape.constant(Rows::Zero(1, items.cols()));
  const Value<float> users = model_->users(pass, above(items, blank), piece.histories);
  const Value<float> scores = dot_rows(gather_rows(items, std::move(piece.pair_item)),
                                       gather_rows(users, std::move(piece.pair_history)));
  const Value<float> loss = listwise_loss(scores, settings_.negatives + 1);
  tape.backward(loss);
  model_->layout().add_gradients(parameters, update.direction);
  update.loss += loss.numbers()(0, 0);
  update.samples += examples.size();
}

Result<LocalUpdate> RankingTrainer::train(const RoundInputs& inputs, const OwnEvents& own,
                                          RandomSource& draws, const Cancelled& cancelled) const {
  SOTTO_CHECK(model_->check(inputs));
  SOTTO_CHECK(check_inputs(layout(), inputs, own));
  SOTTO_TRY(const std::vector<RankingExample> all, examples_of(own.impressions, settings_, draws));
  LocalUpdate update;
  update.direction.assign(layout().size(), 0);
  for (std::span<const RankingExample> left = all; !left.empty();) {
    if (cancelled())
      return failed("the training was stopped after {} of {} examples", update.samples, all.size());
    const std::size_t count = examples_at_once(left);
    add(inputs, left.first(count), draws, update);
    left = left.subspan(count);
  }
  if (!std::isfinite(update.loss) || !all_finite(update.direction))
    return failed("the training gave numbers that are not finite: nothing is sent in this round");
  return update;
}

}  // namespace sotto::local
