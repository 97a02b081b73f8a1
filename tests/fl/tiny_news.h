#pragma once
// A data set of a few users and items with two opposed interests, small enough to train in a test.

#include <string>

#include "data/dataset_builder.h"
#include "test_paths.h"

namespace sotto::fl::testing {

// Items 0..9: even ones are about "red", odd ones about "blue". Even users click even items. Items beyond
// them are shown to nobody.
inline data::Dataset tiny_news(const TempFolder& folder, std::uint32_t users = 12, int items = 10) {
  data::DatasetBuilder builder("tiny", "test");
  for (int i = 0; i < items; ++i) {
    const std::string id = "N" + std::to_string(i),
                      title =
                          std::string(i % 2 ? "blue sea number " : "red fire number ") + std::to_string(i);
    builder.add_item({id, title, "", i % 2 ? "cold" : "warm", ""});
  }
  for (std::uint32_t u = 0; u < users; ++u) {
    const data::UserId user = builder.user("U" + std::to_string(u));
    const data::ItemId own = u % 2, other = 1 - own;
    const std::vector<data::ItemId> history = {own, own + 2};
    const auto handle = builder.add_history(history);
    for (std::uint32_t k = 0; k < 2 + u % 2; ++k) {
      const data::ItemId clicked = own + 4 + 2 * (k % 3);
      const std::vector<data::ItemId> shown = {other + 4, clicked, other + 6, other + 8};
      builder.add_impression(user, 100 + k, data::Split::train, handle, u == 0 ? 0 : 2, shown,
                             std::vector<std::uint8_t>{0, 1, 0, 0});
    }
    const std::vector<data::ItemId> shown = {own + 8, other + 2, other + 8};
    builder.add_impression(user, 200, data::Split::test, handle, 2, shown,
                           std::vector<std::uint8_t>{1, 0, 0});
  }
  if (!builder.write(folder.path())) throw std::runtime_error("cannot write the tiny data set");
  auto dataset = data::Dataset::open(folder.path());
  if (!dataset) throw std::runtime_error(dataset.error().message);
  return std::move(*dataset);
}

}  // namespace sotto::fl::testing
