#include "model/interactions/tabular_batch.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace sotto::model {

namespace {

using torch::Tensor;

// Which rows of one table a copy needs, numbered in the order of their first use.
class TouchedRows {
 public:
  explicit TouchedRows(bool whole_table) : whole_table_(whole_table) {}
  std::int64_t place(std::uint32_t code) {
    if (whole_table_) return code;
    const auto [found, added] = places_.emplace(code, static_cast<std::int64_t>(rows_.size()));
    if (added) rows_.push_back(code);
    return found->second;
  }
  const std::vector<std::int64_t>& rows() const { return rows_; }

 private:
  bool whole_table_;
  std::unordered_map<std::uint32_t, std::int64_t> places_;
  std::vector<std::int64_t> rows_;
};

// Distinct items with how often they occur.
std::unordered_map<data::ItemId, std::uint32_t> times_of(std::span<const data::ItemId> history) {
  std::unordered_map<data::ItemId, std::uint32_t> times;
  for (const data::ItemId item : history) ++times[item];
  return times;
}

template <class T>
Tensor tensor_of(const std::vector<T>& values, at::IntArrayRef sizes, torch::ScalarType type,
                 torch::Device device) {
  return torch::from_blob(const_cast<T*>(values.data()), sizes, type).clone().to(device);
}

// Where the values of a field come from for one example.
std::span<const std::uint32_t> values_of(const TabularInputs& inputs, std::size_t field, data::UserId user,
                                         const TabularExample& example) {
  if (field < inputs.user.size()) return inputs.user[field].of(user);
  field -= inputs.user.size();
  if (field < inputs.context.size()) return inputs.context[field].of(example.row);
  return inputs.item[field - inputs.context.size()].of(example.item);
}

// One user of a chunk while it is being written.
struct ChunkUser {
  ChunkUser(const TabularInputs& inputs, bool whole_tables)
      : spaces(inputs.field_count() + 2, TouchedRows(whole_tables)) {}
  std::vector<TouchedRows> spaces;
  std::unordered_map<data::ItemId, std::uint32_t> remembered;
  std::vector<std::int64_t> history;
};

class ChunkWriter {
 public:
  ChunkWriter(const TabularInputs& inputs, bool whole_tables, torch::Device device)
      : inputs_(inputs), whole_tables_(whole_tables), device_(device) {}

  void remember(std::span<const data::ItemId> history) {
    ChunkUser user(inputs_, whole_tables_);
    if (reads_history(inputs_.choice)) {
      user.remembered = times_of(history);
      // In the order of the history: the result must not depend on how a hash map is laid out.
      std::unordered_map<data::ItemId, bool> written;
      for (const data::ItemId item : history)
        if (written.emplace(item, true).second)
          user.history.push_back(user.spaces[inputs_.field_count()].place(item));
    }
    users_.push_back(std::move(user));
  }

  // examples[u]: of user u of the chunk.
  TabularBatch batch(std::span<const data::UserId> users,
                     const std::vector<std::span<const TabularExample>>& examples);
  void write_history(std::vector<TabularBatch>& steps);
  std::vector<Tensor> touched();

 private:
  TabularBatch::Field field(std::size_t number, std::span<const data::UserId> users,
                            const std::vector<std::span<const TabularExample>>& examples, std::size_t rows);

  const TabularInputs& inputs_;
  bool whole_tables_;
  torch::Device device_;
  std::vector<ChunkUser> users_;
};

TabularBatch::Field ChunkWriter::field(std::size_t number, std::span<const data::UserId> users,
                                       const std::vector<std::span<const TabularExample>>& examples,
                                       std::size_t rows) {
  std::size_t most = 1;
  for (std::size_t u = 0; u < users.size(); ++u)
    for (const auto& example : examples[u])
      most = std::max(most, values_of(inputs_, number, users[u], example).size());
  std::vector<std::int64_t> codes(users.size() * rows * most, 0);
  std::vector<float> weights(codes.size(), 0);
  for (std::size_t u = 0; u < users.size(); ++u) {
    for (std::size_t b = 0; b < examples[u].size(); ++b) {
      const auto values = values_of(inputs_, number, users[u], examples[u][b]);
      const std::size_t base = (u * rows + b) * most;
      for (std::size_t k = 0; k < values.size(); ++k) {
        codes[base + k] = users_[u].spaces[number].place(values[k]);
        weights[base + k] = 1 / static_cast<float>(values.size());
      }
    }
  }
  const std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(users.size()),
                                           static_cast<std::int64_t>(rows), static_cast<std::int64_t>(most)};
  return {tensor_of(codes, sizes, torch::kInt64, device_),
          tensor_of(weights, sizes, torch::kFloat32, device_)};
}

