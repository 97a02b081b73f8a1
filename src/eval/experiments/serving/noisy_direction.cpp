// A reader's departure from the average user, in the m public dimensions where simulated readers differ most:
// made length 1, so that two readers are at most 2 apart whatever their histories, and noised soundly.

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "eval/experiments/serving/compared_mechanism.h"
#include "privacy/mechanisms/user_embedding_release.h"
#include "publish/rows.h"

namespace sotto::eval::private_serving {

namespace {

Rows minus(Rows rows, std::span<const float> centre) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.width; ++j) rows[i][j] -= centre[j];
  }
  return rows;
}

// The m directions of largest variance, as rows.
Rows principal_directions(const Rows& centred, std::size_t m) {
  const auto width = static_cast<Eigen::Index>(centred.width);
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> matrix(
      centred.values.data(), static_cast<Eigen::Index>(centred.size()), width);
  const Eigen::MatrixXd wide = matrix.cast<double>();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(wide.transpose() * wide);
  m = std::min(m, centred.width);
  Rows directions(m, centred.width);
  for (std::size_t e = 0; e < m; ++e) {
    for (Eigen::Index j = 0; j < width; ++j)
      directions[e][static_cast<std::size_t>(j)] =
          static_cast<float>(solver.eigenvectors()(j, width - 1 - static_cast<Eigen::Index>(e)));
  }
  return directions;
}

class NoisyDirection final : public BelievedAnswers {
 public:
  static Result<std::unique_ptr<ComparedMechanism>> create(privacy::NoiseKind noise,
                                                           const MechanismChoice& choice,
                                                           const PublicKnowledge& known, std::uint64_t seed) {
    auto mechanism = std::make_unique<NoisyDirection>(known);
    const Rows centred = minus(known.readers, known.average);
    mechanism->directions_ = principal_directions(centred, choice.size);
    const Rows coordinates = products(centred, mechanism->directions_);
    for (std::size_t i = 0; i < coordinates.size(); ++i)
      mechanism->typical_length_ += std::sqrt(dot(coordinates[i], coordinates[i]));
    mechanism->typical_length_ /= static_cast<double>(coordinates.size());
    mechanism->privacy_.claimed = choice.epsilon;
    if (std::isfinite(choice.epsilon)) {
      SOTTO_TRY(mechanism->release_,
                privacy::UserEmbeddingRelease::create(
                    {.mode = privacy::GuaranteeMode::sound,
                     .noise = noise,
                     .dimension = mechanism->directions_.size(),
                     .clip = 1,
                     .epsilon = choice.epsilon,
                     .delta = noise == privacy::NoiseKind::gaussian ? gaussian_delta : 0}));
      SOTTO_TRY(mechanism->privacy_, privacy_of(mechanism->release_->statement().holds, choice.epsilon));
    }
    SOTTO_CHECK(mechanism->choose_weight(seed));
    return mechanism;
  }

  explicit NoisyDirection(const PublicKnowledge& known) : BelievedAnswers(known) {}

 private:
  Result<Rows> answers(const Rows& readers, std::uint64_t seed) const override {
    Rows coordinates = products(minus(readers, known_.average), directions_);
    normalise_rows(coordinates);
    return draw_rows(readers.size(), readers.width, seed,
                     [&](std::size_t i, std::span<float> out, privacy::DeviceRandom random) -> Status {
                       std::vector<double> told(coordinates[i].begin(), coordinates[i].end());
                       if (release_) {
                         SOTTO_TRY(const auto released, release_->release(told, random));
                         told = released.reals();
                       }
                       std::copy(known_.average.begin(), known_.average.end(), out.begin());
                       for (std::size_t e = 0; e < told.size(); ++e) {
                         for (std::size_t j = 0; j < out.size(); ++j)
                           out[j] += static_cast<float>(typical_length_ * told[e] * directions_[e][j]);
                       }
                       return {};
                     });
  }

  Rows directions_;
  double typical_length_ = 0;
  std::optional<privacy::UserEmbeddingRelease> release_;  // none without noise
};

}  // namespace

Result<std::unique_ptr<ComparedMechanism>> make_noisy_direction(privacy::NoiseKind noise,
                                                                const MechanismChoice& choice,
                                                                const PublicKnowledge& known,
                                                                std::uint64_t seed) {
  return NoisyDirection::create(noise, choice, known, seed);
}

}  // namespace sotto::eval::private_serving
