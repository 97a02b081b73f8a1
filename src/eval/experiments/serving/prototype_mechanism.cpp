// One of K public prototypes, by k-ary randomised response or the exponential mechanism.

#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "eval/experiments/serving/mechanism_parts.h"
#include "eval/experiments/serving/mixing.h"
#include "privacy/mechanisms/prototype_selection.h"
#include "publish/k_means.h"
#include "publish/rows.h"

namespace sotto::private_serving {

namespace {

constexpr int codebook_iterations = 12;

// P(answer = k | reader) for every simulated reader: [M, K]. Without noise: the most similar one.
Rows answer_likelihoods(Rows similarities, Family family, double epsilon) {
  const auto k = static_cast<double>(similarities.width);
  for (std::size_t i = 0; i < similarities.size(); ++i) {
    const auto row = similarities[i];
    const auto best = std::max_element(row.begin(), row.end());
    const double largest = *best;
    if (family == Family::prototypes_similarity && std::isfinite(epsilon)) {
      double sum = 0;
      for (float& value : row)
        sum += value = static_cast<float>(std::exp(epsilon / 4 * (value - largest)));  // sensitivity 2
      for (float& value : row) value = static_cast<float>(value / sum);
    } else {
      const double keep = std::isfinite(epsilon) ? 1 / (1 + (k - 1) * std::exp(-epsilon)) : 1;
      const auto kept = best - row.begin();
      std::fill(row.begin(), row.end(), static_cast<float>((1 - keep) / std::max(k - 1, 1.0)));
      row[static_cast<std::size_t>(kept)] = static_cast<float>(keep);
    }
  }
  return similarities;
}

// E[reader | answer = k]: what Bayes' rule makes of an answer when readers are like the simulated ones.
Rows posterior_means(const Rows& likelihoods, const Rows& readers) {
  const std::size_t width = readers.width;
  std::vector<double> sums(likelihoods.width * width), weights(likelihoods.width);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double weight = likelihoods[i][k];
      weights[k] += weight;
      for (std::size_t j = 0; j < width; ++j) sums[k * width + j] += weight * readers[i][j];
    }
  }
  Rows means(weights.size(), width);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    for (std::size_t j = 0; j < width; ++j)
      means[k][j] = static_cast<float>(sums[k * width + j] / std::max(weights[k], 1e-12));
  }
  return means;
}

class PrototypeMechanism final : public ServingMechanism {
 public:
  static Result<std::unique_ptr<ServingMechanism>> create(const MechanismChoice& choice,
                                                          const PublicKnowledge& known, std::uint64_t seed) {
    auto mechanism = std::make_unique<PrototypeMechanism>(choice, known);
    mechanism->prototypes_ =
        k_means(known.readers, choice.size, ClusterShape::direction, codebook_iterations, seed).centres;
    if (std::isfinite(choice.epsilon)) {
      const auto rule =
          choice.family == Family::prototypes_response ? PrototypeRule::response : PrototypeRule::similarity;
      SOTTO_TRY(mechanism->selection_,
                PrototypeSelection::create(rule, choice.epsilon, mechanism->prototypes_.size()));
    }
    mechanism->means_ = posterior_means(
        answer_likelihoods(products(known.readers, mechanism->prototypes_), choice.family, choice.epsilon),
        known.readers);
    const auto answer = [&](const Rows&, const Rows& readers, std::uint64_t draw) {
      return mechanism->answers(readers, draw);
    };
    SOTTO_TRY(mechanism->weight_, best_weight(known, answer, seed));
    return mechanism;
  }

  PrototypeMechanism(const MechanismChoice& choice, const PublicKnowledge& known)
      : choice_(choice), known_(known) {}

  AnswerPrivacy privacy() const override {
    if (!selection_) return {std::nullopt, 0, choice_.epsilon};
    return {choice_.epsilon, 0, choice_.epsilon};
  }

  Result<Rows> serve(const Rows&, const Rows& readers, std::uint64_t seed) const override {
    SOTTO_TRY(auto rows, answers(readers, seed));
    return mixed_with_average(std::move(rows), known_.average, weight_);
  }

 private:
  Result<Rows> answers(const Rows& readers, std::uint64_t seed) const {
    const Rows similarities = products(readers, prototypes_);
    return draw_rows(readers.size(), means_.width, seed,
                     [&](std::size_t i, std::span<float> out, DeviceRandom random) -> Status {
                       const auto row = similarities[i];
                       std::size_t chosen =
                           static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
                       if (selection_) {
                         std::vector<double> bounded(row.begin(), row.end());
                         for (double& value : bounded) value = std::clamp(value, -1.0, 1.0);
                         SOTTO_TRY(chosen, selection_->choose(bounded, random));
                       }
                       std::copy(means_[chosen].begin(), means_[chosen].end(), out.begin());
                       return {};
                     });
  }

  MechanismChoice choice_;
  const PublicKnowledge& known_;
  Rows prototypes_, means_;
  std::optional<PrototypeSelection> selection_;  // none without noise
  double weight_ = 1;
};

}  // namespace

Result<std::unique_ptr<ServingMechanism>> make_prototype_mechanism(const MechanismChoice& choice,
                                                                   const PublicKnowledge& known,
                                                                   std::uint64_t seed) {
  return PrototypeMechanism::create(choice, known, seed);
}

}  // namespace sotto::private_serving
