// PrivateRec's serving: B noisy attention weights over public basis vectors. The basis here are B prototypes;
// the weights are softmax(sharpness · cosine), which is the paper's softmax(u·b/√d) for basis vectors of the
// length that training would give them. θ = 1, which clips nothing: attention sums to 1.

#include <cmath>

#include "eval/experiments/serving/mechanism_parts.h"
#include "privacy/mechanisms/private_attention.h"
#include "publish/k_means.h"
#include "publish/rows.h"

namespace sotto::private_serving {

namespace {

constexpr double sharpness = 8;
constexpr int basis_iterations = 12;

std::vector<double> attention(std::span<const float> similarities) {
  std::vector<double> weights(similarities.begin(), similarities.end());
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(sharpness * (weight - 1));
  for (double& weight : weights) weight /= sum;
  return weights;
}

class CoefficientMechanism final : public ServingMechanism {
 public:
  CoefficientMechanism(Rows basis, std::optional<PrivateAttention> attention, AnswerPrivacy privacy)
      : basis_(std::move(basis)), attention_(std::move(attention)), privacy_(privacy) {}

  AnswerPrivacy privacy() const override { return privacy_; }

  Result<Rows> serve(const Rows&, const Rows& readers, std::uint64_t seed) const override {
    const Rows similarities = products(readers, basis_);
    return draw_rows(readers.size(), basis_.width, seed,
                     [&](std::size_t i, std::span<float> out, DeviceRandom random) -> Status {
                       std::vector<double> weights = attention(similarities[i]);
                       if (attention_) {
                         SOTTO_TRY(const auto noisy, attention_->release(weights, random));
                         weights = normalise_attention(noisy, AttentionActivation::softplus);
                       }
                       for (std::size_t b = 0; b < weights.size(); ++b) {
                         for (std::size_t j = 0; j < out.size(); ++j)
                           out[j] += static_cast<float>(weights[b] * basis_[b][j]);
                       }
                       return {};
                     });
  }

 private:
  Rows basis_;
  std::optional<PrivateAttention> attention_;  // none without noise
  AnswerPrivacy privacy_;
};

}  // namespace

Result<std::unique_ptr<ServingMechanism>> make_coefficient_mechanism(const MechanismChoice& choice,
                                                                     const PublicKnowledge& known,
                                                                     std::uint64_t seed) {
  Rows basis = k_means(known.readers, choice.size, ClusterShape::direction, basis_iterations, seed).centres;
  std::optional<PrivateAttention> attention;
  AnswerPrivacy privacy{std::nullopt, 0, choice.epsilon};
  if (std::isfinite(choice.epsilon)) {
    const bool gaussian = choice.family == Family::coefficients_gaussian;
    SOTTO_TRY(attention, PrivateAttention::create(
                             {.mode = choice.family == Family::coefficients_paper ? GuaranteeMode::paper
                                                                                  : GuaranteeMode::sound,
                              .noise = gaussian ? NoiseKind::gaussian : NoiseKind::laplace,
                              .basis_vectors = basis.size(),
                              .clip = 1,
                              .epsilon = choice.epsilon,
                              .delta = gaussian ? gaussian_delta : 0}));
    SOTTO_TRY(privacy, privacy_of(attention->statement()));
  }
  return std::make_unique<CoefficientMechanism>(std::move(basis), std::move(attention), privacy);
}

}  // namespace sotto::private_serving
