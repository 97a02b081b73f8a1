#pragma once
// Ratings of a few users with two opposed tastes, with features, and everything that trains on them.

#include <memory>
#include <string>

#include "data/dataset_builder.h"
#include "fl/interaction_training.h"
#include "test_paths.h"

namespace sotto::fl::testing {

// Items 0..11: even ones are "warm", odd ones "cold". Even users rate even items 5 and odd ones 1.
inline data::Dataset tiny_ratings(const TempFolder& folder, std::uint32_t users = 20) {
  data::DatasetBuilder builder("tiny", "test");
  for (int i = 0; i < 12; ++i) {
    const std::string id = "M" + std::to_string(i),
                      title = std::string(i % 2 ? "Blue Sea " : "Red Fire ") + id;
    const data::ItemId item = builder.add_item({.id = id, .title = title});
    const std::string_view genre = i % 2 ? "cold" : "warm", other = "film";
    const std::string_view both[] = {genre, other};
    builder.set_item_category(
        item, "genres",
        i % 3 == 0 ? std::span<const std::string_view>(both) : std::span<const std::string_view>(&genre, 1));
    builder.set_item_number(item, "year", static_cast<float>(1970 + 5 * i));
  }
  const std::string_view genders[] = {"F", "M"};
  builder.declare_user_category("gender", genders);
  for (std::uint32_t u = 0; u < users; ++u) {
    const data::UserId user = builder.user("U" + std::to_string(u));
    const std::string_view gender = u % 3 == 0 ? "F" : "M";
    builder.set_user_category(user, "gender", {&gender, 1});
    for (std::uint32_t k = 0; k < 6 + u % 3; ++k) {
      const data::ItemId item = (5 * u + 7 * k) % 12;
      builder.add_interaction(user, item, item % 2 == u % 2 ? 5.0F : 1.0F, 100 + k);
    }
  }
  if (!builder.write(folder.path())) throw std::runtime_error("cannot write the tiny data set");
  auto dataset = data::Dataset::open(folder.path());
  if (!dataset) throw std::runtime_error(dataset.error().message);
  return std::move(*dataset);
}

// A small model on them.
struct TinyInteractions {
  explicit TinyInteractions(model::InputChoice choice = model::InputChoice::rich,
                            const TaskSettings& task_settings = {}, const CopySettings& copy_settings = {},
                            MetaLearning method = MetaLearning::reptile)
      : dataset(tiny_ratings(folder)),
        data(prepare_interactions(dataset, {}, 1).value()),
        inputs(model::build_tabular_inputs(dataset, choice).value()) {
    build(task_settings, copy_settings, method);
  }
  // Anew, from inputs that were changed.
  void build(const TaskSettings& task_settings, const CopySettings& copy_settings,
             MetaLearning method = MetaLearning::reptile, std::int64_t hidden = 5) {
    torch::manual_seed(3);
    model::TabularShape shape;
    shape.embedding = 4, shape.hidden = hidden, shape.layers = 2, shape.embedding_scale = 0.5;
    model = std::make_shared<model::TabularModel>(shape, inputs);
    {
      // The output layer starts at zero beside a history; tests want all parts to matter.
      torch::NoGradGuard no_grad;
      for (const auto& part : model->parts())
        const_cast<torch::Tensor&>(part).add_(torch::randn_like(part) * 0.1);
    }
    parameters = std::make_unique<model::FlatParameters>(*model);
    training = std::make_unique<InteractionTraining>(
        data, inputs, InteractionTasks::create(dataset, data, inputs, task_settings, 1).value(), *model,
        *parameters, copy_settings, method);
  }
  TempFolder folder;
  data::Dataset dataset;
  InteractionData data;
  model::TabularInputs inputs;
  std::shared_ptr<model::TabularModel> model;
  std::unique_ptr<model::FlatParameters> parameters;
  std::unique_ptr<InteractionTraining> training;
};

}  // namespace sotto::fl::testing
