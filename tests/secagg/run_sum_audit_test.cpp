// A round of a run's own sum under audit, made from what its datasheet keeps.

#include <gtest/gtest.h>

#include "privacy/audit/audit_catalogue.h"
#include "secagg/vectors/audited_sums.h"

namespace sotto::secagg {
namespace {

EncodingPlan::Settings round() {
  EncodingPlan::Settings settings;
  settings.dimension = 200;
  settings.clip = 0.5;
  settings.step = 1.0 / 2048;
  settings.denominator = 12;
  settings.devices = 12;
  settings.dropped = 1;
  settings.corrupted = 1;
  settings.noise_multiplier = 0.8;
  settings.adjacency = privacy::Adjacency::replace_one;
  return settings;
}

privacy::AuditFinding audit(const privacy::AuditedMechanism& mechanism) {
  return privacy::audit_mechanism(mechanism, {20'000, 1, 0, 1e-6}).value();
}

TEST(RunSumAudit, SeesMostOfWhatTheSumClaimsAndRefutesNothing) {
  for (const int kind : {0, 1, 2, 3}) {
    auto settings = round();
    if (kind == 1) settings.nonnegative = true;
    if (kind == 2) settings.clip_bit_weight = 0.5;
    if (kind == 3) settings.products = true, settings.dimension = 6;
    const auto plan = EncodingPlan::create(settings);
    ASSERT_TRUE(plan) << plan.error().message;
    const auto mechanism = audited_sum(record_of(*plan, "updates"));
    ASSERT_TRUE(mechanism) << mechanism.error().message;
    const auto finding = audit(*mechanism);
    EXPECT_FALSE(finding.refuted()) << kind;
    EXPECT_GT(finding.share(), 0.6) << kind;
  }
}

TEST(RunSumAudit, RefutesARunWhoseDevicesAddHalfOfTheNoise) {
  const auto promised = audited_sum(record_of(EncodingPlan::create(round()).value(), "updates")).value();
  auto settings = round();
  settings.noise_multiplier /= 2;
  auto halved = audited_sum(record_of(EncodingPlan::create(settings).value(), "updates")).value();
  halved.claim = promised.claim;
  EXPECT_TRUE(audit(halved).refuted());
}

TEST(RunSumAudit, RefusesSumsThatNobodyCouldHaveRun) {
  privacy::SumRecord sum = record_of(EncodingPlan::create(round()).value(), "updates");
  sum.noise_multiplier = 0;
  EXPECT_FALSE(audited_sum(sum));
  sum = record_of(EncodingPlan::create(round()).value(), "updates");
  sum.devices = most_audited_devices + 1;
  EXPECT_FALSE(audited_sum(sum));
  sum.devices = 2;
  sum.dropped = 5;
  EXPECT_FALSE(audited_sum(sum));
}

}  // namespace
}  // namespace sotto::secagg
