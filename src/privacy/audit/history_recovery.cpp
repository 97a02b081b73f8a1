#include "privacy/audit/history_recovery.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/distributions.h"
#include "privacy/accounting/account.h"
#include "privacy/mechanisms/private_attention.h"
#include "privacy/mechanisms/user_embedding_release.h"

namespace sotto::privacy {

std::span<const AttackEntry> attacks() {
  static constexpr std::array kEntries = {
      AttackEntry{"history-from-embeddings",
                  "averaging repeated noisy user embeddings; the defence is a privacy budget per device",
                  "clicked items found",
                  []() -> std::unique_ptr<Attack> { return std::make_unique<HistoryFromEmbeddings>(); }},
      AttackEntry{"history-from-attention",
                  "averaging repeated private attention weights; the defence is a privacy budget per device",
                  "histories told apart from 999 others",
                  []() -> std::unique_ptr<Attack> { return std::make_unique<HistoryFromAttention>(); }}};
  return kEntries;
}

Result<AttackFinding> run_attack(const AttackEntry& entry, std::uint64_t seed) {
  const auto attack = entry.make();
  AttackFinding finding{.chance = attack->chance()};
  SOTTO_TRY(finding.setting, attack->setting());
  SOTTO_TRY(finding.undefended, attack->success(Defence::off, seed));
  SOTTO_TRY(finding.defended, attack->success(Defence::on, seed));
  return finding;
}

namespace {

using Vector = std::vector<double>;

constexpr QueryExposure kExposure;
constexpr std::uint32_t kTrials = 20, kItems = 300, kClicks = 4, kCandidates = 1000;
constexpr std::size_t kDimension = 32, kBasis = 8;
constexpr double kEmbeddingClip = 0.5, kAttentionClip = 0.5;
// User vectors are means of unit vectors; trained models have logits of about this spread.
constexpr double kAttentionSharpness = 12;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double squared_distance(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

std::vector<Vector> random_directions(std::size_t count, RandomSource& random) {
  std::vector<Vector> rows(count, Vector(kDimension));
  for (Vector& row : rows) {
    for (double& value : row) value = normal(random);
    const double norm = std::sqrt(dot(row, row));
    for (double& value : row) value /= norm;
  }
  return rows;
}

Vector mean_of(const std::vector<Vector>& items, const std::vector<std::uint32_t>& clicks) {
  Vector mean(kDimension);
  for (const std::uint32_t click : clicks) {
    for (std::size_t i = 0; i < kDimension; ++i)
      mean[i] += items[click][i] / static_cast<double>(clicks.size());
  }
  return mean;
}

// The noise of each answer averages out; what it was added to stays.
template <class Mechanism>
Result<Vector> average_answer(const Mechanism& mechanism, const Vector& value, std::uint64_t answers,
                              RandomSource& random) {
  Vector mean(value.size());
  for (std::uint64_t i = 0; i < answers; ++i) {
    SOTTO_TRY(const GridVector answer, mechanism.release(value, DeviceRandom::simulated(random)));
    for (std::size_t j = 0; j < mean.size(); ++j) {
      mean[j] += static_cast<double>(answer.steps[j]) * answer.step / static_cast<double>(answers);
    }
  }
  return mean;
}

// The set of kClicks items whose mean is near `observed`: best one at a time, then exchanged while that
// helps.
std::vector<std::uint32_t> decode_clicks(const std::vector<Vector>& items, const Vector& observed) {
  std::vector<std::uint32_t> chosen;
  Vector rest = observed;
  const auto move = [&](std::uint32_t item, double sign) {
    for (std::size_t i = 0; i < kDimension; ++i) rest[i] -= sign * items[item][i] / kClicks;
  };
  const auto best_new = [&] {
    std::uint32_t best = kItems;
    for (std::uint32_t item = 0; item < kItems; ++item) {
      if (std::find(chosen.begin(), chosen.end(), item) != chosen.end()) continue;
      if (best == kItems || dot(rest, items[item]) > dot(rest, items[best])) best = item;
    }
    return best;
  };
  const auto take = [&] {
    chosen.push_back(best_new());
    move(chosen.back(), 1);
  };
  while (chosen.size() < kClicks) take();
  for (int pass = 0; pass < 10; ++pass) {
    for (std::uint32_t i = 0; i < kClicks; ++i) {  // the oldest choice leaves and may come back
      move(chosen.front(), -1);
      chosen.erase(chosen.begin());
      take();
    }
  }
  return chosen;
}

Vector attention_of(const std::vector<Vector>& basis, const Vector& user) {
  Vector weights(basis.size());
  double sum = 0;
  for (std::size_t i = 0; i < basis.size(); ++i) {
    weights[i] = std::exp(kAttentionSharpness * dot(basis[i], user));
    sum += weights[i];
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

Vector clipped_attention(Vector weights) {
  const double norm = std::sqrt(dot(weights, weights));
  if (norm > kAttentionClip) {
    for (double& weight : weights) weight *= kAttentionClip / norm;
  }
  return weights;
}

Result<UserEmbeddingRelease> embedding_release() {
  return UserEmbeddingRelease::create({.noise = NoiseKind::gaussian,
                                       .dimension = kDimension,
                                       .clip = kEmbeddingClip,
                                       .epsilon = kExposure.epsilon,
                                       .delta = kExposure.budget.delta / 100});
}

Result<PrivateAttention> attention_release() {
  return PrivateAttention::create({.noise = NoiseKind::laplace,
                                   .basis_vectors = kBasis,
                                   .clip = kAttentionClip,
                                   .epsilon = kExposure.epsilon});
}

Result<std::uint64_t> answers_under(Defence defence, const MechanismStatement& statement) {
  if (defence == Defence::off) return kExposure.queries;
  return answers_within(kExposure.budget, *statement.holds, kExposure.queries);
}

std::string in_words(std::uint64_t defended) {
  return fmt::format("{} answers at epsilon {:g} each; with a budget of epsilon {:g} only {}",
                     kExposure.queries, kExposure.epsilon, kExposure.budget.epsilon, defended);
}

}  // namespace

Result<std::uint64_t> answers_within(const Budget& budget, const PrivacyEvent& answer, std::uint64_t limit) {
  std::uint64_t affordable = 0, too_many = limit + 1;
  while (too_many - affordable > 1) {
    PrivacyEvent events = answer;
    // Doubling first: few answers are cheaper to account for than many.
    events.count = std::min(affordable + (too_many - affordable) / 2, 2 * affordable + 1);
    SOTTO_TRY(const Guarantee spent, account_best(std::span(&events, 1), budget.delta, Adversary::server));
    (spent.epsilon <= budget.epsilon ? affordable : too_many) = events.count;
  }
  return affordable;
}

Result<std::uint64_t> HistoryFromEmbeddings::answers(Defence defence) const {
  SOTTO_TRY(const UserEmbeddingRelease release, embedding_release());
  return answers_under(defence, release.statement());
}

double HistoryFromEmbeddings::chance() const { return static_cast<double>(kClicks) / kItems; }

Result<std::string> HistoryFromEmbeddings::setting() const {
  SOTTO_TRY(const std::uint64_t defended, answers(Defence::on));
  return in_words(defended);
}

Result<double> HistoryFromEmbeddings::success(Defence defence, std::uint64_t seed) const {
  SOTTO_TRY(const UserEmbeddingRelease release, embedding_release());
  SOTTO_TRY(const std::uint64_t count, answers(defence));
  std::uint64_t found = 0;
  for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
    SeededRandom world(seed, Purpose::split, trial), noise(seed, Purpose::noise, trial);
    const auto items = random_directions(kItems, world);
    const auto clicks = sample_without_replacement(kItems, kClicks, world);
    SOTTO_TRY(const Vector observed, average_answer(release, mean_of(items, clicks), count, noise));
    for (const std::uint32_t item : decode_clicks(items, observed)) {
      found += std::find(clicks.begin(), clicks.end(), item) != clicks.end() ? 1 : 0;
    }
  }
  return static_cast<double>(found) / (kTrials * kClicks);
}

Result<std::uint64_t> HistoryFromAttention::answers(Defence defence) const {
  SOTTO_TRY(const PrivateAttention release, attention_release());
  return answers_under(defence, release.statement());
}

double HistoryFromAttention::chance() const { return 1.0 / kCandidates; }

Result<std::string> HistoryFromAttention::setting() const {
  SOTTO_TRY(const std::uint64_t defended, answers(Defence::on));
  return in_words(defended);
}

Result<double> HistoryFromAttention::success(Defence defence, std::uint64_t seed) const {
  SOTTO_TRY(const PrivateAttention release, attention_release());
  SOTTO_TRY(const std::uint64_t count, answers(defence));
  std::uint64_t identified = 0;
  for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
    SeededRandom world(seed, Purpose::split, trial), noise(seed, Purpose::noise, trial);
    const auto items = random_directions(kItems, world), basis = random_directions(kBasis, world);
    std::vector<Vector> candidates(kCandidates);
    for (Vector& candidate : candidates) {
      candidate = attention_of(basis, mean_of(items, sample_without_replacement(kItems, kClicks, world)));
    }
    const auto truth = static_cast<std::size_t>(uniform_below(world, kCandidates));
    SOTTO_TRY(const Vector observed, average_answer(release, candidates[truth], count, noise));
    std::size_t best = 0;
    for (Vector& candidate : candidates) candidate = clipped_attention(std::move(candidate));
    for (std::size_t i = 1; i < kCandidates; ++i) {
      if (squared_distance(candidates[i], observed) < squared_distance(candidates[best], observed)) best = i;
    }
    identified += best == truth ? 1 : 0;
  }
  return static_cast<double>(identified) / kTrials;
}

}  // namespace sotto::privacy
