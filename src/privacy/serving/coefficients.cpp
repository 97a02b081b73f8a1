// PrivateRec's GetPrivAttn: clicks are replaced by the anonymous item with probability p, then the attention
// of the reader over public basis vectors, softmax(u·bᵀ/√d), is clipped, noised, made positive and normalised
// (privacy/mechanisms/private_attention.h).

#include <utility>

#include "privacy/mechanisms/private_attention.h"
#include "privacy/mechanisms/softmax.h"
#include "privacy/serving/serving_mechanism.h"

namespace sotto::privacy {

namespace {

BasisWeights as_weights(const std::vector<double>& values) { return {values.begin(), values.end()}; }

class Coefficients final : public ServingMechanism {
 public:
  static Result<std::unique_ptr<const ServingMechanism>> make(const MechanismSettings& settings,
                                                              std::shared_ptr<const PublicVectors> vectors) {
    if (vectors->basis_rows() < 2)
      return bad_input("the model has too few basis vectors for this mechanism: choose another one");
    auto made = std::make_unique<Coefficients>(std::move(vectors));
    made->printed_ = settings.mode == GuaranteeMode::paper;
    if (settings.epsilon) {
      SOTTO_TRY(made->attention_, PrivateAttention::create({.mode = settings.mode,
                                                            .noise = settings.noise,
                                                            .basis_vectors = made->vectors_->basis_rows(),
                                                            .clip = settings.clip,
                                                            .epsilon = *settings.epsilon,
                                                            .delta = settings.delta,
                                                            .padding = settings.padding}));
    }
    return made;
  }

  explicit Coefficients(std::shared_ptr<const PublicVectors> vectors) : vectors_(std::move(vectors)) {}

  std::optional<Price> price() const override {
    if (!attention_) return std::nullopt;
    const PrivacyEvent history = attention_->whole_history();
    return Price{history, attention_->statement().holds.value_or(history)};
  }

  Result<std::vector<unsigned char>> pad(std::size_t clicks, DeviceRandom random) const override {
    if (!attention_) return ServingMechanism::pad(clicks, random);
    return attention_->pad(clicks, random);
  }

  Result<ServingQuery> draw(std::span<const float> user, DeviceRandom random) const override {
    if (!attention_) return bad_input("coefficients cannot be drawn without epsilon");
    SOTTO_TRY(const auto noisy, attention_->release(attention_over(vectors_->basis, user), random));
    return as_weights(normalise_attention(noisy.reals(), AttentionActivation::softplus));
  }

  Result<ServingQuery> exact(std::span<const float> user) const override {
    std::vector<double> weights = attention_over(vectors_->basis, user);
    if (!printed_) return as_weights(weights);
    // GetPrivAttn prints SoftPlus for every ε, infinity included.
    return as_weights(normalise_attention(std::move(weights), AttentionActivation::softplus));
  }

 private:
  std::shared_ptr<const PublicVectors> vectors_;
  std::optional<PrivateAttention> attention_;  // none without ε
  bool printed_ = false;
};

// All attention on one of two basis vectors against all on the other: no pair is further apart.
WorstCase opposite_attention() {
  constexpr float length = 100;  // so that the softmax is at its end
  WorstCase worst;
  worst.settings.epsilon = 1;
  worst.vectors.dimension = 2;
  worst.vectors.basis = {length, 0, 0, length};
  worst.users = {std::vector<float>{1, 0}, std::vector<float>{0, 1}};
  return worst;
}

}  // namespace

ServingMechanismEntry coefficients_mechanism() {
  return {.name = "coefficients",
          .summary = "noisy weights of the public basis vectors (PrivateRec)",
          .make = &Coefficients::make,
          .read = nullptr,
          .worst_case = &opposite_attention,
          .sizes = {MeasuredSizes::Of::basis, {}, {}}};
}

}  // namespace sotto::privacy
