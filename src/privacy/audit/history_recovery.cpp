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
  static constexpr std::array entries = {
      AttackEntry{"history-from-embeddings",
                  "averaging repeated noisy user embeddings; the defence is a privacy budget per device",
                  "clicked items found",
                  []() -> std::unique_ptr<Attack> { return std::make_unique<HistoryFromEmbeddings>(); }},
      AttackEntry{"history-from-attention",
                  "averaging repeated private attention weights; the defence is a privacy budget per device",
                  "histories told apart from 999 others",
                  []() -> std::unique_ptr<Attack> { return std::make_unique<HistoryFromAttention>(); }}};
  return entries;
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

constexpr QueryExposure exposure;
constexpr std::uint32_t trials = 20, item_count = 300, click_count = 4, candidate_count = 1000;
constexpr std::size_t dimensions = 32, basis_count = 8;
constexpr double embedding_clip = 0.5, attention_clip = 0.5;
// User vectors are means of unit vectors; trained models have logits of about this spread.
constexpr double attention_sharpness = 12;

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
  std::vector<Vector> rows(count, Vector(dimensions));
  for (Vector& row : rows) {
    for (double& value : row) value = normal(random);
    const double norm = std::sqrt(dot(row, row));
    for (double& value : row) value /= norm;
  }
  return rows;
}

Vector mean_of(const std::vector<Vector>& items, const std::vector<std::uint32_t>& clicks) {
  Vector mean(dimensions);
  for (const std::uint32_t click : clicks) {
    for (std::size_t i = 0; i < dimensions; ++i)
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

// The set of click_count items whose mean is near `observed`: best one at a time, then exchanged while that
// helps.
std::vector<std::uint32_t> decode_clicks(const std::vector<Vector>& items, const Vector& observed) {
  std::vector<std::uint32_t> chosen;
  Vector rest = observed;
  const auto move = [&](std::uint32_t item, double sign) {
    for (std::size_t i = 0; i < dimensions; ++i) rest[i] -= sign * items[item][i] / click_count;
  };
  const auto best_new = [&] {
    std::uint32_t best = item_count;
    for (std::uint32_t item = 0; item < item_count; ++item) {
      if (std::find(chosen.begin(), chosen.end(), item) != chosen.end()) continue;
      if (best == item_count || dot(rest, items[item]) > dot(rest, items[best])) best = item;
    }
    return best;
  };
  const auto take = [&] {
    chosen.push_back(best_new());
    move(chosen.back(), 1);
  };
  while (chosen.size() < click_count) take();
  for (int pass = 0; pass < 10; ++pass) {
    for (std::uint32_t i = 0; i < click_count; ++i) {  // the oldest choice leaves and may come back
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
    weights[i] = std::exp(attention_sharpness * dot(basis[i], user));
    sum += weights[i];
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

Vector clipped_attention(Vector weights) {
  const double norm = std::sqrt(dot(weights, weights));
  if (norm > attention_clip) {
    for (double& weight : weights) weight *= attention_clip / norm;
  }
  return weights;
}

Result<UserEmbeddingRelease> embedding_release() {
  return UserEmbeddingRelease::create({.noise = NoiseKind::gaussian,
                                       .dimension = dimensions,
                                       .clip = embedding_clip,
                                       .epsilon = exposure.epsilon,
                                       .delta = exposure.budget.delta / 100});
}

Result<PrivateAttention> attention_release() {
  return PrivateAttention::create({.noise = NoiseKind::laplace,
                                   .basis_vectors = basis_count,
                                   .clip = attention_clip,
                                   .epsilon = exposure.epsilon});
}

Result<std::uint64_t> answers_under(Defence defence, const MechanismStatement& statement) {
  if (defence == Defence::off) return exposure.queries;
  return answers_within(exposure.budget, *statement.holds, exposure.queries);
}

std::string in_words(std::uint64_t defended) {
  return fmt::format("{} answers at epsilon {:g} each; with a budget of epsilon {:g} only {}",
                     exposure.queries, exposure.epsilon, exposure.budget.epsilon, defended);
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

double HistoryFromEmbeddings::chance() const { return static_cast<double>(click_count) / item_count; }

Result<std::string> HistoryFromEmbeddings::setting() const {
  SOTTO_TRY(const std::uint64_t defended, answers(Defence::on));
  return in_words(defended);
}

Result<double> HistoryFromEmbeddings::success(Defence defence, std::uint64_t seed) const {
  SOTTO_TRY(const UserEmbeddingRelease release, embedding_release());
  SOTTO_TRY(const std::uint64_t count, answers(defence));
  std::uint64_t found = 0;
  for (std::uint32_t trial = 0; trial < trials; ++trial) {
    SeededRandom world(seed, Purpose::split, trial), noise(seed, Purpose::noise, trial);
    const auto items = random_directions(item_count, world);
    const auto clicks = sample_without_replacement(item_count, click_count, world);
    SOTTO_TRY(const Vector observed, average_answer(release, mean_of(items, clicks), count, noise));
    for (const std::uint32_t item : decode_clicks(items, observed)) {
      found += std::find(clicks.begin(), clicks.end(), item) != clicks.end() ? 1 : 0;
    }
  }
  return static_cast<double>(found) / (trials * click_count);
}

Result<std::uint64_t> HistoryFromAttention::answers(Defence defence) const {
  SOTTO_TRY(const PrivateAttention release, attention_release());
  return answers_under(defence, release.statement());
}

double HistoryFromAttention::chance() const { return 1.0 / candidate_count; }

Result<std::string> HistoryFromAttention::setting() const {
  SOTTO_TRY(const std::uint64_t defended, answers(Defence::on));
  return in_words(defended);
}

Result<double> HistoryFromAttention::success(Defence defence, std::uint64_t seed) const {
  SOTTO_TRY(const PrivateAttention release, attention_release());
  SOTTO_TRY(const std::uint64_t count, answers(defence));
  std::uint64_t identified = 0;
  for (std::uint32_t trial = 0; trial < trials; ++trial) {
    SeededRandom world(seed, Purpose::split, trial), noise(seed, Purpose::noise, trial);
    const auto items = random_directions(item_count, world), basis = random_directions(basis_count, world);
    std::vector<Vector> candidates(candidate_count);
    for (Vector& candidate : candidates) {
      candidate =
          attention_of(basis, mean_of(items, sample_without_replacement(item_count, click_count, world)));
    }
    const auto truth = static_cast<std::size_t>(uniform_below(world, candidate_count));
    SOTTO_TRY(const Vector observed, average_answer(release, candidates[truth], count, noise));
    std::size_t best = 0;
    for (Vector& candidate : candidates) candidate = clipped_attention(std::move(candidate));
    for (std::size_t i = 1; i < candidate_count; ++i) {
      if (squared_distance(candidates[i], observed) < squared_distance(candidates[best], observed)) best = i;
    }
    identified += best == truth ? 1 : 0;
  }
  return static_cast<double>(identified) / trials;
}

}  // namespace sotto::privacy
