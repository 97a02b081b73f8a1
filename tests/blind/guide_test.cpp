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
  for (const char* id : {"a", "b", "", "c", "d", ""}) guide.ids.push_back(id);
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
  EXPECT_EQ(back->ids[3], "c");
  EXPECT_EQ(back->ids[5], "");
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
  refused([](Guide& g) { g.ids.push_back("x"); }, "sizes");
  refused([](Guide& g) { g.steps[1] = 0; }, "positive");
  refused([](Guide& g) { g.centroids[1] = std::numeric_limits<float>::infinity(); }, "finite");
  refused([](Guide& g) { g.parameters.user_norm *= 64; }, "32 bits");
  refused([](Guide& g) { g.model = "line\nend"; }, "model");
  EXPECT_FALSE(decode_guide("nothing"));
  EXPECT_FALSE(SlotIds::from("a\nb\n", 3));
  EXPECT_FALSE(SlotIds::from("a\nb\nc", 3));
  EXPECT_FALSE(SlotIds::from("a\nb\nc\nd\n", 3));
  EXPECT_FALSE(SlotIds::from("a\n\x01\nc\n", 3));
  EXPECT_FALSE(SlotIds::from("\n", std::size_t{1} << 40));
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
  const std::vector<float> large(64, 100);
  for (const float step : {1e-3F, 1.0F, 30.0F}) {
    quantise_item(large, step, parameters, item);
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
  for (std::size_t row = 0; row < 32; ++row) {
    std::vector<std::int8_t> entries(64);
    const auto item = std::span<const float>(items).subspan(row * 64, 64);
    quantise_item(item, step, parameters, entries);
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

}  // namespace
}  // namespace sotto::blind
