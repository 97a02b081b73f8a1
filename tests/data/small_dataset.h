#pragma once
// A dataset small enough to read, in which every kind of column holds something.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/dataset_builder.h"
#include "test_paths.h"

namespace sotto::data {

inline constexpr float missing_number = std::numeric_limits<float>::quiet_NaN();

// Items n1, n2, n3 and the textless n4; users ann (impressions), bob (interactions), idle (nothing).
inline DatasetBuilder small_builder() {
  DatasetBuilder builder("small", "written by hand");
  const std::vector<EntityMention> title_entities = {{"Q1", "Oslo"}, {"Q2", "rain"}};
  const std::vector<EntityMention> abstract_entities = {{"Q2", "rain"}};
  const ItemId n1 = builder.add_item({.id = "n1",
                                      .title = "Rain over Oslo",
                                      .abstract = "It rained.",
                                      .category = "news",
                                      .subcategory = "weather",
                                      .title_entities = title_entities,
                                      .abstract_entities = abstract_entities});
  const ItemId n2 = builder.add_item({.id = "n2", .title = "Cup final tonight", .category = "sports"});
  const ItemId n3 =
      builder.add_item({.id = "n3", .title = "Bread", .abstract = "Baked.", .category = "food"});
  const ItemId n4 = builder.item("n4");

  const std::array<std::string_view, 2> genres = {"Drama", "Comedy"};
  builder.set_item_category(n2, "genres", genres);
  builder.set_item_number(n3, "length", 2.5F);
  EXPECT_TRUE(builder.set_entity_vector("Q2", std::array{0.5F, -1.0F, 2.0F}));

  const UserId ann = builder.user("ann");
  const UserId bob = builder.user("bob");
  builder.user("idle");
  const std::array<std::string_view, 1> female = {"F"};
  builder.set_user_category(ann, "gender", female);
  builder.set_user_number(bob, "age", 41);

  const auto history = builder.add_history(std::array{n2, n1, n3});
  builder.add_impression(ann, 200, Split::test, history, 3, std::array{n4, n1},
                         std::array<std::uint8_t, 2>{1, 0});
  builder.add_impression(ann, 100, Split::train, history, 2, std::array{n3, n4, n2},
                         std::array<std::uint8_t, 3>{1, 0, 1});

  using Category = std::pair<std::string_view, std::string_view>;
  using Number = std::pair<std::string_view, float>;
  builder.add_interaction(bob, n3, 4, 50, std::array{Category{"daytime", "noon"}},
                          std::array{Number{"cost", 1.5F}});
  builder.add_interaction(bob, n1, missing_number, 20, std::array{Category{"daytime", "night"}});
  return builder;
}

inline Dataset write_and_open(const DatasetBuilder& builder, const std::filesystem::path& directory) {
  const Status written = builder.write(directory);
  EXPECT_TRUE(written) << written.error().message;
  Result<Dataset> dataset = Dataset::open(directory);
  if (!dataset) throw std::runtime_error(dataset.error().message);
  return std::move(*dataset);
}

template <class T>
std::vector<T> to_vector(std::span<const T> values) {
  return {values.begin(), values.end()};
}

}  // namespace sotto::data
