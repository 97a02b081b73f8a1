// Many users' copies at once are the same as one user after another, whatever is batched, padded or
// renumbered.

#include "fl/copy_training.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "fl/plain_means.h"
#include "fl/tiny_interactions.h"

namespace sotto::fl {
namespace {

using testing::TinyInteractions;

constexpr std::uint32_t round = 3;

CopySettings copy_settings(double proximal, std::string norm = "squared") {
  CopySettings settings;
  settings.local_learning_rate = 0.2;
  settings.proximal = proximal;
  settings.proximal_norm = std::move(norm);
  return settings;
}

TaskSettings several_steps() {
  TaskSettings settings;
  settings.negatives = 2, settings.local_epochs = 3, settings.local_batch = 2, settings.local_steps = 0;
  return settings;
}

// Tasks with different numbers of steps, examples and remembered items.
std::vector<model::TabularTask> tasks_of(const TinyInteractions& tiny, const TaskSettings& settings) {
  const auto tasks = InteractionTasks::create(tiny.dataset, tiny.data, tiny.inputs, settings, 1).value();
  std::vector<model::TabularTask> all;
  for (const auto& rows : tiny.data.rows) all.push_back(tasks.training(round, rows));
  return all;
}

torch::Tensor batched(const TinyInteractions& tiny, const std::vector<model::TabularTask>& tasks,
                      std::int64_t user, const CopySettings& settings) {
  const model::TabularChunk chunk = model::make_chunk(tiny.inputs, tasks, torch::kCPU);
  const TrainedCopies trained = train_copies(*tiny.model, chunk, settings);
  torch::Tensor only = torch::zeros_like(trained.losses), flat = torch::zeros_like(tiny.parameters->values());
  only[user] = 1;
  tiny.model->add_differences(chunk, trained.differences, only, flat);
  EXPECT_TRUE(torch::equal(flat, tiny.model->differences_of(chunk, trained.differences, user, 1)[0]));
  return flat;
}

TEST(CopyTraining, EqualsOneUserAfterAnother) {
  for (const model::InputChoice choice :
       {model::InputChoice::paper, model::InputChoice::ids, model::InputChoice::rich}) {
    const TinyInteractions tiny(choice);
    const auto tasks = tasks_of(tiny, several_steps());
    for (const auto& settings : {copy_settings(0), copy_settings(0.7), copy_settings(0.7, "paper")}) {
      for (std::size_t user = 0; user < tasks.size(); ++user) {
        const auto together = batched(tiny, tasks, static_cast<std::int64_t>(user), settings),
                   alone = train_alone(*tiny.model, tiny.inputs, tasks[user], settings);
        EXPECT_LT((together - alone).abs().max().item<double>(), 1e-5)
            << "user " << user << ", mu " << settings.proximal << " " << settings.proximal_norm;
        EXPECT_GT(alone.norm().item<double>(), 1e-3);
      }
    }
  }
}

TEST(CopyTraining, TheProximalTermHoldsCopiesBack) {
  const TinyInteractions tiny;
  const auto tasks = tasks_of(tiny, several_steps());
  const double free = train_alone(*tiny.model, tiny.inputs, tasks[0], copy_settings(0)).norm().item<double>();
  for (const char* norm : {"squared", "paper"})
    EXPECT_LT(train_alone(*tiny.model, tiny.inputs, tasks[0], copy_settings(2, norm)).norm().item<double>(),
              0.98 * free)
        << norm;
}

TEST(Reptile, WithOneStepAndNoProximalTermEqualsFedSgd) {
  TaskSettings one_step;
  one_step.local_epochs = 1, one_step.local_batch = 1000, one_step.local_steps = 1;
  const CopySettings settings = copy_settings(0);
  const TinyInteractions tiny(model::InputChoice::rich, one_step, settings);
  const torch::Tensor direction = tiny.training->mean_update(round, tiny.data.users).direction;

  // FedSGD: the mean over users of the gradient of their loss, by autograd on the whole model.
  torch::Tensor gradient = torch::zeros_like(direction);
  for (const auto& task : tasks_of(tiny, one_step)) {
    CopySettings unit = settings;
    unit.local_learning_rate = 1;
    gradient.sub_(train_alone(*tiny.model, tiny.inputs, task, unit));
  }
  gradient.mul_(settings.local_learning_rate / static_cast<double>(tiny.data.users.size()));
  EXPECT_LT((direction - gradient).abs().max().item<double>(), 1e-6);
  EXPECT_GT(gradient.norm().item<double>(), 1e-3);
}

TEST(InteractionTraining, TheMeanIsTheMeanOfTheUsersUpdatesHoweverChunksAreCut) {
  constexpr std::int64_t wide = 100;  // copies of 20 users do not fit into 1 MiB
  CopySettings little_memory = copy_settings(0.1), enough = little_memory;
  little_memory.copies_mb = 1;
  TinyInteractions tiny(model::InputChoice::rich, several_steps(), little_memory);
  const auto blocks = [&](const CopySettings& settings) {
    tiny.build(several_steps(), settings, MetaLearning::reptile, wide);
    int count = 0;
    EXPECT_TRUE(tiny.training->each_block(round, tiny.data.users, [&](const UpdateBlock&) -> Status {
      ++count;
      return {};
    }));
    return count;
  };
  EXPECT_EQ(blocks(enough), 1);
  const torch::Tensor at_once = tiny.training->mean_update(round, tiny.data.users).direction;
  EXPECT_GT(blocks(little_memory), 2);
  const torch::Tensor mean = tiny.training->mean_update(round, tiny.data.users).direction;
  EXPECT_LT((at_once - mean).abs().max().item<double>(), 1e-6);
  torch::Tensor sum = torch::zeros_like(mean);
  std::vector<data::UserId> seen;
  ASSERT_TRUE(tiny.training->each_update(round, tiny.data.users, [&](const UserUpdate& own) -> Status {
    sum.add_(own.direction);
    seen.push_back(own.user);
    return {};
  }));
  EXPECT_EQ(seen, tiny.data.users);
  EXPECT_LT((sum / static_cast<double>(seen.size()) - mean).abs().max().item<double>(), 1e-6);
}

TEST(InteractionTraining, TheFirstRefusalEndsTheWalk) {
  TinyInteractions tiny;
  int calls = 0;
  const auto status = tiny.training->each_update(round, tiny.data.users, [&](const UserUpdate&) -> Status {
    ++calls;
    return failed("enough");
  });
  EXPECT_FALSE(status);
  EXPECT_EQ(calls, 1);
}

TEST(PlainMeans, RoundsLowerTheLoss) {
  CopySettings settings = copy_settings(0.01);
  TinyInteractions tiny(model::InputChoice::rich, several_steps(), settings);
  PlainMeans source(CohortSampler::create(tiny.data.users, 8, 1).value(), interaction_mean(*tiny.training));
  const double first = source.round(0).value().loss;
  double last = 0;
  for (std::uint32_t r = 0; r < 60; ++r) {
    const auto update = source.round(r).value();
    tiny.parameters->values().sub_(update.direction);
    last = update.loss;
  }
  EXPECT_LT(last, 0.6 * first);
}

// MAML's gradient goes through the local step: compare with differences of the query loss after adaptation.
TEST(Maml, HasTheSecondOrderTerm) {
  const TinyInteractions tiny(model::InputChoice::rich);
  const auto tasks =
      InteractionTasks::create(tiny.dataset, tiny.data, tiny.inputs, several_steps(), 1).value();
  const model::TabularTask task = tasks.halves(round, tiny.data.rows.front());
  ASSERT_EQ(task.steps.size(), 2U);
  const model::TabularChunk chunk = model::make_chunk(tiny.inputs, {&task, 1}, torch::kCPU);
  constexpr double rate = 0.5, h = 1e-3;
  torch::Tensor exact = torch::zeros_like(tiny.parameters->values());
  tiny.model->add_differences(chunk, meta_gradients(*tiny.model, chunk, rate).differences, -torch::ones({1}),
                              exact);

  const auto adapted_loss = [&] {
    model::TabularParts parts = tiny.model->copies(chunk);
    for (auto& part : parts) part.requires_grad_();
    const auto inner = torch::autograd::grad({tiny.model->losses(parts, chunk.steps[0]).sum()}, parts, {},
                                             c10::nullopt, false, true);
    torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (inner[i].defined()) parts[i] = parts[i] - rate * inner[i];
    return tiny.model->losses(parts, chunk.steps[1]).item<double>();
  };
  torch::manual_seed(7);
  const torch::Tensor start = tiny.parameters->values().clone();
  for (int probe = 0; probe < 5; ++probe) {
    const torch::Tensor along = torch::randn_like(start);
    torch::NoGradGuard no_grad;
    tiny.parameters->values().copy_(start + h * along);
    torch::AutoGradMode with_gradients(true);
    const double up = adapted_loss();
    {
      torch::NoGradGuard again;
      tiny.parameters->values().copy_(start - h * along);
    }
    const double down = adapted_loss();
    {
      torch::NoGradGuard again;
      tiny.parameters->values().copy_(start);
    }
    const double expected = (up - down) / (2 * h), found = (exact * along).sum().item<double>();
    EXPECT_NEAR(found, expected, 0.02 * std::abs(expected) + 2e-3) << "probe " << probe;
  }
}

}  // namespace
}  // namespace sotto::fl
