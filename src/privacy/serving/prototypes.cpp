// One of K public prototypes of interest, told by k-ary randomised response or by the exponential mechanism
// over cosine similarities (privacy/mechanisms/choice_release.h).

#include <algorithm>

#include "privacy/serving/serving_mechanism.h"

namespace sotto::privacy {

namespace {

class Prototypes final : public ServingMechanism {
 public:
  static Result<std::unique_ptr<const ServingMechanism>> make(const MechanismSettings& settings,
                                                              std::shared_ptr<const PublicVectors> vectors) {
    if (vectors->prototype_rows() < 2)
      return bad_input("the model has too few prototypes for this mechanism: choose another one");
    auto made = std::make_unique<Prototypes>(settings, std::move(vectors));
    if (settings.epsilon) {
      SOTTO_TRY(made->selection_, PrototypeSelection::create(settings.rule, *settings.epsilon,
                                                             made->vectors_->prototype_rows()));
    }
    return made;
  }

  Prototypes(const MechanismSettings& settings, std::shared_ptr<const PublicVectors> vectors)
      : settings_(settings), vectors_(std::move(vectors)) {}

  std::optional<Price> price() const override {
    if (!selection_) return std::nullopt;
    return Price{selection_->event(), selection_->event()};
  }

  Result<ServingQuery> draw(std::span<const float> user, DeviceRandom random) const override {
    if (!selection_) return bad_input("prototypes cannot be drawn without epsilon");
    SOTTO_TRY(const auto similarities, cosine_similarities(vectors_->prototypes, user));
    SOTTO_TRY(const std::uint64_t chosen, selection_->choose(similarities, random));
    return PrototypeNumbers{static_cast<std::uint32_t>(chosen)};
  }

  Result<ServingQuery> exact(std::span<const float> user) const override {
    SOTTO_TRY(const auto similarities, cosine_similarities(vectors_->prototypes, user));
    return PrototypeNumbers{static_cast<std::uint32_t>(
        std::max_element(similarities.begin(), similarities.end()) - similarities.begin())};
  }

  double average_share() const override {
    return settings_.epsilon ? share_of_average_user(*settings_.epsilon, vectors_->prototype_rows()) : 0;
  }

 private:
  MechanismSettings settings_;
  std::shared_ptr<const PublicVectors> vectors_;
  std::optional<PrototypeSelection> selection_;  // none without ε
};

// Readers who are two of eight prototypes.
WorstCase opposite_prototypes() {
  constexpr std::size_t count = 8;
  WorstCase worst;
  worst.settings.epsilon = 1;
  worst.vectors.dimension = count;
  worst.vectors.prototypes.resize(count * count);
  for (std::size_t k = 0; k < count; ++k) worst.vectors.prototypes[k * count + k] = 1;
  for (std::size_t neighbour = 0; neighbour < 2; ++neighbour) {
    worst.users[neighbour].resize(count);
    worst.users[neighbour][neighbour] = 1;
  }
  return worst;
}

}  // namespace

ServingMechanismEntry prototypes_mechanism() {
  return {.name = "prototypes",
          .summary = "one of the public prototypes of interest",
          .make = &Prototypes::make,
          .read = nullptr,
          .worst_case = &opposite_prototypes,
          .sizes = {MeasuredSizes::Of::prototypes, {8, 16, 64, 256}, {8, 64}}};
}

}  // namespace sotto::privacy
