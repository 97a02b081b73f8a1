#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "device/small_pack.h"
#include "device/wire/pack_codec.h"

namespace sotto::device {
namespace {

using ::testing::HasSubstr;
using testing::random_floats;
using testing::random_item;
using testing::small_pack;

// How far floats() can be from what from_floats() was given, for a row whose largest value is `largest`.
float rounding_bound(NumberForm form, float largest) {
  switch (form) {
    case NumberForm::f32:
      return 0;
    case NumberForm::f16:
      return std::max(largest * 0x1p-11F, 0x1p-25F);  // half of the smallest
    case NumberForm::i8:
      return largest / 127 * 0.5F * (1 + 1e-5F);  // half a step, and the rounding of the products
  }
  return 0;
}

TEST(PackTensor, RoundTripsWithinTheBoundOfItsForm) {
  std::mt19937 random(7);
  for (const NumberForm form : {NumberForm::f32, NumberForm::f16, NumberForm::i8}) {
    for (const float spread : {1e-6F, 0.01F, 1.0F, 300.0F}) {
      const std::vector<float> values = random_floats(random, 50 * 40, spread);
      const auto tensor = PackTensor::from_floats("x", {50, 40}, values, form);
      ASSERT_TRUE(tensor && check(*tensor));
      const std::vector<float> read = tensor->floats();
      for (std::size_t row = 0; row < 50; ++row) {
        float largest = 0;
        for (std::size_t i = 0; i < 40; ++i) largest = std::max(largest, std::fabs(values[row * 40 + i]));
        for (std::size_t i = 0; i < 40; ++i) {
          ASSERT_LE(std::fabs(read[row * 40 + i] - values[row * 40 + i]), rounding_bound(form, largest))
              << static_cast<int>(form) << ' ' << spread;
        }
      }
    }
  }
  EXPECT_FALSE(PackTensor::from_floats("x", {1}, std::vector{1e5F}, NumberForm::f16));
  EXPECT_FALSE(PackTensor::from_floats("x", {1}, std::vector{std::nanf("")}, NumberForm::i8));
  EXPECT_FALSE(PackTensor::from_floats("x", {2}, std::vector{1.0F}, NumberForm::f32));
  EXPECT_EQ(PackTensor::from_floats("x", {1, 2}, std::vector{0.0F, -0.0F}, NumberForm::i8)->floats(),
            (std::vector<float>{0, 0}));
}

TEST(PackTensor, EveryHalfFloatSurvivesTheWayThroughAFloat) {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const float value = float_from_half(static_cast<std::uint16_t>(half));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_half(half_from_float(value))));
    } else {
      ASSERT_EQ(half_from_float(value), half);
      // Between two neighbours the nearer one is taken, the even one in the middle.
      const float next = float_from_half(static_cast<std::uint16_t>(half + 1));
      if ((half & 0x7fffU) < 0x7bffU && (half & 0x7fffU) > 0) {
        ASSERT_EQ(half_from_float((value + next) / 2), half + (half & 1U));
        ASSERT_EQ(half_from_float(value + (next - value) / 4), half);
        ASSERT_EQ(half_from_float(value + (next - value) * 3 / 4), half + 1);
      }
    }
  }
  EXPECT_EQ(half_from_float(65519.0F), 0x7bff);
  EXPECT_EQ(half_from_float(65520.0F), 0x7c00);
}

TEST(Pack, IsReadAsItWasWritten) {
  for (const std::string_view kind : user_model_kinds) {
    for (const NumberForm form : {NumberForm::f32, NumberForm::f16, NumberForm::i8}) {
      const DevicePack pack = small_pack(30, std::string(kind), form);
      const auto bytes = encode_pack(pack);
      ASSERT_TRUE(bytes) << bytes.error().message;
      const auto read = decode_pack(*bytes);
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(*read, pack);
      EXPECT_EQ(*encode_pack(*read), *bytes);  // one encoding: the version is the pack's
    }
  }
  const auto empty = small_pack(0);
  EXPECT_EQ(*decode_pack(*encode_pack(empty)), empty);
}

TEST(Pack, IsReadFromAnyAddress) {
  const DevicePack pack = small_pack();
  const std::string bytes = *encode_pack(pack);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const std::string moved = std::string(shift, 'x') + bytes;
    EXPECT_EQ(*decode_pack(std::string_view(moved).substr(shift)), pack);
  }
}

TEST(Pack, TheVersionIsAHashOfEveryByte) {
  std::string bytes = *encode_pack(small_pack());
  const std::string version = *pack_version(bytes);
  EXPECT_EQ(version.size(), 64U);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_NE(*pack_version(bytes), version);
}

