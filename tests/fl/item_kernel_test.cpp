// What is known of items before anybody is asked: features that they share, and how often they are chosen.

#include "fl/item_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/dataset_builder.h"
#include "test_paths.h"

namespace sotto::fl {
namespace {

// Films 0 and 1 share a genre of two and a year, 2 shares the year alone, 3 is known by nothing.
data::Dataset films(const TempFolder& folder) {
  data::DatasetBuilder builder("films", "test");
  for (int i = 0; i < 4; ++i) builder.add_item({.id = std::to_string(i)});
  const std::string_view both[] = {"a", "b"}, one = "a", other = "c";
  builder.set_item_category(0, "genres", both);
  builder.set_item_category(1, "genres", {&one, 1});
  builder.set_item_category(2, "genres", {&other, 1});
  builder.set_item_number(0, "year", 1990);
  builder.set_item_number(1, "year", 1992);
  builder.set_item_number(2, "year", 1990);
  if (!builder.write(folder.path())) throw std::runtime_error("cannot write the films");
  return data::Dataset::open(folder.path()).value();
}

TEST(ItemKernel, AddsFeaturesAndTheirProductByTheRootsOfTheCounts) {
  const TempFolder folder;
  const data::Dataset dataset = films(folder);
  const std::vector<float> counts = {0.04F, 0.01F, 0.04F, -1};
  const std::vector<data::ItemId> items = {0, 1, 2, 3};
  const auto kernel = item_kernel(dataset.catalogue(), items, counts, true);
  // The years' deviation is √(8/9).
  const double year = std::exp(-2 * 2 / std::sqrt(8.0 / 9)), genre = 1 / std::sqrt(2.0);
  const double d[] = {0.2, 0.1, 0.2, 0.02};  // the last one's count is noise: a tenth of the largest
  const double own[] = {4, 4, 4, 1};         // 1 + 2/2·(1 + 1) + 1, and 1 of what nothing is known
  double trace = 0;
  for (int i = 0; i < 4; ++i) trace += own[i] * d[i] * d[i];
  const double scale = 4 / trace;
  const auto at = [&](std::size_t i, std::size_t j) { return kernel[i * 4 + j]; };
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(at(i, i), scale * own[i] * d[i] * d[i], 1e-6) << i;
  EXPECT_NEAR(at(0, 1), scale * (genre + year + genre * year) * 0.02, 1e-6);
  EXPECT_NEAR(at(0, 2), scale * 1 * 0.04, 1e-6) << "the year, and no product";
  EXPECT_NEAR(at(1, 2), scale * year * 0.02, 1e-6);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(at(i, 3), 0);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(at(i, j), at(j, i));
}

TEST(ItemKernel, WithoutFeaturesItIsADiagonal) {
  const TempFolder folder;
  const data::Dataset dataset = films(folder);
  const auto kernel = item_kernel(dataset.catalogue(), std::vector<data::ItemId>{2, 0},
                                  std::vector<float>{0.04F, 0, 0.12F, 0}, false);
  EXPECT_NEAR(kernel[0], 1.5, 1e-6);
  EXPECT_NEAR(kernel[3], 0.5, 1e-6);
  EXPECT_EQ(kernel[1], 0);
}

TEST(ItemKernel, CountsThatAreAllNoiseLeaveAllItemsAlike) {
  const TempFolder folder;
  const data::Dataset dataset = films(folder);
  const auto kernel = item_kernel(dataset.catalogue(), std::vector<data::ItemId>{0, 1},
                                  std::vector<float>{-0.1F, -0.2F, 0, 0}, false);
  EXPECT_NEAR(kernel[0], 1, 1e-9);
  EXPECT_NEAR(kernel[3], 1, 1e-9);
}

}  // namespace
}  // namespace sotto::fl
