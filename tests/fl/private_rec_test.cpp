// PrivateRec's mixture of basis vectors around a two-tower model.

#include <gtest/gtest.h>

#include "fl/tiny_training.h"
#include "model/news/private_rec_model.h"
#include "privacy/serving/serving_mechanism.h"

namespace sotto::fl {
namespace {

using testing::Tiny;
using torch::Tensor;

privacy::PrivateAttention attention(double epsilon, double padding) {
  return privacy::PrivateAttention::create(
             {privacy::GuaranteeMode::sound, privacy::NoiseKind::laplace, 4, 1.0, epsilon, 0, padding})
      .value();
}

// A model over the tiny data's NRMS, with its training.
struct Wrapped {
  explicit Wrapped(model::PrivateRecModel::Settings settings) : tiny(0, 5, "nrms") {
    torch::manual_seed(11);
    settings.basis_vectors = 4;
    model = std::make_shared<model::PrivateRecModel>(
        std::dynamic_pointer_cast<model::NewsRecommender>(tiny.model), settings);
    parameters = std::make_unique<model::FlatParameters>(*model);
    training = std::make_unique<NewsTraining>(tiny.dataset, tiny.data, tiny.settings, *model, *parameters, 5);
  }
  Tensor users(model::Pass pass) const {
    const torch::NoGradGuard no_grad;
    std::vector<data::ItemId> items = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    model::Histories histories;
    for (data::UserId user = 0; user < 200; ++user) histories.add(std::vector<std::int64_t>{1, 3, 5}, user);
    model::Pass plain = model::Pass::evaluation();
    return model->encode_users(model->encode_items(items, plain), histories, pass);
  }
  Tiny tiny;
  std::shared_ptr<model::PrivateRecModel> model;
  std::unique_ptr<model::FlatParameters> parameters;
  std::unique_ptr<NewsTraining> training;
};

TEST(PrivateRecModel, WithoutNoiseAUserIsTheMixtureOfBasisVectors) {
  const Wrapped plain({});
  const Tensor users = plain.users(model::Pass::evaluation());
  EXPECT_TRUE(users.allclose(users[0].expand_as(users)));
  // In the span of the basis with weights that sum to 1.
  const Tensor basis = plain.model->named_parameters()["basis"].detach();
  const Tensor weights = users[0].unsqueeze(0).mm(torch::pinverse(basis));
  EXPECT_NEAR(weights.sum().item<double>(), 1, 1e-4);
  EXPECT_TRUE(weights.mm(basis).allclose(users[0].unsqueeze(0), 1e-4, 1e-5));
}

// The device's mechanism without noise, told of the same reader, against what the model mixes in evaluation.
void expect_as_a_device(const Wrapped& wrapped, privacy::GuaranteeMode mode) {
  const torch::NoGradGuard no_grad;
  model::Histories history;
  history.add(std::vector<std::int64_t>{1, 3, 5}, 0);
  model::Pass pass = model::Pass::evaluation();
  const std::vector<data::ItemId> items = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Tensor vectors = wrapped.model->encode_items(items, pass);
  const auto floats = [](const Tensor& tensor) {
    const Tensor values = tensor.contiguous();
    return std::vector<float>(values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
  };
  const std::vector<float> user = floats(wrapped.model->backbone().encode_users(vectors, history, pass));
  const auto known = std::make_shared<const privacy::PublicVectors>(
      privacy::PublicVectors{.dimension = user.size(), .basis = floats(wrapped.model->basis())});
  privacy::MechanismSettings settings;
  settings.mode = mode;
  const auto device = privacy::find_mechanism(privacy::serving_mechanisms(), "coefficients")
                          .value()
                          ->make(settings, known)
                          .value();
  const privacy::ServerEstimate told = std::get<privacy::BasisWeights>(device->exact(user).value());
  const std::vector<float> ranked_by = privacy::ranking_vector(told, *known, 0).value();
  const std::vector<float> mixed = floats(wrapped.model->encode_users(vectors, history, pass));
  for (std::size_t j = 0; j < mixed.size(); ++j) EXPECT_NEAR(ranked_by[j], mixed[j], 1e-5);
}

TEST(PrivateRecModel, MixesByTheWeightsThatADeviceTells) {
  expect_as_a_device(Wrapped({}), privacy::GuaranteeMode::sound);
}

// The model's SoftPlus and normalisation are torch's; a device has privacy::normalise_attention.
TEST(PrivateRecModel, MakesWeightsPositiveAsADeviceDoes) {
  model::PrivateRecModel::Settings printed;
  printed.printed = true;
  expect_as_a_device(Wrapped(printed), privacy::GuaranteeMode::paper);
}

TEST(PrivateRecModel, VanishingNoiseWithoutPaddingIsTheNonPrivateForm) {
  model::PrivateRecModel::Settings settings;
  settings.training = attention(1e6, 0);
  const Wrapped plain({}), noisy(settings);
  EXPECT_TRUE(
      noisy.users(model::Pass::train(1, 1)).allclose(plain.users(model::Pass::train(1, 1)), 1e-3, 1e-4));
}

TEST(PrivateRecModel, NoiseGrowsAsEpsilonFalls) {
  const auto spread = [](double epsilon) {
    model::PrivateRecModel::Settings settings;
    settings.serving = attention(epsilon, 0);
    return Wrapped(settings).users(model::Pass::evaluation()).std(0).mean().item<double>();
  };
  const double at_5 = spread(5), at_50 = spread(50);
  EXPECT_GT(at_50, 0);
  EXPECT_GT(at_5, 3 * at_50);  // less than ten times only because weights are made positive
}

constexpr data::ItemId anonymous = 9;

// Nearly every click replaced, and hardly any noise.
model::PrivateRecModel::Settings all_padded() {
  model::PrivateRecModel::Settings settings;
  settings.training = settings.serving = attention(1e6, 0.999);
  settings.padding = 0.999;
  settings.anonymous = anonymous;
  return settings;
}

TEST(PrivateRecModel, PaddedClicksReadAsTheAnonymousItem) {
  const Wrapped padded(all_padded());
  const Tensor users = padded.users(model::Pass::evaluation());
  torch::NoGradGuard no_grad;
  model::Pass pass = model::Pass::evaluation();
  const std::vector<data::ItemId> items = {anonymous};
  model::Histories history;
  history.add(std::vector<std::int64_t>{0, 0, 0}, 0);
  const Tensor vector = padded.model->encode_items(items, pass);
  EXPECT_TRUE(padded.model->anonymous_vector().allclose(vector[0]));
  EXPECT_GT(vector.norm().item<double>(), 0);
  model::PrivateRecModel::Settings plain = all_padded();
  plain.padding = 0;
  const Tensor expected = Wrapped(plain).model->encode_users(vector, history, pass);
  const Tensor close = (users - expected).norm(2, 1).lt(0.02 * expected.norm());
  EXPECT_GT(close.sum().item<std::int64_t>(), 190) << "0.3 % of the readers keep a click";
}

// r0 = Θ_f(e0) learns from clicks that it took the place of.
TEST(PrivateRecModel, TheAnonymousItemLearns) {
  constexpr data::ItemId unread = 3;  // by readers of even items
  auto settings = all_padded();
  settings.anonymous = unread;
  const Wrapped padded(settings);
  padded.training->user_gradient(1, 2);
  const Tensor words = padded.model->named_parameters()["backbone.words"].grad();
  EXPECT_GT(words[6 + unread].norm().item<double>(), 0) << "its own word";
}

TEST(PrivateRecModel, AsPrintedInfiniteEpsilonStillPadsAndMakesPositive) {
  model::PrivateRecModel::Settings printed;
  printed.printed = true;
  const Tensor softplus = Wrapped(printed).users(model::Pass::evaluation()),
               plain = Wrapped({}).users(model::Pass::evaluation());
  EXPECT_GT((softplus - plain).norm().item<double>(), 1e-3 * plain.norm().item<double>());
  model::PrivateRecModel::Settings padded = printed;
  padded.padding = 0.5;
  padded.anonymous = anonymous;
  const Tensor users = Wrapped(padded).users(model::Pass::evaluation());
  EXPECT_GT(users.std(0).mean().item<double>(), 0) << "equal histories, padded differently";
}

TEST(PrivateRecModel, EveryUsersGradientEqualsTheUsersAloneWithPadding) {
  model::PrivateRecModel::Settings settings;
  settings.printed = true;
  settings.padding = 0.5;
  settings.anonymous = anonymous;
  settings.noise = privacy::NoiseOrigin::reproducible(1);  // both ways pad the same clicks
  const Wrapped wrapped(settings);
  ASSERT_TRUE(wrapped.training->user_gradients(
      3, wrapped.tiny.data.users, [&](data::UserId user, const LocalGradient& own) -> Status {
        const Tensor together = own.gradient.clone();
        const Tensor alone = Wrapped(settings).training->user_gradient(3, user).gradient.clone();
        EXPECT_LE((together - alone).norm().item<double>(), 1e-4 * alone.norm().item<double>() + 1e-7);
        return {};
      }));
}

TEST(PrivateRecModel, EveryUsersGradientEqualsTheUsersAloneWithoutNoise) {
  const Wrapped wrapped({});
  std::size_t seen = 0;
  ASSERT_TRUE(wrapped.training->user_gradients(
      3, wrapped.tiny.data.users, [&](data::UserId user, const LocalGradient& own) -> Status {
        const Tensor together = own.gradient.clone();
        Wrapped again({});
        const Tensor alone = again.training->user_gradient(3, user).gradient;
        EXPECT_LE((together - alone).norm().item<double>(), 1e-5 * alone.norm().item<double>() + 1e-9);
        ++seen;
        return {};
      }));
  EXPECT_EQ(seen, wrapped.tiny.data.users.size());
}

}  // namespace
}  // namespace sotto::fl
