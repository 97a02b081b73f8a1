// Nothing, everything, or the noisy user vector as in the paper (VDP).

#include <cmath>

#include "eval/experiments/serving/mechanism_parts.h"
#include "privacy/mechanisms/user_embedding_release.h"
#include "publish/rows.h"

namespace sotto::private_serving {

namespace {

constexpr double vdp_clip = 0.001;  // the paper's

class AverageUser final : public ServingMechanism {
 public:
  explicit AverageUser(const PublicKnowledge& known) : known_(known) {}
  AnswerPrivacy privacy() const override { return {0, 0, 0}; }
  Result<Rows> serve(const Rows&, const Rows& readers, std::uint64_t) const override {
    return repeated(known_.average, readers.size());
  }

 private:
  const PublicKnowledge& known_;
};

class ExactVector final : public ServingMechanism {
 public:
  AnswerPrivacy privacy() const override { return {std::nullopt, 0, INFINITY}; }
  Result<Rows> serve(const Rows&, const Rows& readers, std::uint64_t) const override { return readers; }
};

class NoisyVector final : public ServingMechanism {
 public:
  NoisyVector(const PublicKnowledge& known, UserEmbeddingRelease release, AnswerPrivacy privacy)
      : known_(known), release_(std::move(release)), privacy_(privacy) {}
  AnswerPrivacy privacy() const override { return privacy_; }
  Result<Rows> serve(const Rows& user_vectors, const Rows&, std::uint64_t seed) const override {
    SOTTO_TRY(const Rows noisy,
              draw_rows(user_vectors.size(), user_vectors.width, seed,
                        [&](std::size_t i, std::span<float> out, DeviceRandom random) -> Status {
                          const std::vector<double> vector(user_vectors[i].begin(), user_vectors[i].end());
                          SOTTO_TRY(const auto released, release_.release(vector, random));
                          const std::vector<double> values = released.reals();
                          for (std::size_t j = 0; j < out.size(); ++j) out[j] = static_cast<float>(values[j]);
                          return {};
                        }));
    return known_.space.readers(noisy);
  }

 private:
  const PublicKnowledge& known_;
  UserEmbeddingRelease release_;
  AnswerPrivacy privacy_;
};

}  // namespace

Result<std::unique_ptr<ServingMechanism>> make_vector_mechanism(const MechanismChoice& choice,
                                                                const PublicKnowledge& known) {
  if (choice.family == Family::average_user) return std::make_unique<AverageUser>(known);
  if (choice.family == Family::exact || !std::isfinite(choice.epsilon))
    return std::make_unique<ExactVector>();
  SOTTO_TRY(auto release, UserEmbeddingRelease::create({.mode = GuaranteeMode::paper,
                                                        .noise = NoiseKind::laplace,
                                                        .dimension = known.held_out_vectors.width,
                                                        .clip = vdp_clip,
                                                        .epsilon = choice.epsilon}));
  SOTTO_TRY(const auto privacy, privacy_of(release.statement()));
  return std::make_unique<NoisyVector>(known, std::move(release), privacy);
}

}  // namespace sotto::private_serving
