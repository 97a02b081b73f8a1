// Every mechanism against its claim. A lower bound above a claim that we vouch for fails the build; a paper's
// wrong claim must be refuted. Seeds are fixed and all bounds of this file hold together with confidence 1 −
// 1e-6.
#include <gtest/gtest.h>

#include "base/interrupt.h"
#include "privacy/audit/audited_mechanism.h"
#include "privacy/audit/mechanism_subjects.h"
#include "privacy/audit/query_subjects.h"

namespace sotto::privacy {
namespace {

SamplingPlan plan_for(std::size_t index) {
  return {.samples = 100'000,
          .seed = 20240601,
          .stream = static_cast<std::uint32_t>(index),
          .failure = 1e-6 / static_cast<double>(audited_mechanisms().size())};
}

class EveryMechanism : public ::testing::TestWithParam<std::size_t> {};

TEST_P(EveryMechanism, StaysBelowItsClaimUnlessThePaperIsWrong) {
  const MechanismEntry& entry = audited_mechanisms()[GetParam()];
  const auto mechanism = entry.make();
  ASSERT_TRUE(mechanism.has_value()) << mechanism.error().message;
  const auto finding = audit_mechanism(*mechanism, plan_for(GetParam()));
  ASSERT_TRUE(finding.has_value()) << finding.error().message;
  EXPECT_EQ(finding->refuted(), entry.papers_claim)
      << "claimed " << finding->claim.epsilon << ", at least " << finding->best();
  if (finding->claim.holds) {
    EXPECT_LE(finding->best(), *finding->claim.holds);  // the truth beside a wrong claim is a claim of ours
  } else {
    EXPECT_GT(finding->epsilon, 5);
  }
  if (!entry.papers_claim) {
    EXPECT_GE(finding->share(), 0.6) << "the audit sees too little to matter";
  }
}

INSTANTIATE_TEST_SUITE_P(Audit, EveryMechanism, ::testing::Range<std::size_t>(0, audited_mechanisms().size()),
                         [](const ::testing::TestParamInfo<std::size_t>& which) {
                           std::string name = audited_mechanisms()[which.param].name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// In paper mode what holds for a whole vector is the root of its size times what the paper says, and that is
// what a run is held to.
TEST(EmbeddingQuery, IsHeldToWhatHoldsInBothModes) {
  for (const GuaranteeMode mode : {GuaranteeMode::sound, GuaranteeMode::paper}) {
    const UserEmbeddingRelease::Settings settings{
        .mode = mode, .noise = NoiseKind::laplace, .dimension = 4, .clip = 0.001, .epsilon = 1};
    auto mechanism = subject::embedding_query(settings);
    ASSERT_TRUE(mechanism) << mechanism.error().message;
    EXPECT_NEAR(mechanism->claim.epsilon, mode == GuaranteeMode::paper ? 2 : 1, 1e-6);
    const SamplingPlan plan{.samples = 50'000, .seed = 20240601, .failure = 1e-7};
    const auto finding = audit_mechanism(*mechanism, plan);
    ASSERT_TRUE(finding) << finding.error().message;
    EXPECT_FALSE(finding->refuted()) << finding->best();
    EXPECT_GT(finding->share(), 0.5) << "the audit sees too little to matter";
    // The same noise under a claim of half as much would not stand.
    mechanism->claim.epsilon /= 2;
    EXPECT_TRUE(audit_mechanism(*mechanism, plan)->refuted());
  }
}

TEST(MechanismAudit, StopsBetweenTwoReleases) {
  AuditedMechanism mechanism = audited_mechanisms()[0].make().value();
  std::uint64_t released = 0;
  mechanism.release = [&](Neighbour, DeviceRandom) -> Result<std::vector<double>> {
    if (++released == 10) set_interrupted(true);
    return std::vector<double>(mechanism.noiseless[0].size(), 0.0);
  };
  const auto stopped = audit_mechanism(mechanism, {.samples = 1000});
  set_interrupted(false);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(released, 10U);
  EXPECT_EQ(stopped.error().kind, ErrorKind::failed);
}

TEST(MechanismAudit, GivesTheSameAnswerForTheSameSeedAndAnotherForAnother) {
  const auto mechanism = audited_mechanisms()[0].make().value();
  const SamplingPlan plan{.samples = 2000, .seed = 5};
  SamplingPlan other = plan;
  other.seed = 6;
  EXPECT_EQ(audit_mechanism(mechanism, plan)->epsilon, audit_mechanism(mechanism, plan)->epsilon);
  EXPECT_NE(audit_mechanism(mechanism, plan)->epsilon, audit_mechanism(mechanism, other)->epsilon);
}

TEST(MechanismAudit, ProvesMoreWithMoreSamplesAndLessConfidence) {
  const auto mechanism = audited_mechanisms()[0].make().value();
  const double few = audit_mechanism(mechanism, {.samples = 2000})->epsilon;
  EXPECT_GT(audit_mechanism(mechanism, {.samples = 100'000})->epsilon, few);
  EXPECT_GT(audit_mechanism(mechanism, {.samples = 2000, .failure = 0.05})->epsilon, few);
}

TEST(MechanismAudit, RefusesPlansThatProveNothing) {
  const auto mechanism = audited_mechanisms()[0].make().value();
  for (const SamplingPlan& plan :
       {SamplingPlan{.samples = 999}, SamplingPlan{.samples = 10'000'001}, SamplingPlan{.failure = 0},
        SamplingPlan{.failure = 1}, SamplingPlan{.failure = std::nan("")}}) {
    const auto finding = audit_mechanism(mechanism, plan);
    ASSERT_FALSE(finding.has_value());
    EXPECT_EQ(finding.error().kind, ErrorKind::bad_input);
    EXPECT_NE(finding.error().message.find("must lie"), std::string::npos);
  }
}

TEST(MechanismAudit, PassesOnTheErrorOfAMechanism) {
  AuditedMechanism mechanism = audited_mechanisms()[0].make().value();
  mechanism.release = [](Neighbour, DeviceRandom) -> Result<std::vector<double>> { return failed("broken"); };
  EXPECT_EQ(audit_mechanism(mechanism, {}).error().message, "broken");
}

}  // namespace
}  // namespace sotto::privacy
