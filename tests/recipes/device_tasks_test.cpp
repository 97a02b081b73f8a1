// What the table of recipes says of devices is what devices know.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/local_trainer.h"
#include "recipes/recipe.h"

namespace sotto::recipes {
namespace {

TEST(DeviceTasks, TheTableNamesTheRecipesThatDevicesTrain) {
  std::vector<std::string> named;
  for (const RecipeEntry& entry : recipes())
    if (entry.on_devices) named.emplace_back(entry.name);
  EXPECT_THAT(named, ::testing::UnorderedElementsAreArray(local::recipes_with_trainers()));
}

TEST(DeviceTasks, ARecipeThatDevicesDoNotTrainSaysWhichTheyDo) {
  EXPECT_THAT(not_on_devices().value().message, ::testing::HasSubstr("sotto, fednewsrec"));
}

}  // namespace
}  // namespace sotto::recipes
