// What travels, in bytes: the figures of docs/serving/modes.md and device.md.

#include <gtest/gtest.h>

#include <cmath>

#include "device/small_pack.h"
#include "device/wire/pack_codec.h"
#include "device/wire/query_wire.h"

namespace sotto::device {
namespace {

// A version as 'sotto serve --run' names it, ids as news data sets have them.
const std::string name_of_model(64, 'a');  // as long as any name of a model
std::string id_of(std::size_t item) { return "N" + std::to_string(10'000 + item); }

PackTensor numbers(std::string name, std::vector<std::uint32_t> shape) {
  std::size_t count = 1;
  for (const std::uint32_t extent : shape) count *= extent;
  return *PackTensor::from_floats(std::move(name), std::move(shape), std::vector<float>(count, 0.5F),
                                  NumberForm::f32);
}

// 20,000 items from number `first` on, 256 prototypes and 5 basis vectors, weights in 32 bits.
DevicePack pack_of(PackUserModel user_model, std::uint32_t dimension, std::size_t first) {
  constexpr std::size_t pool = 20'000;
  DevicePack pack;
  pack.dimension = dimension;
  pack.user_model = std::move(user_model);
  pack.basis = numbers("basis", {5, dimension});
  pack.prototypes = numbers("prototypes", {256, dimension});
  pack.average_user.resize(dimension);
  pack.anonymous.resize(dimension);
  pack.categories = {"health", "politics", "sports"};
  std::vector<PackItem> items(pool);
  for (std::size_t i = 0; i < pool; ++i)
    items[i] = {id_of(first + i), std::vector<float>(dimension, 0.1F), first + i, 1};
  pack.items = *make_items(std::move(items), dimension);
  pack.model = *model_name(pack);
  return pack;
}

PackUserModel nrms(std::uint32_t size) {
  constexpr std::uint32_t hidden = 200;
  return {"nrms",
          20,
          0,
          50,
          {numbers("user.attention.weight", {size, 3 * size}), numbers("user.pooling.weight", {size, hidden}),
           numbers("user.pooling.bias", {hidden}), numbers("user.pooling.query", {hidden})}};
}

PackUserModel catalogue(std::uint32_t size) {
  return {"catalogue",
          0,
          0,
          50,
          {numbers("scale", {1, size}), numbers("average", {1, size}), numbers("query", {size}),
           numbers("doubt", {1, 1})}};
}

TEST(BytesOnTheWire, RequestsAndAnswersAreAsSmallAsTheDocumentsSay) {
  RecommendRequest request;
  request.model = name_of_model;
  request.count = 500;
  request.query = std::vector<std::uint32_t>{255};
  EXPECT_EQ(encode(request).size(), 136U);
  request.query = std::vector<float>(5, 0.2F);
  EXPECT_EQ(encode(request).size(), 152U);
  request.query = privacy::PopularQuery{};
  EXPECT_EQ(encode(request).size(), 120U);
  RecommendAnswer answer{name_of_model, {}, std::vector<float>(500)};
  for (std::size_t i = 0; i < 500; ++i) answer.items.push_back(id_of(i));
  EXPECT_EQ(encode(answer).size(), 10116U);
}

TEST(BytesOnTheWire, PacksAndDeltasAreAsSmallAsTheDocumentsSay) {
  const auto size_of = [](const PackUserModel& user_model, std::uint32_t dimension) {
    const std::string old = *encode_pack(pack_of(user_model, dimension, 0)),
                      later = *encode_pack(pack_of(user_model, dimension, 100));
    return std::pair(old.size(), encode_delta(old, later)->size());
  };
  const auto [wide, wide_delta] = size_of(nrms(400), 400);
  EXPECT_NEAR(static_cast<double>(wide), 11.26e6, 1e4);
  EXPECT_NEAR(static_cast<double>(wide_delta), 43.7e3, 100);
  const auto [flagship, flagship_delta] = size_of(catalogue(64), 64);
  EXPECT_NEAR(static_cast<double>(flagship), 1.95e6, 1e4);
  EXPECT_NEAR(static_cast<double>(flagship_delta), 10.1e3, 100);
}

}  // namespace
}  // namespace sotto::device
