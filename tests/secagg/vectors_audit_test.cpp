// The audit covers what training runs: it passes the encoder as it is and fails it when its noise is halved
// or missing.
#include <gtest/gtest.h>

#include "privacy/audit/audit_catalogue.h"
#include "privacy/audit_tampering.h"
#include "secagg/vectors/audited_sums.h"

namespace sotto::secagg {
namespace {

class AuditedSums : public ::testing::TestWithParam<std::size_t> {
 protected:
  privacy::AuditedMechanism subject() const { return audited_sums()[GetParam()].make().value(); }
  static bool refuted(const privacy::AuditedMechanism& mechanism) {
    const auto finding = privacy::audit_mechanism(mechanism, {.samples = 60'000, .seed = 7});
    EXPECT_TRUE(finding.has_value());
    return finding.has_value() && finding->refuted();
  }
};

TEST_P(AuditedSums, PassTheAuditThatSeesMostOfTheirEpsilon) {
  const auto finding = privacy::audit_mechanism(subject(), {.samples = 60'000, .seed = 7}).value();
  EXPECT_FALSE(finding.refuted());
  EXPECT_GT(finding.share(), 0.85) << "the neighbours are as far apart as the plan says";
}

TEST_P(AuditedSums, AreRefutedWithoutNoise) {
  EXPECT_TRUE(refuted(privacy::tampering::noise_scaled(subject(), 0)));
}

TEST_P(AuditedSums, AreRefutedWithHalfOfTheNoise) {
  EXPECT_TRUE(refuted(privacy::tampering::noise_scaled(subject(), 0.5)));
}

INSTANTIATE_TEST_SUITE_P(Audit, AuditedSums, ::testing::Range<std::size_t>(0, 6),
                         [](const ::testing::TestParamInfo<std::size_t>& which) {
                           std::string name = audited_sums()[which.param].name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(AuditCatalogue, HoldsTheSumsThatTrainingRuns) {
  const std::vector<std::string> names = {"sum-of-updates",    "sum-of-counts", "sum-of-products",
                                          "sum-with-clip-bit", "sum-by-law",    "sum-by-law-with-clip-bit"};
  const auto selected = privacy::select_audits(privacy::audit_catalogue(audited_sums()), names);
  ASSERT_TRUE(selected) << selected.error().message;
  EXPECT_EQ(selected->size(), names.size());
  const auto report = privacy::run_audit(selected->front(), {.samples = 2000}, 1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(std::get<privacy::AuditFinding>(*report).refuted());
}

}  // namespace
}  // namespace sotto::secagg
