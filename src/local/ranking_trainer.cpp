#include "local/ranking_trainer.h"

#include <algorithm>
#include <unordered_map>

#include "local/check_numbers.h"
#include "local/tape/arithmetic.h"
#include "local/tape/losses.h"

namespace sotto::local {

namespace {

constexpr std::size_t numbers_at_once = std::size_t{4} << 20;  // 16 MB

Status check_rows(const OwnEvents& own, std::size_t items) {
  for (const OwnImpression& impression : own.impressions)
    for (const auto rows : {impression.history, impression.shown})
      for (const ItemRow item : rows)
        if (item >= items)
          return bad_input("an impression names item {} of {}: leave items out that were not fetched", item,
                           items);
  return {};
}

// Numbers of things in the order in which they were first met.
class Numbering {
 public:
  Index of(ItemRow item) {
    const auto [found, is_first] = number_.try_emplace(item, static_cast<Index>(items_.size()));
    if (is_first) items_.push_back(item);
    return found->second;
  }
  const std::vector<ItemRow>& items() const { return items_; }

 private:
  std::unordered_map<ItemRow, Index> number_;
  std::vector<ItemRow> items_;
};

// Some examples with every item and every history once.
struct Piece {
  Numbering items;
  Histories histories;
  RowNumbers pair_history, pair_item;

  explicit Piece(std::span<const RankingExample> examples) {
    std::span<const ItemRow> latest;
    std::vector<std::size_t> blank;  // rows of empty histories
    for (const RankingExample& example : examples) {
      // Clicks on one page have one history.
      if (histories.clicks.empty() || !std::ranges::equal(latest, example.history)) {
        latest = example.history;
        for (const ItemRow item : latest) histories.rows.push_back(items.of(item));
        if (latest.empty()) {
          blank.push_back(histories.rows.size());
          histories.rows.push_back(0);
        }
        histories.offsets.push_back(static_cast<Index>(histories.rows.size()));
        histories.clicks.push_back(static_cast<Index>(latest.size()));
      }
      for (const ItemRow item : example.candidates) {
        pair_history.push_back(static_cast<Index>(histories.clicks.size()) - 1);
        pair_item.push_back(items.of(item));
      }
    }
    for (const std::size_t row : blank) histories.rows[row] = static_cast<Index>(items.items().size());
  }
};

// One training: what a reader's examples say, piece after piece.
class Training {
 public:
  Training(const RankingModel& model, const RoundInputs& inputs, std::span<const RankingExample> examples,
           RandomSource& draws, const Cancelled& cancelled, LocalUpdate& update)
      : model_(model),
        inputs_(inputs),
        examples_(examples),
        draws_(draws),
        cancelled_(cancelled),
        update_(update) {
    for (const RankingExample& example : examples)
      for (const std::span<const ItemRow> rows :
           {example.history, std::span<const ItemRow>(example.candidates)})
        for (const ItemRow item : rows) items_.of(item);
    const auto of_parameters = static_cast<std::ptrdiff_t>(model.layout().size());
    parameter_gradients_ = std::span(update.direction).last(static_cast<std::size_t>(of_parameters));
  }

  Status run() {
    // What the item encoder drops must be the same on the way back.
    const std::uint64_t dropout_seed = draws_();
    vectors_.resize(static_cast<Index>(items_.items().size()), model_.vector_size());
    SOTTO_CHECK(each_piece_of_items(dropout_seed, [&](Index first, const Value<float>& encoded, const auto&) {
      vectors_.middleRows(first, encoded.rows()) = encoded.numbers();
    }));
    if (model_.item_gradients() != ItemGradients::none) of_vectors_.setZero(vectors_.rows(), vectors_.cols());
    for (std::span<const RankingExample> left = examples_; !left.empty();) {
      SOTTO_CHECK(go_on());
      const std::size_t count = examples_at_once(left);
      add_examples(left.first(count));
      left = left.subspan(count);
    }
    if (model_.item_gradients() == ItemGradients::returned) return_gradients();
    if (model_.item_gradients() != ItemGradients::learned) return {};
    return each_piece_of_items(
        dropout_seed, [&](Index first, const Value<float>& encoded, const auto& parameters) {
          // A loss whose gradient is what the examples said.
          Tape<float>& tape = encoded.tape();
          const Value<float> said = tape.constant(of_vectors_.middleRows(first, encoded.rows()));
          const Value<float> sums = dot_rows(encoded, said);
          tape.backward(product(tape.constant(Rows::Ones(1, sums.rows())), sums));
          model_.layout().add_gradients(parameters, parameter_gradients_);
        });
  }

 private:
  Status go_on() const {
    if (!cancelled_()) return {};
    return failed("the training was stopped after {} of {} examples", update_.samples, examples_.size());
  }

  template <class Use>
  Status each_piece_of_items(std::uint64_t dropout_seed, const Use& use) {
    const std::span<const ItemRow> all = items_.items();
    SeededRandom dropout_draws(dropout_seed, Purpose::dropout);
    for (std::size_t first = 0, count = 0; first < all.size(); first += count) {
      SOTTO_CHECK(go_on());
      count = items_at_once(all.subspan(first));
      Tape<float> tape;
      const std::vector<Value<float>> parameters = model_.layout().on(tape, inputs_.parameters);
      Pass pass{tape, parameters, dropout_draws};
      use(static_cast<Index>(first), model_.items(pass, inputs_, all.subspan(first, count)), parameters);
    }
    return {};
  }

