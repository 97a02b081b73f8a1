#include "base/distributions.h"
#include "bench/benchmarks.h"
#include "fl/copy_training.h"

namespace sotto::bench {

namespace {

struct Shape {
  const char* name;
  std::int64_t items, steps;
  std::size_t users, examples;
};
// MovieLens' and a larger catalogue, users of a hundred rows; many short local epochs.
constexpr Shape shapes[] = {{"50 users, 4,000 items, 1 step", 4000, 1, 50, 400},
                            {"50 users, 4,000 items, 10 steps", 4000, 10, 50, 80},
                            {"50 users, 40,000 items, 1 step", 40000, 1, 50, 400}};
constexpr double largest_difference = 1e-4;

std::vector<model::TabularTask> random_tasks(const Shape& shape) {
  SeededRandom random(1, Purpose::test);
  const auto item = [&] {
    return static_cast<data::ItemId>(uniform_below(random, static_cast<std::uint64_t>(shape.items)));
  };
  std::vector<model::TabularTask> tasks(shape.users);
  for (auto& task : tasks) {
    for (int i = 0; i < 50; ++i) task.history.push_back(item());
    task.steps.resize(static_cast<std::size_t>(shape.steps));
    for (auto& step : task.steps)
      for (std::size_t e = 0; e < shape.examples; ++e)
        step.push_back({0, item(), e % 10 == 0 ? 1.0F : 0.0F, 10.0F / static_cast<float>(shape.examples)});
  }
  return tasks;
}

Result<BenchRow> compare(const Shape& shape) {
  model::TabularInputs inputs;
  inputs.choice = model::InputChoice::ids;
  inputs.items = shape.items;
  torch::manual_seed(1);
  const model::TabularModel model(model::TabularShape{}, inputs);
  const auto tasks = random_tasks(shape);
  fl::CopySettings settings;
  settings.local_learning_rate = 0.1;
  settings.proximal = 0.01;

  torch::Tensor together, alone;
  const auto batched = [&] {
    const model::TabularChunk chunk = model::make_chunk(inputs, tasks, torch::kCPU);
    const fl::TrainedCopies trained = fl::train_copies(model, chunk, settings);
    together = torch::zeros_like(alone);
    model.add_differences(chunk, trained.differences, torch::ones_like(trained.losses), together);
  };
  const double before = wall_seconds();
  for (const auto& task : tasks) {
    const torch::Tensor own = fl::train_alone(model, inputs, task, settings);
    alone = alone.defined() ? alone.add_(own) : own;
  }
  const double baseline = wall_seconds() - before;
  batched();  // warms up
  const double start = wall_seconds();
  batched();
  const double ours = wall_seconds() - start;
  if ((together - alone).abs().max().item<double>() > largest_difference)
    return failed("batched copies differ from users one by one");
  return BenchRow{std::string("copies, ") + shape.name, ours, baseline, baseline / ours, "s",
                  "one user after another, whole model"};
}

}  // namespace

Result<std::vector<BenchRow>> bench_copies() {
  std::vector<BenchRow> rows;
  for (const Shape& shape : shapes) {
    SOTTO_TRY(auto row, compare(shape));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sotto::bench
