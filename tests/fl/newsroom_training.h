#pragma once
// Readers of a small generated newsroom, a fresh model over random titles of its articles, and its training
// by libtorch: what the device's training is held equal to.

#include "data/newsroom/newsroom.h"
#include "fl/device_fold.h"
#include "fl/news_training.h"
#include "model/news/model_registry.h"
#include "test_paths.h"

namespace sotto::fl::testing {

struct Newsroom {
  Newsroom() : dataset(make(folder)) {
    settings.negatives = 3;
    settings.max_history = 12;
    settings.validation_impressions = 20;
    data = prepare_training_data(dataset, settings, 5).value();
  }
  static data::Dataset make(const TempFolder& folder) {
    data::NewsroomSettings small;
    small.users = 60, small.news = 100, small.days = 3;
    if (!data::generate_newsroom(small, folder / "news")) throw std::runtime_error("no newsroom");
    return data::Dataset::open(folder / "news").value();
  }
  TempFolder folder;
  data::Dataset dataset;
  TrainingDataSettings settings;
  TrainingData data;
};

// Written once for all tests, and only read.
inline const Newsroom& newsroom() {
  static const Newsroom once;
  return once;
}

constexpr std::int64_t newsroom_words = 40;

// Titles of no to seven words.
inline std::shared_ptr<model::ItemFeatures> newsroom_titles() {
  auto items = std::make_shared<model::ItemFeatures>();
  items->titles.offsets = items->abstracts.offsets = {0};
  for (std::size_t item = 0; item < newsroom().dataset.item_count(); ++item) {
    for (std::size_t word = 0; word < item % 8; ++word)
      items->titles.tokens.push_back(
          static_cast<std::int32_t>(2 + (item * 7 + word * word * 5) % (newsroom_words - 2)));
    items->titles.offsets.push_back(static_cast<std::int64_t>(items->titles.tokens.size()));
    items->abstracts.offsets.push_back(0);
    items->categories.push_back(0);
    items->subcategories.push_back(0);
  }
  return items;
}

// One gradient and one loss equal another's.
inline void expect_same(const torch::Tensor& device, const torch::Tensor& server) {
  ASSERT_EQ(device.numel(), server.numel());
  EXPECT_LE((device - server).norm().item<double>(), 1e-5 * server.norm().item<double>());
}

// Devices fetch the parameters as they are when it is published. Nothing is folded.
class PublishedValues final : public DeviceFold {
 public:
  explicit PublishedValues(const model::FlatParameters& parameters) : parameters_(parameters) {}
  Result<RoundTask> open(std::uint32_t) override { return failed("not asked for"); }
  void publish() override { fetched_ = {sent_as_floats(parameters_.values()), std::nullopt}; }
  Result<torch::Tensor> fold(std::uint32_t, const torch::Tensor&, const Gathered&) override {
    return failed("not asked for");
  }

 private:
  const model::FlatParameters& parameters_;
};

}  // namespace sotto::fl::testing