  // How many of the first items, or examples, pass together.
  std::size_t items_at_once(std::span<const ItemRow> items) const {
    std::size_t numbers = 0, count = 0;
    while (count < items.size()) {
      numbers += model_.numbers_for(inputs_, items[count]);
      if (count > 0 && numbers > numbers_at_once) break;
      ++count;
    }
    return count;
  }
  std::size_t examples_at_once(std::span<const RankingExample> examples) const {
    const std::size_t most = numbers_at_once / model_.numbers_per_click();
    std::size_t rows = 0, count = 0;
    while (count < examples.size()) {
      rows += examples[count].history.size() + examples[count].candidates.size();
      if (count > 0 && rows > most) break;
      ++count;
    }
    return count;
  }

  void add_examples(std::span<const RankingExample> examples) {
    Piece piece(examples);
    RowNumbers places;
    for (const ItemRow item : piece.items.items()) places.push_back(items_.of(item));
    Rows own(static_cast<Index>(places.size()), vectors_.cols());
    for (Index r = 0; r < own.rows(); ++r) own.row(r) = vectors_.row(places[static_cast<std::size_t>(r)]);

    Tape<float> tape;
    const bool learns = model_.item_gradients() != ItemGradients::none;
    const auto input = learns ? &Tape<float>::trained : &Tape<float>::constant;
    const Value<float> items = (tape.*input)(std::move(own));
    const std::vector<Value<float>> parameters = model_.layout().on(tape, inputs_.parameters);
    Pass pass{tape, parameters, draws_};
    const Value<float> blank = tape.constant(Rows::Zero(1, items.cols()));
    const Value<float> users = model_.users(pass, above(items, blank), piece.histories);
    const Value<float> scores = dot_rows(gather_rows(items, std::move(piece.pair_item)),
                                         gather_rows(users, std::move(piece.pair_history)));
    const Value<float> loss = listwise_loss(scores, static_cast<Index>(examples.front().candidates.size()));
    tape.backward(loss);
    model_.layout().add_gradients(parameters, parameter_gradients_);
    if (learns)
      for (Index r = 0; r < items.rows(); ++r)
        of_vectors_.row(places[static_cast<std::size_t>(r)]) += items.gradient().row(r);
    update_.loss += loss.numbers()(0, 0);
    update_.samples += examples.size();
  }

  void return_gradients() {
    Eigen::Map<Rows> all(
        update_.direction.data(),
        static_cast<Index>(update_.direction.size() - parameter_gradients_.size()) / vectors_.cols(),
        vectors_.cols());
    for (std::size_t i = 0; i < items_.items().size(); ++i)
      all.row(static_cast<Index>(items_.items()[i])) = of_vectors_.row(static_cast<Index>(i));
  }

  const RankingModel& model_;
  const RoundInputs& inputs_;
  std::span<const RankingExample> examples_;
  RandomSource& draws_;
  const Cancelled& cancelled_;
  LocalUpdate& update_;
  std::span<float> parameter_gradients_;
  Numbering items_;
  Rows vectors_, of_vectors_;  // of items_, and the gradients of the loss by them
};

}  // namespace

std::size_t RankingTrainer::dimension(std::size_t items, std::uint64_t /*round*/) const {
  const bool returned = model_->item_gradients() == ItemGradients::returned;
  return layout().size() + (returned ? items * static_cast<std::size_t>(model_->vector_size()) : 0);
}

Result<LocalUpdate> RankingTrainer::train(const RoundInputs& inputs, const OwnEvents& own,
                                          RandomSource& draws, const Cancelled& cancelled) const {
  SOTTO_CHECK(check_parameters(layout(), inputs.parameters));
  SOTTO_TRY(const std::size_t items, model_->count_items(inputs));
  SOTTO_CHECK(check_rows(own, items));
  SOTTO_TRY(const std::vector<RankingExample> examples, examples_of(own.impressions, settings_, draws));
  LocalUpdate update;
  update.direction.assign(dimension(items, inputs.round), 0);
  SOTTO_CHECK(Training(*model_, inputs, examples, draws, cancelled, update).run());
  SOTTO_CHECK(check_result(update));
  return update;
}

Result<std::vector<float>> RankingTrainer::rank(const RoundInputs& inputs, const OwnEvents& /*own*/,
                                                const RankingQuestion& question, RandomSource& draws,
                                                const Cancelled& cancelled) const {
  SOTTO_CHECK(check_parameters(layout(), inputs.parameters));
  SOTTO_TRY(const std::size_t items, model_->count_items(inputs));
  const auto history = question.history.last(
      std::min(question.history.size(), static_cast<std::size_t>(settings_.max_history)));
  for (const auto rows : {history, question.items})
    if (const auto unknown =
            std::find_if(rows.begin(), rows.end(), [&](ItemRow item) { return item >= items; });
        unknown != rows.end())
      return bad_input("item {} of {} cannot be ranked: it was not fetched", *unknown, items);
  if (question.items.empty()) return std::vector<float>();
  if (cancelled()) return failed("the ranking was stopped before it began");
  const RankingExample example{history, {question.items.begin(), question.items.end()}};
  Piece piece({&example, 1});
  Tape<float> tape;
  const std::vector<Value<float>> parameters = layout().on(tape, inputs.parameters);
  Pass pass{tape, parameters, draws, false};
  const Value<float> vectors = model_->items(pass, inputs, piece.items.items());
  const Value<float> blank = tape.constant(Rows::Zero(1, vectors.cols()));
  const Value<float> users = model_->users(pass, above(vectors, blank), piece.histories);
  const Rows& scores = dot_rows(gather_rows(vectors, std::move(piece.pair_item)),
                                gather_rows(users, std::move(piece.pair_history)))
                           .numbers();
  std::vector<float> all(scores.data(), scores.data() + scores.size());
  if (!all_finite(all)) return failed("the version of the model ranks by numbers that are not finite");
  return all;
}

}  // namespace sotto::local
