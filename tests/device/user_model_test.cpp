#include "device/model/user_model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "device/golden_users.h"
#include "device/small_user_models.h"

namespace sotto::device {
namespace {

using ::testing::HasSubstr;
using testing::small_shape;
using testing::small_weights;

std::vector<float> golden_clicks(int count) {
  std::vector<float> clicks;
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < 6; ++j) clicks.push_back(static_cast<float>(std::cos(0.7 * i + 1.1 * j)));
  }
  return clicks;
}

TEST(UserModel, EveryKindEqualsPlainPython) {
  std::size_t checked = 0;
  for (const auto& golden : testing::golden_users) {
    const auto model = UserModel::create(small_shape(std::string(golden.model)), small_weights(golden.model));
    ASSERT_TRUE(model) << model.error().message;
    const std::vector<float> user = model->encode(golden_clicks(golden.clicks));
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(user[i], golden.vector[i], 2e-6) << golden.model << ", " << golden.clicks << " clicks";
    }
    ++checked;
  }
  EXPECT_EQ(checked, 4 * std::size(user_model_kinds));
}

TEST(UserModel, RefusesWeightsThatDoNotFit) {
  const auto refusal = [](const UserModelShape& shape, const std::vector<NamedTensor>& weights) {
    const auto model = UserModel::create(shape, weights);
    return model ? "created" : model.error().message;
  };
  const auto good = small_weights("fednewsrec");
  const auto shape = small_shape("fednewsrec");
  EXPECT_EQ(refusal(shape, good), "created");
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto weights = good;
    weights.erase(weights.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(refusal(shape, weights), HasSubstr("has no weights \"" + good[i].name));
    weights = good;
    weights[i].values.pop_back();
    EXPECT_THAT(refusal(shape, weights), HasSubstr("do not fill"));
    weights = good;
    weights[i].shape[0] += 1;
    EXPECT_NE(refusal(shape, weights), "created");
    weights = good;
    weights[i].values[0] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THAT(refusal(shape, weights), HasSubstr("not finite"));
  }
  auto more = good;
  more.push_back(testing::formula_tensor("own.table", {3, 3}));
  EXPECT_THAT(refusal(shape, more), HasSubstr("does not know the weights \"own.table\""));
  EXPECT_THAT(refusal({"nrsm", 6, 2, 2}, good), HasSubstr("did you mean \"nrms\""));
  EXPECT_THAT(refusal({"fednewsrec", 6, 4, 2}, good), HasSubstr("heads"));
  EXPECT_THAT(refusal({"fednewsrec", 6, 2, 0}, good), HasSubstr("at least one click"));
  EXPECT_NE(refusal({"mean", 0, 2, 2}, {}), "created");
  for (const std::size_t logarithm : {0, 3}) {
    auto weights = small_weights("catalogue");
    weights[logarithm].values[0] = 89;  // e^89 is no float
    EXPECT_THAT(refusal(small_shape("catalogue"), weights), HasSubstr("too large"));
  }
}

TEST(UserModel, LargeNumbersStayFinite) {
  for (const std::string_view kind : user_model_kinds) {
    const auto model = UserModel::create(small_shape(std::string(kind)), small_weights(kind));
    std::vector<float> clicks(6 * 4);
    for (std::size_t i = 0; i < clicks.size(); ++i) clicks[i] = i % 2 == 0 ? 1e4F : -1e4F;
    for (const float value : model->encode(clicks)) EXPECT_TRUE(std::isfinite(value)) << kind;
  }
}

}  // namespace
}  // namespace sotto::device
