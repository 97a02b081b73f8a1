// One of K public prototypes of the ranking space, by k-ary randomised response or the exponential mechanism,
// put through Bayes' rule by the server.

#include <algorithm>
#include <cmath>

#include "eval/experiments/serving/compared_mechanism.h"
#include "publish/codebook.h"

namespace sotto::eval::private_serving {

namespace {

constexpr int prototype_iterations = 12;

// P(answer = k | reader) for every simulated reader: [M, K]. Without noise: the most similar one.
Rows answer_likelihoods(Rows similarities, privacy::PrototypeRule rule, double epsilon) {
  const auto k = static_cast<double>(similarities.width);
  for (std::size_t i = 0; i < similarities.size(); ++i) {
    const auto row = similarities[i];
    const auto best = std::max_element(row.begin(), row.end());
    const double largest = *best;
    if (rule == privacy::PrototypeRule::similarity && std::isfinite(epsilon)) {
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

class PrototypePosterior final : public BelievedAnswers {
 public:
  static Result<std::unique_ptr<ComparedMechanism>> create(privacy::PrototypeRule rule,
                                                           const MechanismChoice& choice,
                                                           const PublicKnowledge& known, std::uint64_t seed) {
    auto made = std::make_unique<PrototypePosterior>(known);
    const Rows prototypes =
        k_means(known.readers, choice.size, ClusterShape::direction, prototype_iterations, seed).centres;
    privacy::MechanismSettings settings = settings_for(choice.epsilon);
    settings.rule = rule;
    SOTTO_TRY(const auto* entry, privacy::find_mechanism(privacy::serving_mechanisms(), "prototypes"));
    SOTTO_TRY(made->prototypes_,
              entry->make(settings, std::make_shared<const privacy::PublicVectors>(privacy::PublicVectors{
                                        .dimension = prototypes.width, .prototypes = prototypes.values})));
    std::optional<privacy::PrivacyEvent> event;
    if (const auto price = made->prototypes_->price()) event = price->history;
    SOTTO_TRY(made->privacy_, privacy_of(event, choice.epsilon));
    made->means_ = posterior_means(
        answer_likelihoods(products(known.readers, prototypes), rule, choice.epsilon), known.readers);
    SOTTO_CHECK(made->choose_weight(seed));
    return made;
  }

  explicit PrototypePosterior(const PublicKnowledge& known) : BelievedAnswers(known) {}

 private:
  Result<Rows> answers(const Rows& readers, std::uint64_t seed) const override {
    return draw_rows(readers.size(), means_.width, seed,
                     [&](std::size_t i, std::span<float> out, privacy::DeviceRandom random) -> Status {
                       SOTTO_TRY(const auto query, answer_of(*prototypes_, readers[i], random));
                       const auto mean = means_[std::get<privacy::PrototypeNumbers>(query).front()];
                       std::copy(mean.begin(), mean.end(), out.begin());
                       return {};
                     });
  }

  std::unique_ptr<const privacy::ServingMechanism> prototypes_;
  Rows means_;  // by the prototype that was heard
};

}  // namespace

Result<std::unique_ptr<ComparedMechanism>> make_prototype_posterior(privacy::PrototypeRule rule,
                                                                    const MechanismChoice& choice,
                                                                    const PublicKnowledge& known,
                                                                    std::uint64_t seed) {
  return PrototypePosterior::create(rule, choice, known, seed);
}

}  // namespace sotto::eval::private_serving
