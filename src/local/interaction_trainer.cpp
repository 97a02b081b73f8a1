#include "local/interaction_trainer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "local/check_numbers.h"

namespace sotto::local {

Result<std::vector<std::int64_t>> parse_values(std::string_view text) {
  constexpr std::int64_t most = 1'000'000;
  std::vector<std::int64_t> values;
  for (const char *at = text.data(), *end = at + text.size(); at != end;) {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value > most ||
        (stop != end && (*stop != ',' || stop + 1 == end)))
      return bad_input("field_values is '{}', must be the numbers of values of the features, as 7,21,18",
                       text);
    values.push_back(value);
    at = stop == end ? end : stop + 1;
  }
  return values;
}

Result<InteractionTrainer::Outcome> InteractionTrainer::descend(const RoundInputs& inputs,
                                                                const OwnEvents& own,
                                                                const StepSettings& settings,
                                                                double learning_rate, RandomSource& draws,
                                                                const Cancelled& cancelled) const {
  SOTTO_CHECK(check_parameters(layout(), inputs.parameters));
  SOTTO_CHECK(network_.check(inputs, own));
  // Situations are named by the place of a row among all.
  const std::size_t left_out =
      own.rows.size() - std::min(own.rows.size(), static_cast<std::size_t>(settings_.max_rows));
  InteractionSteps steps(std::span(own.rows).subspan(left_out), settings,
                         static_cast<std::uint64_t>(settings_.sizes.items), draws);
  Outcome outcome;
  outcome.parameters.assign(inputs.parameters.begin(), inputs.parameters.end());
  Eigen::Map<Eigen::VectorXf> current(outcome.parameters.data(),
                                      static_cast<Index>(outcome.parameters.size()));
  const Eigen::Map<const Eigen::VectorXf> start(inputs.parameters.data(), current.size());
  std::vector<float> gradient(outcome.parameters.size());
  Eigen::Map<Eigen::VectorXf> downhill(gradient.data(), current.size());
  bool is_first = true;
  for (auto examples = steps.next(); !examples.empty(); examples = steps.next()) {
    if (cancelled()) return failed("the training was stopped after {} examples", outcome.examples);
    for (InteractionExample& example : examples) example.row += left_out;
    downhill.setZero();
    const float loss =
        network_.add_gradient(outcome.parameters, inputs, own, steps.history(), examples, gradient);
    if (settings_.proximal > 0 && !is_first) {
      const Eigen::VectorXf away = current - start;
      const double distance = away.norm();
      double pull = settings_.proximal;
      if (settings_.proximal_norm == "paper") pull *= distance > 0 ? 0.5 / distance : 0;
      downhill += static_cast<float>(pull) * away;
    }
    current -= static_cast<float>(learning_rate) * downhill;
    if (is_first) outcome.first_loss = loss;
    outcome.examples += examples.size();
    is_first = false;
  }
  return outcome;
}

Result<LocalUpdate> InteractionTrainer::train(const RoundInputs& inputs, const OwnEvents& own,
                                              RandomSource& draws, const Cancelled& cancelled) const {
  SOTTO_TRY(Outcome outcome,
            descend(inputs, own, settings_.steps, settings_.learning_rate, draws, cancelled));
  LocalUpdate update;
  update.samples = outcome.examples;
  update.loss = outcome.first_loss * static_cast<double>(outcome.examples);
  update.direction = std::move(outcome.parameters);
  for (std::size_t i = 0; i < update.direction.size(); ++i)
    update.direction[i] = inputs.parameters[i] - update.direction[i];
  SOTTO_CHECK(check_result(update));
  return update;
}

Result<std::vector<float>> InteractionTrainer::fine_tuned(const RoundInputs& inputs, const OwnEvents& own,
                                                          std::int64_t epochs, double learning_rate,
                                                          RandomSource& draws,
                                                          const Cancelled& cancelled) const {
  StepSettings steps = settings_.steps;
  steps.epochs = epochs;
  steps.most = 0;
  SOTTO_TRY(Outcome outcome, descend(inputs, own, steps, learning_rate, draws, cancelled));
  if (!all_finite(outcome.parameters))
    return failed("fine-tuning gave numbers that are not finite: rank by the shared parameters");
  return std::move(outcome.parameters);
}

Result<std::vector<float>> InteractionTrainer::rank(const RoundInputs& inputs, const OwnEvents& own,
                                                    const RankingQuestion& question, RandomSource& draws,
                                                    const Cancelled& cancelled) const {
  std::vector<float> parameters(inputs.parameters.begin(), inputs.parameters.end());
  if (settings_.tuning_epochs > 0) {
    SOTTO_TRY(parameters,
              fine_tuned(inputs, own, settings_.tuning_epochs, settings_.tuning_rate, draws, cancelled));
  }
  if (own.context_fields.empty()) {
    SOTTO_TRY(const std::vector<float> all, scores(parameters, inputs, own, 0));
    return chosen_scores(all, question.items);
  }
  if (question.situation.size() != own.context_fields.size())
    return bad_input("{} features of the situation are given, and the model reads {}",
                     question.situation.size(), own.context_fields.size());
  // The situation as that of one row more, which says nothing else.
  OwnEvents asked = own;
  asked.rows.push_back({0, false});
  std::vector<std::pair<std::vector<std::uint64_t>, std::vector<std::uint32_t>>> longer;
  longer.reserve(own.context_fields.size());
  for (std::size_t f = 0; f < own.context_fields.size(); ++f) {
    if (question.situation[f].rows() != 1) return bad_input("a situation is one row of every feature");
    auto& [offsets, codes] = longer.emplace_back();
    offsets.assign(own.context_fields[f].offsets.begin(), own.context_fields[f].offsets.end());
    codes.assign(own.context_fields[f].codes.begin(), own.context_fields[f].codes.end());
    for (const std::uint32_t code : question.situation[f].of(0)) codes.push_back(code);
    offsets.push_back(codes.size());
    asked.context_fields[f] = {offsets, codes};
  }
  SOTTO_TRY(const std::vector<float> all, scores(parameters, inputs, asked, own.rows.size()));
  return chosen_scores(all, question.items);
}

Result<std::vector<float>> InteractionTrainer::scores(std::span<const float> parameters,
                                                      const RoundInputs& inputs, const OwnEvents& own,
                                                      std::size_t situation) const {
  SOTTO_CHECK(check_parameters(layout(), parameters));
  SOTTO_CHECK(network_.check(inputs, own));
  if (!own.context_fields.empty() && situation >= own.rows.size())
    return bad_input("situation {} is not among the reader's {} rows", situation, own.rows.size());
  std::vector<ItemRow> remembered;
  for (const OwnRow& row : own.rows)
    if (row.positive) remembered.push_back(row.item);
  constexpr std::size_t at_once = 1024;
  const auto items = static_cast<std::size_t>(settings_.sizes.items);
  std::vector<float> all;
  all.reserve(items);
  for (std::size_t first = 0; first < items; first += at_once) {
    std::vector<InteractionExample> part;
    for (std::size_t item = first; item < std::min(first + at_once, items); ++item)
      part.push_back({situation, static_cast<ItemRow>(item), 0, 1});
    const auto logits = network_.logits(parameters, inputs, own, remembered, part);
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

}  // namespace sotto::local
