// label_noise=repaired: what training ranks has the law of randomised response over all items shown, at the ε
// asked for; the audit passes it and fails it where the truth is told.
#include "fl/released_labels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "privacy/audit/mechanism_subjects.h"
#include "privacy/audit_tampering.h"
#include "privacy/mechanisms/label_release.h"
#include "privacy/noise_statistics.h"

namespace sotto::fl {
namespace {

using privacy::NoiseOrigin;

constexpr double epsilon = 1.5;
constexpr std::size_t shown_count = 5;
constexpr std::int64_t negatives = 2;

// Five items, of which one was clicked.
struct OneClick {
  explicit OneClick(std::uint32_t position) : clicked(shown_count, 0) { clicked[position] = 1; }
  data::Impression impression() const { return {0, 0, data::Split::train, {}, shown, clicked}; }
  std::vector<data::ItemId> shown = {10, 11, 12, 13, 14};
  std::vector<std::uint8_t> clicked;
};

// What is sent, as one number: the items as bits, the positive above them.
std::uint64_t sent(const ChooseCandidates& choose, std::uint32_t position, RandomSource& random) {
  const OneClick click(position);
  std::vector<data::ItemId> candidates;
  EXPECT_TRUE(choose(click.impression(), position, negatives, random, candidates));
  EXPECT_EQ(candidates.size(), 1U + negatives);
  std::uint64_t items = 0;
  for (const data::ItemId item : candidates) items |= std::uint64_t{1} << (item - 10);
  EXPECT_EQ(__builtin_popcountll(items), 1 + negatives) << "nothing twice";
  return (std::uint64_t{candidates[0] - 10U} << shown_count) | items;
}

// Positive by randomised response, the others any two of the remaining four: C(4, 2) sets.
std::vector<double> law_of(double budget, std::uint32_t position) {
  std::vector<double> law(shown_count << shown_count);
  const double weight = std::exp(budget), all = weight + shown_count - 1;
  for (std::uint64_t positive = 0; positive < shown_count; ++positive)
    for (std::uint64_t items = 0; items < std::uint64_t{1} << shown_count; ++items)
      if (__builtin_popcountll(items) == 1 + negatives && (items >> positive & 1) != 0)
        law[(positive << shown_count) | items] = (positive == position ? weight : 1) / all / 6;
  return law;
}

std::vector<std::uint64_t> drawn(const ChooseCandidates& choose, std::uint32_t position) {
  SeededRandom random(3, Purpose::test);
  std::vector<std::uint64_t> seen;
  for (int i = 0; i < 60'000; ++i) seen.push_back(sent(choose, position, random));
  return seen;
}

TEST(RandomisedLabels, WhatIsRankedHasTheLawOfTheResponse) {
  using privacy::statistics::fits_choice;
  for (const NoiseOrigin& noise : {NoiseOrigin::reproducible(1), NoiseOrigin::secret()}) {
    const auto choose = randomised_labels(epsilon, negatives, noise).value();
    EXPECT_TRUE(fits_choice(drawn(choose, 0), law_of(epsilon, 0)));
    EXPECT_TRUE(fits_choice(drawn(choose, 3), law_of(epsilon, 3)));
    EXPECT_FALSE(fits_choice(drawn(choose, 3), law_of(epsilon, 0))) << "another click, another law";
    EXPECT_FALSE(fits_choice(drawn(choose, 3), law_of(2 * epsilon, 3)));
  }
}

TEST(RandomisedLabels, NoOutputIsLikelierThanTheStatedEpsilonAllows) {
  const auto labels = privacy::SoundLabelRelease::create(epsilon, negatives).value();
  const auto statement = labels.statement(shown_count).value();
  ASSERT_TRUE(statement.holds);
  const auto claim = privacy::claim_of(*statement.holds, privacy::subject::audited_delta).value();
  EXPECT_DOUBLE_EQ(claim.epsilon, epsilon);
  EXPECT_EQ(claim.delta, 0);
  const auto first = law_of(epsilon, 0), second = law_of(epsilon, 1);
  double largest = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i] > 0, second[i] > 0) << "an output that only one click can have";
    if (first[i] > 0) largest = std::max(largest, std::log(first[i] / second[i]));
  }
  EXPECT_NEAR(largest, epsilon, 1e-12) << "and it is used up";
}

