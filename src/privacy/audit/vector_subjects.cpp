#include <algorithm>
#include <cmath>
#include <memory>

#include "privacy/accounting/gaussian_exact.h"
#include "privacy/audit/mechanism_subjects.h"
#include "privacy/audit/query_subjects.h"
#include "privacy/mechanisms/private_attention.h"
#include "privacy/mechanisms/user_embedding_release.h"
#include "privacy/mechanisms/vector_release.h"

namespace sotto::privacy::subject {

namespace {

using Vector = std::vector<double>;

// `given` goes into the mechanism, `clipped` is what it noises. laplace_scale 0: Gaussian noise.
template <class Release>
AuditedMechanism vector_subject(AuditClaim claim, std::shared_ptr<const Release> mechanism,
                                std::array<Vector, 2> given, std::array<Vector, 2> clipped,
                                double laplace_scale) {
  AuditedMechanism subject{.claim = claim, .noiseless = clipped};
  subject.release = [mechanism = std::move(mechanism), given = std::move(given)](
                        Neighbour neighbour, DeviceRandom random) -> Result<Vector> {
    SOTTO_TRY(const GridVector released,
              mechanism->release(given[static_cast<std::size_t>(neighbour)], random));
    return released.reals();
  };
  subject.statistics.push_back(projection(clipped[0], clipped[1]));
  if (laplace_scale > 0) subject.statistics.push_back(laplace_ratio(clipped[0], clipped[1], laplace_scale));
  return subject;
}

template <class Release>
std::shared_ptr<const Release> shared(Release mechanism) {
  return std::make_shared<const Release>(std::move(mechanism));
}

// Every coordinate at the other end of [-δ, δ]: the paper's δ and λ.
constexpr double element_clip = 0.005, element_scale = 0.015;

Result<AuditedMechanism> elementwise(std::uint64_t dimension, bool papers) {
  SOTTO_TRY(auto mechanism, ElementwiseLaplace::create({element_clip, element_scale, dimension}));
  const MechanismStatement statement = mechanism.statement();
  SOTTO_TRY(const AuditClaim claim,
            papers ? papers_claim(statement) : claim_of(*statement.holds, audited_delta));
  const double step = grid_step_for(element_scale);
  const double reach = std::floor(element_clip / step) * step;
  const std::array<Vector, 2> pair{Vector(dimension, reach), Vector(dimension, -reach)};
  return vector_subject(claim, shared(std::move(mechanism)), pair, pair, element_scale);
}

// B = 4 and θ = 1/2: all attention on the first two basis vectors against all on the last two. Clipped, the
// two are √(2B)·θ apart in L1 and √2·θ in L2: no pair is further apart in either.
constexpr std::uint64_t basis_count = 4;
constexpr double attention_clip = 0.5;

std::array<Vector, 2> softmax_attention() { return {Vector{0.5, 0.5, 0, 0}, Vector{0, 0, 0.5, 0.5}}; }

std::array<Vector, 2> clipped_attention() {
  const double weight = attention_clip / std::sqrt(2.0);
  return {Vector{weight, weight, 0, 0}, Vector{0, 0, weight, weight}};
}

Result<AuditedMechanism> attention(GuaranteeMode mode, NoiseKind noise, double epsilon) {
  const bool gaussian_noise = noise == NoiseKind::gaussian;
  SOTTO_TRY(auto mechanism, PrivateAttention::create({.mode = mode,
                                                      .noise = noise,
                                                      .basis_vectors = basis_count,
                                                      .clip = attention_clip,
                                                      .epsilon = epsilon,
                                                      .delta = gaussian_noise ? audited_delta : 0}));
  const MechanismStatement statement = mechanism.statement();
  SOTTO_TRY(const AuditClaim claim, mode == GuaranteeMode::paper ? papers_claim(statement)
                                                                 : claim_of(*statement.holds, audited_delta));
  const double l1 = std::sqrt(2.0 * basis_count) * attention_clip;
  const double scale = gaussian_noise ? 0 : (mode == GuaranteeMode::paper ? attention_clip : l1) / epsilon;
  return vector_subject(claim, shared(std::move(mechanism)), softmax_attention(), clipped_attention(), scale);
}

// Embeddings of norm θ in opposite corners: 2θ apart in L2 and 2θ√d in L1.
AuditedMechanism opposite_corners(UserEmbeddingRelease mechanism,
                                  const UserEmbeddingRelease::Settings& settings, const AuditClaim& claim) {
  const double root = std::sqrt(static_cast<double>(settings.dimension));
  const std::array<Vector, 2> pair{Vector(settings.dimension, settings.clip / root),
                                   Vector(settings.dimension, -settings.clip / root)};
  const double l1 = 2 * settings.clip * (settings.mode == GuaranteeMode::paper ? 1 : root);
  const double scale = settings.noise == NoiseKind::laplace ? l1 / settings.epsilon : 0;
  return vector_subject(claim, shared(std::move(mechanism)), pair, pair, scale);
}

Result<AuditedMechanism> embedding(const UserEmbeddingRelease::Settings& settings) {
  SOTTO_TRY(auto mechanism, UserEmbeddingRelease::create(settings));
  const MechanismStatement statement = mechanism.statement();
  SOTTO_TRY(const AuditClaim claim, settings.mode == GuaranteeMode::paper
                                        ? papers_claim(statement)
                                        : claim_of(*statement.holds, audited_delta));
  return opposite_corners(std::move(mechanism), settings, claim);
}

}  // namespace

Result<AuditedMechanism> laplace() {
  // One coordinate with the whole L1 shift dominates every other split of it (docs/privacy/accounting.md).
  SOTTO_TRY(auto mechanism, LaplaceMechanism::create({.epsilon = 1, .l1_sensitivity = 1, .dimension = 2}));
  SOTTO_TRY(const AuditClaim claim, claim_of(mechanism.event(), audited_delta));
  const std::array<Vector, 2> pair{Vector{1, 0}, Vector{0, 0}};
  const double scale = mechanism.scale();
  return vector_subject(claim, shared(std::move(mechanism)), pair, pair, scale);
}

Result<AuditedMechanism> gaussian() {
  SOTTO_TRY(auto mechanism,
            GaussianMechanism::create({.noise_multiplier = 1, .l2_sensitivity = 1, .dimension = 4}));
  SOTTO_TRY(const AuditClaim claim, claim_of(mechanism.event(), audited_delta));
  const std::array<Vector, 2> pair{Vector(4, 0.5), Vector(4, 0)};
  return vector_subject(claim, shared(std::move(mechanism)), pair, pair, 0);
}

Result<AuditedMechanism> elementwise_laplace() { return elementwise(2, false); }
Result<AuditedMechanism> elementwise_laplace_paper() { return elementwise(8, true); }

Result<AuditedMechanism> attention_laplace() {
  return attention(GuaranteeMode::sound, NoiseKind::laplace, 1);
}
Result<AuditedMechanism> attention_gaussian() {
  return attention(GuaranteeMode::sound, NoiseKind::gaussian, 4);
}
Result<AuditedMechanism> attention_laplace_paper() {
  return attention(GuaranteeMode::paper, NoiseKind::laplace, 1);
}
Result<AuditedMechanism> attention_gaussian_paper() {
  return attention(GuaranteeMode::paper, NoiseKind::gaussian, 4);
}

Result<AuditedMechanism> attention_padded() {
  // The second neighbour's click looks like padding itself: then the amplification is tight.
  constexpr double asked_epsilon = 1, padding_share = 0.5;
  SOTTO_TRY(auto created, PrivateAttention::create({.noise = NoiseKind::laplace,
                                                    .basis_vectors = basis_count,
                                                    .clip = attention_clip,
                                                    .epsilon = asked_epsilon,
                                                    .padding = padding_share}));
  SOTTO_TRY(const AuditClaim claim, claim_of(*created.statement().holds, audited_delta));
  const double before = budget_before_padding({asked_epsilon, 0}, padding_share).epsilon;
  const auto mechanism = shared(std::move(created));
  AuditedMechanism subject = vector_subject(claim, mechanism, softmax_attention(), clipped_attention(),
                                            std::sqrt(2.0 * basis_count) * attention_clip / before);
  subject.release = [mechanism, given = softmax_attention()](Neighbour neighbour,
                                                             DeviceRandom random) -> Result<Vector> {
    SOTTO_TRY(const auto padded, mechanism->pad(1, random));
    const bool shown = neighbour == Neighbour::first && padded[0] == 0;
    SOTTO_TRY(const GridVector released, mechanism->release(given[shown ? 0 : 1], random));
    return released.reals();
  };
  return subject;
}

// Weights on two disjoint groups of basis vectors, clipped: furthest apart in L1 with half of them each, in
// L2 with one each.
Result<AuditedMechanism> attention_query(const PrivateAttention::Settings& settings) {
  if (settings.basis_vectors < 2) return bad_input("a query of one basis vector says the same for everybody");
  SOTTO_TRY(auto mechanism, PrivateAttention::create(settings));
  const bool laplace_noise = settings.noise == NoiseKind::laplace;
  SOTTO_TRY(const AuditClaim claim,
            claim_of(mechanism.whole_history(), laplace_noise ? audited_delta : settings.delta));
  const std::size_t basis = settings.basis_vectors, group = laplace_noise ? basis / 2 : 1;
  const auto size = static_cast<double>(group);
  const double clipped = std::min(settings.clip / std::sqrt(size), 1 / size);
  const auto on_group = [&](std::size_t first, double weight) {
    Vector weights(basis, 0);
    std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(first), group, weight);
    return weights;
  };
  const double scale =
      laplace_noise
          ? std::min(2.0, std::sqrt(2.0 * static_cast<double>(basis)) * settings.clip) / claim.epsilon
          : 0;
  return vector_subject(claim, shared(std::move(mechanism)),
                        std::array<Vector, 2>{on_group(0, 1 / size), on_group(group, 1 / size)},
                        std::array<Vector, 2>{on_group(0, clipped), on_group(group, clipped)}, scale);
}

