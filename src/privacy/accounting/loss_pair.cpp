#include <algorithm>
#include <cmath>

#include "privacy/accounting/dominating_gaussian.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/loss_lattice.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto::privacy {
namespace {

// N(1/z, 1) against N(0, 1): the loss is N(±1/(2z²), 1/z²) under P and Q.
LossPair gaussian_pair(double noise_multiplier) {
  LossPair pair;
  pair.tails = [z = noise_multiplier](double loss) {
    const double scaled = loss * z;
    const double half = 1 / (2 * z);
    const auto tails = [](double score) {
      const double small = normal_below(-std::abs(score));
      return score < 0 ? std::pair(small, 1 - small) : std::pair(1 - small, small);
    };
    const auto [p_below, p_above] = tails(scaled - half);
    const auto [q_below, q_above] = tails(scaled + half);
    return LossTails{p_below, p_above, q_below, q_above};
  };
  return pair;
}

// Laplace(0, b) against Laplace(1, b). One coordinate that carries the whole L1 sensitivity dominates any
// split of it over coordinates: 1 − δ_a(aε) = e^{a(ε−1/b)/2} multiplies to the same value
// (docs/privacy/accounting.md).
LossPair laplace_pair(double scale) {
  const double top = 1 / scale;
  LossPair pair;
  pair.atoms = {{0.5, 0.5 * std::exp(-top)}, {0.5 * std::exp(-top), 0.5}};
  pair.tails = [top](double loss) {
    // Between the atoms P has mass (1 − e^{−top})/2 and so has Q, mirrored.
    const double all = -0.5 * std::expm1(-top);
    if (loss <= -top) return LossTails{0, all, 0, all};
    if (loss >= top) return LossTails{all, 0, all, 0};
    const double low = 0.5 * std::exp(-top);
    return LossTails{low * std::expm1((loss + top) / 2), -0.5 * std::expm1((loss - top) / 2),
                     -0.5 * std::expm1(-(loss + top) / 2), low * std::expm1((top - loss) / 2)};
  };
  return pair;
}

LossPair randomised_response_pair(double epsilon, double categories) {
  const double total = 1 + (categories - 1) * std::exp(-epsilon);
  const double keep = 1 / total;
  const double other = std::exp(-epsilon) / total;
  LossPair pair{{{keep, other}, {other, keep}}, {}};
  if (categories > 2) pair.atoms.push_back({(categories - 2) * other, (categories - 2) * other});
  return pair;
}

// Kairouz, Oh, Viswanath 2015: an (ε, δ)-DP mechanism shows everything with probability δ and is randomised
// response otherwise.
LossPair approximate_pair(double epsilon, double delta) {
  LossPair pair = randomised_response_pair(epsilon, 2);
  for (auto& atom : pair.atoms) atom = {(1 - delta) * atom.p, (1 - delta) * atom.q};
  if (delta > 0) pair.atoms.insert(pair.atoms.end(), {{delta, 0}, {0, delta}});
  return pair;
}

// Zhu, Dong, Wang 2022: if (P, Q) dominates "with against without", then sampling each unit with
// probability q leaves ((1−q)Q + qP, Q) for removal and (Q, (1−q)Q + qP) for addition.
LossPair sampled_for_removal(const LossPair& pair, double rate) {
  LossPair sampled;
  for (const auto& atom : pair.atoms) sampled.atoms.push_back({(1 - rate) * atom.q + rate * atom.p, atom.q});
  if (!pair.tails) return sampled;
  sampled.tails = [tails = pair.tails, rate](double loss) {
    const double inner = std::expm1(loss) / rate;  // e^{unsampled loss} − 1
    if (inner <= -1) {
      const LossTails all = tails(-infinity);
      return LossTails{0, (1 - rate) * all.q_above + rate * all.p_above, 0, all.q_above};
    }
    const LossTails t = tails(std::log1p(inner));
    return LossTails{(1 - rate) * t.q_below + rate * t.p_below, (1 - rate) * t.q_above + rate * t.p_above,
                     t.q_below, t.q_above};
  };
  return sampled;
}

LossPair sampled_for_addition(const LossPair& pair, double rate) {
  LossPair removal = sampled_for_removal(pair, rate);
  LossPair sampled;
  for (const auto& atom : removal.atoms) sampled.atoms.push_back({atom.q, atom.p});
  if (!removal.tails) return sampled;
  sampled.tails = [tails = std::move(removal.tails)](double loss) {
    const LossTails t = tails(-loss);
    return LossTails{t.q_above, t.q_below, t.p_above, t.p_below};
  };
  return sampled;
}

// A cohort of a fraction q drawn without replacement, replace_one. Balle, Barthe, Gaboardi 2018:
// δ'(log(1 + q(e^ε − 1))) ≤ q·δ(ε) for ε ≥ 0, which is the curve of ((1−q)Q + qP, Q) at positive losses.
// Neighbours can be swapped, so the curve at negative losses is its mirror image; what is left sits at loss
// 0. For a pair that is its own mirror image (all of ours) the whole curve is convex, hence that of a pair,
// hence a dominating pair (Zhu, Dong, Wang 2022: a bound of the whole curve that is itself a curve may be
// composed like the mechanism).
LossPair sampled_without_replacement(const LossPair& pair, double rate) {
  const LossPair removal = sampled_for_removal(pair, rate);
  LossPair sampled;
  double rest = 1;
  for (const auto& atom : removal.atoms) {
    if (!(atom.p > atom.q)) continue;
    sampled.atoms.insert(sampled.atoms.end(), {atom, {atom.q, atom.p}});
    rest -= atom.p + atom.q;
  }
  if (removal.tails) {
    const LossTails positive = removal.tails(0);
    rest -= positive.p_above + positive.q_above;
    sampled.tails = [tails = removal.tails, positive](double loss) {
      const LossTails t = tails(std::abs(loss));
      const double all = positive.p_above + positive.q_above;
      if (loss >= 0) return LossTails{all - t.p_above, t.p_above, all - t.q_above, t.q_above};
      return LossTails{t.q_above, all - t.q_above, t.p_above, all - t.p_above};
    };
  }
  rest = std::max(0.0, rest);
  if (rest > 0) sampled.atoms.push_back({rest, rest});
  return sampled;
}

Result<LossPair> unsampled_pair(const Mechanism& mechanism) {
  if (const auto gaussian = dominating_gaussian(mechanism)) return gaussian_pair(gaussian->noise_multiplier);
  if (const auto* m = std::get_if<LaplaceNoise>(&mechanism)) return laplace_pair(m->scale);
  if (const auto* m = std::get_if<RandomisedResponse>(&mechanism)) {
    return randomised_response_pair(m->epsilon, static_cast<double>(m->categories));
  }
  if (const auto* m = std::get_if<PureDp>(&mechanism)) return randomised_response_pair(m->epsilon, 2);
  if (const auto* m = std::get_if<ApproximateDp>(&mechanism)) return approximate_pair(m->epsilon, m->delta);
  return bad_input("no dominating pair is proved for {}: use the RDP accountant (method rdp)",
                   describe(mechanism));
}

}  // namespace

Result<LossPairs> dominating_pairs(const PrivacyEvent& event) {
  SOTTO_CHECK(validate(event));
  const double rate = participation_rate(event.sampling);
  LossPairs pairs;
  SOTTO_TRY(LossPair pair, unsampled_pair(event.mechanism));
  if (rate >= 1) {
    pairs.remove = std::move(pair);
    return pairs;
  }
  if (std::holds_alternative<SamplingWithoutReplacement>(event.sampling)) {
    pairs.remove = sampled_without_replacement(pair, rate);
    return pairs;
  }
  pairs.symmetric = false;
  pairs.remove = sampled_for_removal(pair, rate);
  pairs.add = sampled_for_addition(pair, rate);
  return pairs;
}

}  // namespace sotto::privacy
