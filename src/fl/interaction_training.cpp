#include "fl/interaction_training.h"

#include <algorithm>
#include <map>

#include "base/interrupt.h"
#include "fl/process_group.h"
#include "local/interaction_steps.h"

namespace sotto::fl {

namespace {

// Draws of fine-tuning do not follow the rounds.
constexpr std::uint32_t tuning_round = 0xFFFFFFFF;

}  // namespace

void TaskSettings::bind(SettingsTable& table) {
  table
      .add_choice("labels", labels, {"sampled", "ratings"},
                  "Negatives: items the user never touched (sampled), or rows rated low (the paper's)")
      .add("negatives", negatives, {1, 1000}, "Sampled negatives per positive")
      .add("local_batch", local_batch, {1, 1000000}, "Positives per local step");
}

void TaskSettings::bind_local_epochs(SettingsTable& table) {
  table.add("local_epochs", local_epochs, {1, 10000}, "Local epochs of a device in a round (E2)")
      .add("local_steps", local_steps, {0, 1000000}, "Local steps of a round at most; 0: all of the epochs");
}

Result<InteractionTasks> InteractionTasks::create(const data::Dataset& dataset, const InteractionData& data,
                                                  const model::TabularInputs& inputs,
                                                  const TaskSettings& settings, std::uint64_t seed) {
  const bool any_negative = std::any_of(data.rows.begin(), data.rows.end(),
                                        [](const UserRows& user) { return !user.negative.empty(); });
  if (settings.labels == "ratings" && !any_negative)
    return bad_input("{} has no row that is not positive: use labels=sampled", dataset.name());
  return InteractionTasks(dataset, inputs, settings, seed);
}

// Only of the rows given: what a test user will use is not known to its device yet.
model::TabularTask InteractionTasks::draw(const UserRows& rows, std::int64_t epochs, std::int64_t most_steps,
                                          RandomSource& random) const {
  const auto& items = dataset_.interactions().items;
  std::vector<local::OwnRow> own;
  std::vector<std::uint64_t> row_of_own;
  for (const auto* list : {&rows.positive, &rows.negative})
    for (const std::uint64_t row : *list) {
      own.push_back({items[row], list == &rows.positive});
      row_of_own.push_back(row);
    }
  local::InteractionSteps steps(own,
                                {settings_.labels, settings_.negatives, epochs, settings_.local_batch,
                                 most_steps, model::reads_history(inputs_.choice)},
                                dataset_.item_count(), random);
  model::TabularTask task;
  task.user = rows.user;
  task.history = steps.history();
  for (auto examples = steps.next(); !examples.empty(); examples = steps.next()) {
    task.steps.emplace_back();
    for (const local::InteractionExample& example : examples)
      task.steps.back().push_back({row_of_own[example.row], example.item, example.label, example.weight});
  }
  return task;
}

model::TabularTask InteractionTasks::training(std::uint32_t round, const UserRows& rows) const {
  SeededRandom random(seed_, Purpose::negative_sampling, round, rows.user);
  return draw(rows, settings_.local_epochs, settings_.local_steps, random);
}

model::TabularTask InteractionTasks::halves(std::uint32_t round, const UserRows& rows) const {
  SeededRandom random(seed_, Purpose::negative_sampling, round, rows.user);
  model::TabularTask task = draw(rows, 1, 1, random);
  // draw() remembers one half and predicts the other; both steps predict from the same memory.
  if (task.steps.empty()) return task;
  std::vector<model::TabularExample> support, query;
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

model::TabularTask InteractionTasks::tuning(const UserRows& support, std::int64_t epochs) const {
  SeededRandom random(seed_, Purpose::negative_sampling, tuning_round, support.user);
  model::TabularTask task;
  task.user = support.user;
  if (!support.positive.empty()) task = draw(support, epochs, 0, random);
  return task;
}

std::vector<data::ItemId> InteractionTasks::remembered(const UserRows& support) const {
  std::vector<data::ItemId> items;
  if (!model::reads_history(inputs_.choice)) return items;
  for (const std::uint64_t row : support.positive) items.push_back(dataset_.interactions().items[row]);
  return items;
}

using torch::Tensor;

namespace {

// Copies, their start, gradients and what autograd keeps of them.
constexpr std::int64_t tensors_per_copy = 6;

std::uint64_t examples_of(const model::TabularTask& task) {
  std::uint64_t examples = 0;
  for (const auto& step : task.steps) examples += step.size();
  return examples;
}

// Row numbers by the context they share, in order of their first row: one scoring serves all of them.
std::vector<std::vector<std::uint64_t>> situations(const model::TabularInputs& inputs,
                                                   const std::vector<std::uint64_t>& rows) {
  std::map<std::vector<std::uint32_t>, std::size_t> known;
  std::vector<std::vector<std::uint64_t>> groups;
  for (const std::uint64_t row : rows) {
    std::vector<std::uint32_t> key;
    for (const auto& field : inputs.context) {
      const auto codes = field.of(row);
      key.insert(key.end(), codes.begin(), codes.end());
      key.push_back(static_cast<std::uint32_t>(field.values));  // no code: ends the list
    }
    const auto [group, added] = known.emplace(std::move(key), groups.size());
    if (added) groups.emplace_back();
    groups[group->second].push_back(row);
  }
  return groups;
}

}  // namespace

InteractionTraining::InteractionTraining(const InteractionData& data, const model::TabularInputs& inputs,
                                         InteractionTasks tasks, const model::TabularModel& model,
                                         model::FlatParameters& parameters, const CopySettings& settings,
                                         MetaLearning method)
    : data_(data),
      inputs_(inputs),
      tasks_(std::move(tasks)),
      model_(model),
      parameters_(parameters),
      settings_(settings),
      method_(method) {}

model::TabularTask InteractionTraining::task_of(std::uint32_t round, data::UserId user) const {
  const UserRows& rows = data_.of(user);
  return method_ == MetaLearning::maml ? tasks_.halves(round, rows) : tasks_.training(round, rows);
}

std::size_t InteractionTraining::chunk_end(std::span<const model::TabularTask> tasks,
                                           std::size_t begin) const {
  // Every example may touch a row of its own in every item table; a chunk is as wide as its widest user.
  std::int64_t columns = 0, dense = 0;
  for (const Tensor& part : model_.parts())
    part.size(0) == inputs_.items ? columns += part.size(1) : dense += part.numel();
  const std::int64_t budget = settings_.copies_mb * (1 << 20) / static_cast<std::int64_t>(sizeof(float));
  std::int64_t widest = 0;
  std::size_t end = begin;
  while (end < tasks.size()) {
    const auto rows = static_cast<std::int64_t>(examples_of(tasks[end]) + tasks[end].history.size());
    widest = std::max(widest, dense + columns * std::min(rows, inputs_.items));
    if (end > begin && widest * tensors_per_copy * static_cast<std::int64_t>(end + 1 - begin) > budget) break;
    ++end;
  }
  return end;
}

Status InteractionTraining::in_chunks(std::span<const model::TabularTask> tasks, const ChunkUse& use) const {
  for (std::size_t begin = 0; begin < tasks.size();) {
    const std::size_t end = chunk_end(tasks, begin);
    const auto part = tasks.subspan(begin, end - begin);
    const model::TabularChunk chunk = model::make_chunk(inputs_, part, parameters_.values().device());
    const TrainedCopies trained = method_ == MetaLearning::maml
                                      ? meta_gradients(model_, chunk, settings_.local_learning_rate)
                                      : train_copies(model_, chunk, settings_);
    SOTTO_CHECK(use(part, chunk, trained));
    begin = end;
  }
  return {};
}

MeanUpdate InteractionTraining::mean_update(std::uint32_t round, std::span<const data::UserId> users) {
  std::vector<model::TabularTask> tasks;
  for (const data::UserId user : users) tasks.push_back(task_of(round, user));
  MeanUpdate mean;
  mean.direction = torch::zeros_like(parameters_.values());
  const double share = -1 / static_cast<double>(users.size());
  const auto add = [&](std::span<const model::TabularTask> part, const model::TabularChunk& chunk,
                       const TrainedCopies& trained) -> Status {
    model_.add_differences(chunk, trained.differences, torch::full_like(trained.losses, share),
                           mean.direction);
    mean.loss += trained.losses.sum().item<double>() / static_cast<double>(users.size());
    for (const auto& task : part) mean.samples += examples_of(task);
    return {};
  };
  (void)in_chunks(tasks, add);  // add never fails
  return mean;
}

Status InteractionTraining::each_block(std::uint32_t round, std::span<const data::UserId> users,
                                       const std::function<Status(const UpdateBlock&)>& take) {
  std::vector<model::TabularTask> tasks;
  for (const data::UserId user : users) tasks.push_back(task_of(round, user));
  const auto fit = static_cast<std::int64_t>(block_bytes / sizeof(float)) / parameters_.size();
  std::size_t done = 0;
  return in_chunks(
      tasks,
      [&](std::span<const model::TabularTask> part, const model::TabularChunk& chunk,
          const TrainedCopies& trained) -> Status {
        const Tensor means = trained.losses.to(torch::kCPU, torch::kFloat64).contiguous();
        const auto all = static_cast<std::int64_t>(part.size());
        for (std::int64_t first = 0; first < all;) {
          const std::int64_t count = std::min(std::max<std::int64_t>(fit, 1), all - first);
          std::vector<double> losses;
          std::vector<std::uint64_t> samples;
          for (std::int64_t u = first; u < first + count; ++u) {
            samples.push_back(examples_of(part[static_cast<std::size_t>(u)]));
            // A device's loss is a mean; what is handed out is summed over its samples.
            losses.push_back(means.data_ptr<double>()[u] * static_cast<double>(samples.back()));
          }
          const Tensor rows = model_.differences_of(chunk, trained.differences, first, count).neg_();
          SOTTO_CHECK(take({users.subspan(done, static_cast<std::size_t>(count)), rows, losses, samples}));
          done += static_cast<std::size_t>(count);
          first += count;
        }
        return {};
      });
}

Status InteractionTraining::each_update(std::uint32_t round, std::span<const data::UserId> users,
                                        const std::function<Status(const UserUpdate&)>& take) {
  return each_block(round, users, [&](const UpdateBlock& block) -> Status {
    for (std::size_t i = 0; i < block.users.size(); ++i)
      SOTTO_CHECK(take({block.users[i], block.directions[static_cast<std::int64_t>(i)], block.losses[i],
                        block.samples[i]}));
    return {};
  });
}

void InteractionTraining::score_one(std::size_t test_user, const model::TabularParts& parts,
                                    const TakeScores& take) const {
  const TestUser& user = data_.test[test_user];
  const auto history = tasks_.remembered(user.support);
  for (const auto& rows : situations(inputs_, user.query)) {
    const model::TabularBatch batch = model::catalogue_batch(inputs_, user.support.user, rows.front(),
                                                             history, parameters_.values().device());
    const Tensor scores = model_.logits(parts, batch).to(torch::kCPU).contiguous();
    take(test_user, rows, scores.data_ptr<float>());
  }
}

void InteractionTraining::score_test_users(std::int64_t tuning_epochs, double tuning_rate,
                                           const TakeScores& take) const {
  CopySettings tuning = settings_;
  tuning.local_learning_rate = tuning_rate;
  std::vector<model::TabularTask> tasks;
  for (const auto& user : data_.test)
    tasks.push_back(tuning_epochs > 0 ? tasks_.tuning(user.support, tuning_epochs)
                                      : model::TabularTask{user.support.user, {}, {}});
  const auto share = processes().part_of(tasks.size());
  for (std::size_t begin = share.begin; begin < share.end && !interrupted();) {
    const std::size_t end = chunk_end(std::span(tasks).first(share.end), begin);
    const model::TabularChunk chunk = model::make_chunk(inputs_, std::span(tasks).subspan(begin, end - begin),
                                                        parameters_.values().device());
    model::TabularParts tuned = train_copies(model_, chunk, tuning).differences;
    torch::NoGradGuard no_grad;
    const model::TabularParts start = model_.copies(chunk);
    for (std::size_t i = 0; i < tuned.size(); ++i) tuned[i] += start[i];
    for (std::size_t u = begin; u < end; ++u)
      score_one(u, model_.personal(chunk, tuned, static_cast<std::int64_t>(u - begin)), take);
    begin = end;
  }
}

}  // namespace sotto::fl