Result<AuditedMechanism> embedding_query(const UserEmbeddingRelease::Settings& settings) {
  SOTTO_TRY(auto mechanism, UserEmbeddingRelease::create(settings));
  const MechanismStatement statement = mechanism.statement();
  if (!statement.holds) return bad_input("nothing holds for such a query: there is no claim to refute");
  SOTTO_TRY(const AuditClaim claim,
            claim_of(*statement.holds, settings.delta > 0 ? settings.delta : audited_delta));
  return opposite_corners(std::move(mechanism), settings, claim);
}

Result<AuditedMechanism> embedding_laplace() {
  return embedding({.noise = NoiseKind::laplace, .dimension = 2, .clip = 1, .epsilon = 1});
}
Result<AuditedMechanism> embedding_gaussian() {
  return embedding(
      {.noise = NoiseKind::gaussian, .dimension = 16, .clip = 1, .epsilon = 4, .delta = audited_delta});
}
Result<AuditedMechanism> embedding_laplace_paper() {
  return embedding(
      {.mode = GuaranteeMode::paper, .noise = NoiseKind::laplace, .dimension = 16, .clip = 1, .epsilon = 1});
}
Result<AuditedMechanism> embedding_gaussian_paper() {
  // The classical formula with the stray (1 − p) falls short only at large ε.
  return embedding({.mode = GuaranteeMode::paper,
                    .noise = NoiseKind::gaussian,
                    .dimension = 16,
                    .clip = 1,
                    .epsilon = 20,
                    .delta = audited_delta,
                    .padding_in_formula = 0.5});
}

}  // namespace sotto::privacy::subject