TEST(Pack, RefusesContentsThatBreakItsPromises) {
  const auto refusal = [](auto change) {
    DevicePack pack = small_pack();
    change(pack);
    const auto bytes = encode_pack(pack);
    return bytes ? std::string("accepted") : bytes.error().message;
  };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(refusal([](DevicePack&) {}), "accepted");
  EXPECT_THAT(refusal([](DevicePack& p) { p.model = ""; }), HasSubstr("model version"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.model = "a\nb"; }), HasSubstr("model version"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.dimension = 5; }), HasSubstr("not rows of 5"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.dimension = 0; }), HasSubstr("not 1 to"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.user_model.max_history = 0; }), HasSubstr("clicks"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.user_model.kind = "gpt"; }), HasSubstr("no user model"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.user_model.weights.pop_back(); }), HasSubstr("has no weights"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.average_user[0] = nan; }), HasSubstr("average user"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.anonymous.pop_back(); }), HasSubstr("anonymous item"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.categories[1] = p.categories[0]; }), HasSubstr("health"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.items.categories[0] = 3; }), HasSubstr("does not name"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.items.ids[1] = p.items.ids[0]; }), HasSubstr("twice"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.items.published[3] = 1; }), HasSubstr("order"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.items.published.pop_back(); }), HasSubstr("disagree"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.items.vectors.scales[2] = nan; }), HasSubstr("scale"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.items.vectors.scales[2] = -1; }), HasSubstr("scale"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.items.vectors.scales[2] = 3e38F; }), HasSubstr("scale"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.items.vectors.data.pop_back(); }), HasSubstr("bytes"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.basis.data[3] = 0x7f, p.basis.data[2] = 0xff; }),
              HasSubstr("not finite"));
  EXPECT_THAT(refusal([](DevicePack& p) { p.prototypes.shape = {0xffffffff, 6}; }), HasSubstr("prototypes"));
}

TEST(Pack, DamagedBytesAreRefusedOrReadSafely) {
  const std::string bytes = *encode_pack(small_pack(5, "naml"));
  std::mt19937 random(3);
  for (std::size_t cut = 0; cut < bytes.size(); cut += 13)
    EXPECT_FALSE(decode_pack(bytes.substr(0, cut))) << cut;
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    for (unsigned flips = 1 + random() % 3; flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    if (const auto read = decode_pack(damaged)) accepted += check(*read) ? 1 : 1000;
  }
  EXPECT_GT(accepted, 0);  // a changed number in a vector is still a pack, with another version
  EXPECT_LT(accepted, 20'000);
}

TEST(PackDelta, LeadsFromOnePoolToTheNext) {
  std::mt19937 random(11);
  std::vector<PackItem> pool;
  for (std::size_t i = 0; i < 200; ++i) pool.push_back(random_item(random, i));
  DevicePack pack = small_pack();
  pack.items = *make_items(pool, testing::vector_size);
  std::string bytes = *encode_pack(pack);
  std::size_t next = 200;
  for (int step = 0; step < 20; ++step) {
    std::shuffle(pool.begin(), pool.end(), random);
    pool.resize(pool.size() - random() % 20);
    for (unsigned added = random() % 20; added > 0; --added) pool.push_back(random_item(random, next++));
    pool[0].vector[0] += 1;          // an item that is encoded again
    pool[1].published += 1'000'000;  // and one that moves
    if (step == 10) pack.categories.push_back("travel");
    pack.items = *make_items(pool, testing::vector_size);
    const std::string later = *encode_pack(pack);
    const auto delta = encode_delta(bytes, later);
    ASSERT_TRUE(delta) << delta.error().message;
    EXPECT_LT(delta->size(), later.size() / 2);
    const auto applied = apply_delta(bytes, *delta);
    ASSERT_TRUE(applied) << applied.error().message;
    EXPECT_EQ(*applied, later);
    bytes = later;
  }
}

TEST(PackDelta, RefusesWhatItCannotDescribe) {
  const std::string bytes = *encode_pack(small_pack(20));
  DevicePack retrained = small_pack(25);
  retrained.average_user[0] += 1;
  retrained.model = *model_name(retrained);
  EXPECT_THAT(encode_delta(bytes, *encode_pack(retrained)).error().message, HasSubstr("send the whole pack"));
  const std::string later = *encode_pack(small_pack(25));
  const std::string delta = *encode_delta(bytes, later);
  EXPECT_THAT(apply_delta(later, delta).error().message, HasSubstr("not for the pack that is installed"));
  std::mt19937 random(5);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = delta;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto applied = apply_delta(bytes, damaged);
    if (applied) {
      EXPECT_EQ(*applied, later);  // only padding was hit
    }
  }
}

}  // namespace
}  // namespace sotto::device
