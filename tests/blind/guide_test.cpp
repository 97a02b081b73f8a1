#include "blind/guide.h"

#include <gmock/gmock.h>

#include <limits>

#include "blind/quantisation.h"
#include "blind/ring.h"

namespace sotto::blind {
namespace {

using ::testing::HasSubstr;

Guide small_guide() {
  Guide guide;
  guide.model = "model";
  guide.parameters = *choose_parameters({4, 3, 2, 1});
  guide.centroids.assign(12, 0.5F);
  guide.steps.assign(3, 0.1F);
  for (const char* id : {"a", "b", "c", "d"}) guide.ids.push_back(id);
  guide.places = {0, 1, 2, no_item, 3, 1};  // b stands in two clusters
  guide.hint.assign(2 * ring_degree, 7);
  return guide;
}

TEST(BlindGuide, ComesBackAsItWas) {
  const Guide guide = small_guide();
  const auto bytes = encode_guide(guide);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const auto back = decode_guide(*bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, guide);
  EXPECT_EQ(back->ids[back->places[2]], "c");
  EXPECT_EQ(back->ids[back->places[5]], "b");
  EXPECT_EQ(guide_version(*bytes)->size(), 64U);
  std::string changed = *bytes;
  changed.back() ^= 1;
  EXPECT_NE(*guide_version(*bytes), *guide_version(changed));
}

TEST(BlindGuide, RefusesWhatDoesNotFitTogether) {
  const auto refused = [](void (*spoil)(Guide&), const char* why) {
    Guide guide = small_guide();
    spoil(guide);
    EXPECT_THAT(encode_guide(guide).error().message, HasSubstr(why));
  };
  refused([](Guide& g) { g.hint.pop_back(); }, "sizes");
  refused([](Guide& g) { g.places.push_back(0); }, "sizes");
  refused([](Guide& g) { g.places[3] = 4; }, "beyond its 4 ids");
  refused([](Guide& g) { g.steps[1] = 0; }, "positive");
  refused([](Guide& g) { g.centroids[1] = std::numeric_limits<float>::infinity(); }, "finite");
  refused([](Guide& g) { g.parameters.user_norm *= 64; }, "32 bits");
  refused([](Guide& g) { g.model = "line\nend"; }, "model");
  EXPECT_FALSE(decode_guide("nothing"));
  EXPECT_EQ(ItemIds::from("a\nb\n", 3)->size(), 2U);
  EXPECT_FALSE(ItemIds::from("a\nb\nc", 3));
  EXPECT_FALSE(ItemIds::from("a\nb\nc\nd\n", 3));
  EXPECT_FALSE(ItemIds::from("a\n\nc\n", 3));
  EXPECT_FALSE(ItemIds::from("a\n\x01\nc\n", 3));
}

TEST(BlindBodies, ComeBackAndNameTheirGuide) {
  const BlindWords words{std::string(64, 'a'), {1, 2, 0xffffffff}};
  EXPECT_EQ(*decode_query(encode_query(words)), words);
  EXPECT_EQ(*decode_answer(encode_answer(words)), words);
  EXPECT_LE(encode_query(words).size(), body_bytes(3));
  EXPECT_FALSE(decode_query(encode_query({"short", {1}})));
  EXPECT_FALSE(decode_query("nothing"));
}

TEST(BlindQuantisation, NormsHoldWhateverIsGiven) {
  const Parameters parameters = *choose_parameters({64, 1000, 1000, 3});
  std::vector<std::vector<float>> vectors = {std::vector<float>(64, 0), std::vector<float>(64, 1e38F),
                                             std::vector<float>(64, -1e-38F), std::vector<float>(64, 0)};
  vectors[3][5] = 3;
  vectors[0][1] = std::numeric_limits<float>::quiet_NaN();
  vectors[0][2] = std::numeric_limits<float>::infinity();
  for (const auto& vector : vectors) {
    double squares = 0;
    for (const std::int32_t entry : quantise_user(vector, parameters).entries)
      squares += static_cast<double>(entry) * entry;
    EXPECT_LE(squares, static_cast<double>(parameters.user_norm) * parameters.user_norm);
  }
  std::vector<std::int8_t> item(64);
  const std::vector<float> large(64, 100), taste(64, 0.125F);
  for (const float step : {1e-3F, 1.0F, 30.0F}) {
    quantise_item(large, taste, step, parameters, item);
    double squares = 0;
    for (const std::int8_t entry : item) squares += entry * entry;
    EXPECT_LE(squares, static_cast<double>(parameters.item_norm) * parameters.item_norm);
  }
}

TEST(BlindQuantisation, ProductsApproximateTheScores) {
  const Parameters parameters = *choose_parameters({64, 1000, 1000, 3});
  std::vector<float> user(64), items(64 * 32);
  for (std::size_t i = 0; i < 64; ++i) user[i] = std::sin(static_cast<float>(i));
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = std::cos(static_cast<float>(i * i));
  const auto quantised = quantise_user(user, parameters);
  const float step = step_of(items, parameters);
  const std::vector<float> taste(64, 0.125F);
  for (std::size_t row = 0; row < 32; ++row) {
    std::vector<std::int8_t> entries(64);
    const auto item = std::span<const float>(items).subspan(row * 64, 64);
    quantise_item(item, taste, step, parameters, entries);
    double exact = 0, product = 0, lengths = 0, length = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      exact += user[i] * item[i];
      product += entries[i] * quantised.entries[i];
      lengths += user[i] * user[i];
      length += item[i] * item[i];
    }
    EXPECT_NEAR(product * step / quantised.scale, exact,
                5 * rounding_error(parameters) * std::sqrt(lengths * length) + 0.02);
  }
}

// Those who ask look the taste's way: there the error is a fraction of what rounding number by number leaves,
// and elsewhere hardly larger.
TEST(BlindQuantisation, ErrsLittleAlongTheTaste) {
  const Parameters parameters = *choose_parameters({64, 1000, 1000, 3});
  std::vector<float> items(64 * 200), taste(64);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = std::cos(static_cast<float>(i * i % 1009));
  double length = 0;
  for (std::size_t i = 0; i < 64; ++i) taste[i] = std::sin(static_cast<float>(7 * i + 1));
  for (const float number : taste) length += number * number;
  for (float& number : taste) number = static_cast<float>(number / std::sqrt(length));
  const float step = step_of(items, parameters);
  double along = 0, all = 0;
  for (std::size_t row = 0; row < 200; ++row) {
    std::vector<std::int8_t> entries(64);
    const auto item = std::span<const float>(items).subspan(row * 64, 64);
    quantise_item(item, taste, step, parameters, entries);
    double error = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      const double off = static_cast<double>(entries[i]) - item[i] / step;
      error += off * taste[i];
      all += off * off;
    }
    along += error * error;
  }
  EXPECT_LT(along / 200, 0.2 / 12);  // 1/12 without
  EXPECT_LT(all / (200 * 64), 1.4 / 12);
}

}  // namespace
}  // namespace sotto::blind