TabularBatch ChunkWriter::batch(std::span<const data::UserId> users,
                                const std::vector<std::span<const TabularExample>>& examples) {
  std::size_t rows = 1;
  for (const auto& own : examples) rows = std::max(rows, own.size());
  TabularBatch batch;
  for (std::size_t number = 0; number < inputs_.field_count(); ++number)
    batch.fields.push_back(field(number, users, examples, rows));

  const auto number_count = static_cast<std::size_t>(tabular_numbers(inputs_.choice));
  std::vector<float> numbers(users.size() * rows * number_count, 0);
  std::vector<std::int64_t> items(users.size() * rows, 0);
  std::vector<float> labels(items.size(), 0), weights(items.size(), 0), active(users.size(), 0);
  for (std::size_t u = 0; u < users.size(); ++u) {
    active[u] = examples[u].empty() ? 0 : 1;
    for (std::size_t b = 0; b < examples[u].size(); ++b) {
      const auto& example = examples[u][b];
      const std::size_t at = u * rows + b;
      labels[at] = example.label;
      weights[at] = example.weight;
      if (reads_history(inputs_.choice)) {
        items[at] = users_[u].spaces[inputs_.field_count() + 1].place(example.item);
        if (const auto times = users_[u].remembered.find(example.item); times != users_[u].remembered.end())
          numbers[at] = std::log1p(static_cast<float>(times->second));
      } else if (!inputs_.counts.empty()) {
        const auto& own = inputs_.counts[users[u]];
        if (const auto count = own.find(example.item); count != own.end()) numbers[at] = count->second;
      }
    }
  }
  const auto count = static_cast<std::int64_t>(users.size()), width = static_cast<std::int64_t>(rows);
  batch.numbers =
      tensor_of(numbers, {count, width, static_cast<std::int64_t>(number_count)}, torch::kFloat32, device_);
  batch.items = tensor_of(items, {count, width}, torch::kInt64, device_);
  batch.labels = tensor_of(labels, {count, width}, torch::kFloat32, device_);
  batch.weights = tensor_of(weights, {count, width}, torch::kFloat32, device_);
  batch.active = tensor_of(active, {count}, torch::kFloat32, device_);
  return batch;
}

void ChunkWriter::write_history(std::vector<TabularBatch>& steps) {
  std::size_t longest = 1;
  for (const auto& user : users_) longest = std::max(longest, user.history.size());
  std::vector<std::int64_t> codes(users_.size() * longest, 0);
  std::vector<float> weights(codes.size(), 0);
  for (std::size_t u = 0; u < users_.size(); ++u) {
    const auto& own = users_[u].history;
    for (std::size_t l = 0; l < own.size(); ++l) {
      codes[u * longest + l] = own[l];
      weights[u * longest + l] = 1 / std::sqrt(static_cast<float>(own.size()));
    }
  }
  const std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(users_.size()),
                                           static_cast<std::int64_t>(longest)};
  const Tensor history = tensor_of(codes, sizes, torch::kInt64, device_),
               history_weights = tensor_of(weights, sizes, torch::kFloat32, device_);
  for (auto& step : steps) step.history = history, step.history_weights = history_weights;
}

std::vector<Tensor> ChunkWriter::touched() {
  std::vector<Tensor> tables;
  for (std::size_t space = 0; space < inputs_.field_count() + 2; ++space) {
    std::size_t most = 1;
    for (const auto& user : users_) most = std::max(most, user.spaces[space].rows().size());
    std::vector<std::int64_t> rows(users_.size() * most, 0);
    for (std::size_t u = 0; u < users_.size(); ++u)
      std::copy(users_[u].spaces[space].rows().begin(), users_[u].spaces[space].rows().end(),
                rows.begin() + static_cast<std::ptrdiff_t>(u * most));
    tables.push_back(tensor_of(rows,
                               {static_cast<std::int64_t>(users_.size()), static_cast<std::int64_t>(most)},
                               torch::kInt64, device_));
  }
  return tables;
}

}  // namespace

// With a history: how often the item is in it (log). Leaking: cnt.
std::int64_t tabular_numbers(InputChoice choice) { return choice == InputChoice::paper ? 0 : 1; }

TabularChunk make_chunk(const TabularInputs& inputs, std::span<const TabularTask> tasks,
                        torch::Device device) {
  ChunkWriter writer(inputs, false, device);
  std::vector<data::UserId> users;
  std::size_t steps = 0;
  for (const auto& task : tasks) {
    writer.remember(task.history);
    users.push_back(task.user);
    steps = std::max(steps, task.steps.size());
  }
  TabularChunk chunk;
  chunk.users = static_cast<std::int64_t>(tasks.size());
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<std::span<const TabularExample>> examples;
    for (const auto& task : tasks)
      examples.push_back(step < task.steps.size() ? std::span<const TabularExample>(task.steps[step])
                                                  : std::span<const TabularExample>());
    chunk.steps.push_back(writer.batch(users, examples));
  }
  writer.write_history(chunk.steps);
  chunk.touched = writer.touched();
  return chunk;
}

TabularBatch catalogue_batch(const TabularInputs& inputs, data::UserId user, std::uint64_t row,
                             std::span<const data::ItemId> history, torch::Device device) {
  std::vector<TabularExample> examples(static_cast<std::size_t>(inputs.items));
  for (std::size_t item = 0; item < examples.size(); ++item)
    examples[item] = {row, static_cast<data::ItemId>(item), 0, 1};
  ChunkWriter writer(inputs, true, device);
  writer.remember(history);
  std::vector<TabularBatch> batches;
  batches.push_back(writer.batch({&user, 1}, {std::span<const TabularExample>(examples)}));
  writer.write_history(batches);
  return std::move(batches.front());
}

}  // namespace sotto::model