privacy::AuditedMechanism audited(const ChooseCandidates& choose) {
  const auto statement =
      privacy::SoundLabelRelease::create(epsilon, negatives).value().statement(shown_count).value();
  const auto told = [](std::uint32_t position) {
    const std::uint64_t items = std::uint64_t{1} << position | 0b1100;
    return std::vector<double>{static_cast<double>((std::uint64_t{position} << shown_count) | items)};
  };
  privacy::AuditedMechanism subject{
      .claim = privacy::claim_of(*statement.holds, privacy::subject::audited_delta).value(),
      .noiseless = {told(0), told(1)}};
  subject.release = [choose](privacy::Neighbour neighbour,
                             privacy::DeviceRandom random) -> Result<std::vector<double>> {
    return std::vector<double>{
        static_cast<double>(sent(choose, static_cast<std::uint32_t>(neighbour), random.source()))};
  };
  return subject;
}

TEST(RandomisedLabels, PassTheAuditAndFailItWhereTheTruthIsTold) {
  const auto choose = randomised_labels(epsilon, negatives, NoiseOrigin::reproducible(1)).value();
  const auto audit = [](const privacy::AuditedMechanism& mechanism) {
    return privacy::audit_mechanism(mechanism, {.samples = 60'000, .seed = 7}).value();
  };
  const auto finding = audit(audited(choose));
  EXPECT_FALSE(finding.refuted());
  EXPECT_GT(finding.share(), 0.85);
  EXPECT_TRUE(audit(privacy::tampering::told_plainly(audited(choose), 0.5)).refuted());
  const auto weaker = randomised_labels(2 * epsilon, negatives, NoiseOrigin::reproducible(1)).value();
  EXPECT_TRUE(audit(audited(weaker)).refuted()) << "twice the budget that is claimed";
}

TEST(RandomisedLabels, HideWhetherTheClickIsSentWhichThePermutationDoesNot) {
  SeededRandom random(5, Purpose::test);
  const auto contains_click = [&](const ChooseCandidates& choose) {
    int often = 0;
    for (int i = 0; i < 2000; ++i) often += static_cast<int>(sent(choose, 2, random) >> 2 & 1);
    return often;
  };
  const NoiseOrigin noise = NoiseOrigin::reproducible(1);
  EXPECT_EQ(contains_click(permuted_labels(epsilon, negatives, noise).value()), 2000);
  EXPECT_LT(contains_click(randomised_labels(epsilon, negatives, noise).value()), 1950);
}

TEST(RandomisedLabels, RepeatNegativesWhereAnImpressionHasFewAndLeaveOutWhatShowsNothingElse) {
  SeededRandom random(5, Purpose::test);
  const auto choose = randomised_labels(epsilon, 4, NoiseOrigin::reproducible(1)).value();
  const std::vector<data::ItemId> shown = {10, 11};
  const std::vector<std::uint8_t> clicked = {1, 0};
  std::vector<data::ItemId> candidates;
  ASSERT_TRUE(choose({0, 0, data::Split::train, {}, shown, clicked}, 0, 4, random, candidates));
  EXPECT_EQ(candidates.size(), 5U);
  EXPECT_EQ(std::count(candidates.begin(), candidates.end(), candidates[0]), 1);
  const std::span<const data::ItemId> one = std::span(shown).first(1);
  EXPECT_FALSE(
      choose({0, 0, data::Split::train, {}, one, std::span(clicked).first(1)}, 0, 4, random, candidates));
}

TEST(RandomisedLabels, RefuseABudgetOfNothing) {
  for (const double bad : {0.0, -1.0, static_cast<double>(NAN)})
    EXPECT_FALSE(randomised_labels(bad, negatives, NoiseOrigin::secret()));
}

}  // namespace
}  // namespace sotto::fl
