#include "recipes/run_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/distributions.h"
#include "base/log.h"
#include "base/random.h"
#include "data/describe.h"
#include "data/public_part.h"
#include "recipes/stored_run.h"

namespace sotto::recipes {

Result<data::Dataset> training_data_of(const Recipe& recipe, const data::Dataset& dataset) {
  if (!recipe.promises_epsilon()) return data::Dataset(dataset.parts());
  SOTTO_CHECK(data::check_rows_are_each_users_own(dataset));
  SOTTO_TRY(auto part, data::public_part(dataset));
  if (part.items_left_out > 0)
    info(
        "{} of {} items occur in users' rows alone and are left out: a private recipe trains on the public "
        "catalogue (this note follows from users: keep it)",
        data::grouped(part.items_left_out), data::grouped(dataset.item_count()));
  if (!part.columns_left_out.empty() && dataset.has_interactions())
    info("left out, because no list of their values was declared: {} (docs/data-formats.md)",
         fmt::join(part.columns_left_out, ", "));
  return std::move(part.dataset);
}

Result<data::Dataset> data_of_run(const Recipe& recipe, const data::Dataset& dataset) {
  if (!recipe.promises_epsilon()) return data::Dataset(dataset.parts());
  SOTTO_TRY(auto part, data::public_part(dataset));
  return std::move(part.dataset);
}

Result<data::Dataset> data_of_run(const fs::path& run, const data::Dataset& dataset) {
  SOTTO_TRY(const auto stored, load_run(run));
  return data_of_run(*stored.recipe, dataset);
}

std::vector<std::uint32_t> drawn_tests(std::size_t tests, const RunRequest& request) {
  constexpr std::uint64_t seed = 1;
  constexpr std::uint32_t stream = 4;  // 1 to 3: fl/training_data.cpp
  SeededRandom random(seed, Purpose::split, stream);
  auto places = sample_without_replacement(
      static_cast<std::uint32_t>(tests),
      static_cast<std::uint32_t>(std::min<std::uint64_t>(request.test_impressions, tests)), random);
  std::sort(places.begin(), places.end());
  return places;
}

Status check_may_train_privately(const data::Dataset& dataset) {
  SOTTO_CHECK(data::check_rows_are_each_users_own(dataset));
  if (data::is_public_part(dataset)) return {};
  return failed("{} has items or values that only users' rows name: private training takes its public part",
                dataset.name());
}

}  // namespace sotto::recipes
