// PrivRec's training on a device in Eigen against libtorch's, for every reader of a small data set.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fl/newsroom_training.h"
#include "fl/pair_fold.h"
#include "fl/tiny_interactions.h"
#include "local/interaction_trainer.h"
#include "local/item_sums.h"

namespace sotto::fl {
namespace {

using testing::expect_same;
using testing::TinyInteractions;

using Settings = std::vector<std::pair<std::string, std::string>>;

// What a device has of its user's rows. The fields of the reader and of situations are cut out for it.
struct Device {
  Device(const TinyInteractions& tiny, const UserRows& rows) {
    for (const auto* list : {&rows.positive, &rows.negative})
      for (const std::uint64_t row : *list) {
        own.rows.push_back({tiny.dataset.interactions().items[row], list == &rows.positive});
        all_rows.push_back(row);
      }
    storage.reserve(tiny.inputs.user.size() + tiny.inputs.context.size());
    for (const auto& field : tiny.inputs.user) own.user_fields.push_back(cut(field, {rows.user}));
    for (const auto& field : tiny.inputs.context) own.context_fields.push_back(cut(field, all_rows));
  }
  local::CodeField cut(const model::TabularField& field, const std::vector<std::uint64_t>& rows) {
    storage.emplace_back();
    auto& [offsets, codes] = storage.back();
    offsets.push_back(0);
    for (const std::uint64_t row : rows) {
      const auto values = field.of(row);
      codes.insert(codes.end(), values.begin(), values.end());
      offsets.push_back(codes.size());
    }
    return {offsets, codes};
  }
  std::vector<std::pair<std::vector<std::uint64_t>, std::vector<std::uint32_t>>> storage;
  std::vector<std::uint64_t> all_rows;
  local::OwnEvents own;
};

local::RoundInputs inputs_of(const TinyInteractions& tiny) {
  local::RoundInputs inputs;
  const torch::Tensor& values = tiny.parameters->values();
  inputs.parameters = {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())};
  for (const auto& field : tiny.inputs.item) inputs.item_fields.push_back({field.offsets, field.codes});
  return inputs;
}

std::string text_of(double number) { return fmt::format("{}", number); }

std::unique_ptr<local::LocalTrainer> trainer_of(const TinyInteractions& tiny, const std::string& choice,
                                                const TaskSettings& tasks, const CopySettings& copies) {
  std::string values;
  for (std::size_t f = 0; f < tiny.inputs.field_count(); ++f)
    values += (f > 0 ? "," : "") + std::to_string(tiny.inputs.values_of(f));
  const Settings settings = {{"inputs", choice},
                             {"catalogue", std::to_string(tiny.inputs.items)},
                             {"field_values", values},
                             {"user_fields", std::to_string(tiny.inputs.user.size())},
                             {"context_fields", std::to_string(tiny.inputs.context.size())},
                             {"embedding", "4"},
                             {"hidden", "5"},
                             {"layers", "2"},
                             {"labels", tasks.labels},
                             {"negatives", std::to_string(tasks.negatives)},
                             {"local_batch", std::to_string(tasks.local_batch)},
                             {"local_epochs", std::to_string(tasks.local_epochs)},
                             {"local_steps", std::to_string(tasks.local_steps)},
                             {"local_learning_rate", text_of(copies.local_learning_rate)},
                             {"proximal", text_of(copies.proximal)},
                             {"proximal_norm", copies.proximal_norm}};
  return local::find_trainer("dp-privrec", settings).value();
}

constexpr std::uint32_t chosen_round = 3;

void expect_equal_updates(TinyInteractions& tiny, const local::LocalTrainer& trainer) {
  ASSERT_EQ(trainer.layout().text(), tiny.parameters->layout());
  const local::RoundInputs inputs = inputs_of(tiny);
  std::size_t seen = 0;
  ASSERT_TRUE(
      tiny.training->each_update(chosen_round, tiny.data.users, [&](const UserUpdate& expected) -> Status {
        ++seen;
        const Device device(tiny, tiny.data.of(expected.user));
        SeededRandom draws(1, Purpose::negative_sampling, chosen_round, expected.user);
        SOTTO_TRY(local::LocalUpdate own, trainer.train(inputs, device.own, draws, [] { return false; }));
        expect_same(torch::from_blob(own.direction.data(), {expected.direction.numel()}), expected.direction);
        EXPECT_GT(expected.direction.norm().item<double>(), 1e-3);
        EXPECT_NEAR(own.loss, expected.loss, 1e-5 * expected.loss);
        EXPECT_EQ(own.samples, expected.samples);
        return {};
      }));
  EXPECT_EQ(seen, tiny.data.users.size());
}

TaskSettings several_steps(const char* labels) {
  TaskSettings settings;
  settings.labels = labels;
  settings.negatives = 2, settings.local_epochs = 3, settings.local_batch = 2, settings.local_steps = 0;
  return settings;
}

CopySettings held(double proximal, const char* norm = "squared") {
  CopySettings settings;
  settings.local_learning_rate = 0.2;
  settings.proximal = proximal;
  settings.proximal_norm = norm;
  return settings;
}

TEST(DeviceInteractions, LocalEpochsEqualLibtorchForAllInputsLabelsAndProximalTerms) {
  for (const char* choice : {"rich", "ids", "paper"})
    for (const char* labels : {"sampled", "ratings"})
      for (const CopySettings& copies : {held(0), held(0.7), held(0.7, "paper")}) {
        SCOPED_TRACE(fmt::format("{} {} {} {}", choice, labels, copies.proximal, copies.proximal_norm));
        TinyInteractions tiny(model::input_choice(choice), several_steps(labels), copies);
        expect_equal_updates(tiny, *trainer_of(tiny, choice, several_steps(labels), copies));
      }
}

TEST(DeviceInteractions, OneStepOfPrivateTrainingEqualsLibtorch) {
  TinyInteractions tiny;
  expect_equal_updates(tiny, *trainer_of(tiny, "rich", {}, {}));
}

// Situations: what the device knows of each row.
TEST(DeviceInteractions, SituationsOfRowsAreReadAsLibtorchReadsThem) {
  TinyInteractions tiny(model::InputChoice::paper, several_steps("ratings"), held(0.7));
  model::TabularField weather{"weather", 3, {0}, {}};
  for (std::size_t row = 0; row < tiny.dataset.interactions().items.size(); ++row) {
    for (std::size_t value = 0; value < row % 3; ++value)
      weather.codes.push_back(static_cast<std::uint32_t>((row + value) % 3));
    weather.offsets.push_back(weather.codes.size());
  }
  tiny.inputs.context.push_back(weather);
  tiny.build(several_steps("ratings"), held(0.7));
  expect_equal_updates(tiny, *trainer_of(tiny, "paper", several_steps("ratings"), held(0.7)));
}

TEST(DeviceInteractions, RankingAfterFineTuningEqualsLibtorch) {
  constexpr std::int64_t epochs = 3;
  constexpr double rate = 0.15;
  for (const char* choice : {"rich", "paper"}) {
    TinyInteractions tiny(model::input_choice(choice), several_steps("sampled"), held(0.7));
    const auto made = trainer_of(tiny, choice, several_steps("sampled"), held(0.7));
    const auto& trainer = dynamic_cast<const local::InteractionTrainer&>(*made);
    const local::RoundInputs inputs = inputs_of(tiny);
    std::size_t seen = 0;
    tiny.training->score_test_users(
        epochs, rate, [&](std::size_t test_user, std::span<const std::uint64_t>, const float* expected) {
          ++seen;
          const UserRows& support = tiny.data.test[test_user].support;
          const Device device(tiny, support);
          SeededRandom draws(1, Purpose::negative_sampling, 0xFFFFFFFF, support.user);
          const auto tuned =
              trainer.fine_tuned(inputs, device.own, epochs, rate, draws, [] { return false; }).value();
          const auto scores = trainer.scores(tuned, inputs, device.own, 0).value();
          ASSERT_EQ(scores.size(), static_cast<std::size_t>(tiny.inputs.items));
          for (std::size_t item = 0; item < scores.size(); ++item)
            EXPECT_NEAR(scores[item], expected[item], 1e-5 * std::max(1.0F, std::abs(expected[item])));
        });
    EXPECT_GT(seen, 2U);
  }
}

// Both sums of dp-svd: what the simulator's users send is what a device computes from the published model.
TEST(DeviceInteractions, BothSumsOfItemsEqualTheSimulators) {
  TinyInteractions tiny;
  constexpr std::uint64_t chosen = 5;
  model::ItemVectors model(static_cast<std::int64_t>(tiny.dataset.item_count()), 3);
  model::FlatParameters parameters(model);
  parameters.values().copy_(torch::rand({parameters.size()}));
  const auto plan = [&](std::uint64_t dimension, bool products) {
    secagg::EncodingPlan::Settings settings;
    settings.dimension = dimension;
    settings.clip = 1;
    (products ? settings.products : settings.nonnegative) = true;
    settings.denominator = 1;
    settings.devices = tiny.data.users.size();
    settings.step = secagg::finest_step(settings, 28).value();
    return secagg::EncodingPlan::create(settings).value();
  };
  PairFold fold(tiny.dataset, tiny.data, model,
                {plan(tiny.dataset.item_count(), false), plan(local::pair_count(chosen), true), chosen},
                {.low = 0.6, .centre = 0.4, .vectors = 3});
  const std::string items = std::to_string(tiny.dataset.item_count());
  const auto trainer =
      local::find_trainer(
          "dp-svd",
          Settings{{"catalogue", items}, {"vectors", "3"}, {"items", "5"}, {"low", "0.6"}, {"centre", "0.4"}})
          .value();
  local::RoundInputs inputs;
  inputs.parameters = {parameters.values().data_ptr<float>(), static_cast<std::size_t>(parameters.size())};
  for (std::uint32_t number : {0U, 1U}) {
    inputs.round = number + 1;
    ASSERT_EQ(trainer->layout().text(), parameters.layout());
    const auto task = fold.open(number);
    ASSERT_TRUE(task);
    ASSERT_TRUE(fold.each_update(number, tiny.data.users, [&](const UserUpdate& expected) -> Status {
      const Device device(tiny, tiny.data.of(expected.user));
      SeededRandom draws(1, Purpose::test);
      SOTTO_TRY(local::LocalUpdate own, trainer->train(inputs, device.own, draws, [] { return false; }));
      EXPECT_TRUE(torch::equal(torch::from_blob(own.direction.data(), {expected.direction.numel()}),
                               expected.direction));
      EXPECT_EQ(own.samples, expected.samples);
      return {};
    }));
  }
}

}  // namespace
}  // namespace sotto::fl
