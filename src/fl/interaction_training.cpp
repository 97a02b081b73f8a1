#include "fl/interaction_training.h"

#include <map>

namespace sotto {

using torch::Tensor;

namespace {

// Copies, their start, gradients and what autograd keeps of them.
constexpr std::int64_t tensors_per_copy = 6;

std::uint64_t examples_of(const TabularTask& task) {
  std::uint64_t examples = 0;
  for (const auto& step : task.steps) examples += step.size();
  return examples;
}

// Row numbers by the context they share, in order of their first row: one scoring serves all of them.
std::vector<std::vector<std::uint64_t>> situations(const TabularInputs& inputs,
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

InteractionTraining::InteractionTraining(const InteractionData& data, const TabularInputs& inputs,
                                         InteractionTasks tasks, const TabularModel& model,
                                         FlatParameters& parameters, const CopySettings& settings,
                                         MetaLearning method)
    : data_(data),
      inputs_(inputs),
      tasks_(std::move(tasks)),
      model_(model),
      parameters_(parameters),
      settings_(settings),
      method_(method) {}

TabularTask InteractionTraining::task_of(std::uint32_t round, UserId user) const {
  const UserRows& rows = data_.of(user);
  return method_ == MetaLearning::maml ? tasks_.halves(round, rows) : tasks_.training(round, rows);
}

std::size_t InteractionTraining::chunk_end(std::span<const TabularTask> tasks, std::size_t begin) const {
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

Status InteractionTraining::in_chunks(std::span<const TabularTask> tasks, const ChunkUse& use) const {
  for (std::size_t begin = 0; begin < tasks.size();) {
    const std::size_t end = chunk_end(tasks, begin);
    const auto part = tasks.subspan(begin, end - begin);
    const TabularChunk chunk = make_chunk(inputs_, part, parameters_.values().device());
    const TrainedCopies trained = method_ == MetaLearning::maml
                                      ? meta_gradients(model_, chunk, settings_.local_learning_rate)
                                      : train_copies(model_, chunk, settings_);
    SOTTO_CHECK(use(part, chunk, trained));
    begin = end;
  }
  return {};
}

MeanUpdate InteractionTraining::mean_update(std::uint32_t round, std::span<const UserId> users) {
  std::vector<TabularTask> tasks;
  for (const UserId user : users) tasks.push_back(task_of(round, user));
  MeanUpdate mean;
  mean.direction = torch::zeros_like(parameters_.values());
  const double share = -1 / static_cast<double>(users.size());
  const auto add = [&](std::span<const TabularTask> part, const TabularChunk& chunk,
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

Status InteractionTraining::each_update(std::uint32_t round, std::span<const UserId> users,
                                        const std::function<Status(const UserUpdate&)>& take) {
  std::vector<TabularTask> tasks;
  for (const UserId user : users) tasks.push_back(task_of(round, user));
  UserUpdate update;
  return in_chunks(tasks,
                   [&](std::span<const TabularTask> part, const TabularChunk& chunk,
                       const TrainedCopies& trained) -> Status {
                     for (std::size_t u = 0; u < part.size(); ++u) {
                       const auto own = static_cast<std::int64_t>(u);
                       update.direction = model_.difference_of(chunk, trained.differences, own).neg_();
                       update.user = part[u].user;
                       update.samples = examples_of(part[u]);
                       // A device's loss is a mean; what is handed out is summed over its samples.
                       update.loss = trained.losses[own].item<double>() * static_cast<double>(update.samples);
                       SOTTO_CHECK(take(update));
                     }
                     return {};
                   });
}

void InteractionTraining::score_one(std::size_t test_user, const TabularParts& parts,
                                    const TakeScores& take) const {
  const TestUser& user = data_.test[test_user];
  const auto history = tasks_.remembered(user.support);
  for (const auto& rows : situations(inputs_, user.query)) {
    const TabularBatch batch =
        catalogue_batch(inputs_, user.support.user, rows.front(), history, parameters_.values().device());
    const Tensor scores = model_.logits(parts, batch).to(torch::kCPU).contiguous();
    take(test_user, rows, scores.data_ptr<float>());
  }
}

void InteractionTraining::score_test_users(std::int64_t tuning_epochs, double tuning_rate,
                                           const TakeScores& take) const {
  CopySettings tuning = settings_;
  tuning.local_learning_rate = tuning_rate;
  std::vector<TabularTask> tasks;
  for (const auto& user : data_.test)
    tasks.push_back(tuning_epochs > 0 ? tasks_.tuning(user.support, tuning_epochs)
                                      : TabularTask{user.support.user, {}, {}});
  for (std::size_t begin = 0; begin < tasks.size();) {
    const std::size_t end = chunk_end(tasks, begin);
    const TabularChunk chunk =
        make_chunk(inputs_, std::span(tasks).subspan(begin, end - begin), parameters_.values().device());
    TabularParts tuned = train_copies(model_, chunk, tuning).differences;
    torch::NoGradGuard no_grad;
    const TabularParts start = model_.copies(chunk);
    for (std::size_t i = 0; i < tuned.size(); ++i) tuned[i] += start[i];
    for (std::size_t u = begin; u < end; ++u)
      score_one(u, model_.personal(chunk, tuned, static_cast<std::int64_t>(u - begin)), take);
    begin = end;
  }
}

}  // namespace sotto
