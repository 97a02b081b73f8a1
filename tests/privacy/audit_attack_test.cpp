// Attacks and the table of all audits.
#include <gtest/gtest.h>

#include <set>

#include "privacy/accounting/account.h"
#include "privacy/audit/audit_catalogue.h"
#include "privacy/audit/history_recovery.h"

namespace sotto::privacy {
namespace {

TEST(Attacks, SucceedWithoutTheDefenceAndFallNearChanceWithIt) {
  for (const AttackEntry& entry : attacks()) {
    const auto finding = run_attack(entry, 1);
    ASSERT_TRUE(finding.has_value()) << finding.error().message;
    EXPECT_GT(finding->undefended, 0.8) << entry.name;
    EXPECT_LT(finding->defended, 0.15) << entry.name;
    EXPECT_LT(finding->chance, 0.02) << entry.name;
    EXPECT_FALSE(finding->setting.empty());
  }
}

TEST(Attacks, DependOnTheSeedOnly) {
  const auto attack = attacks()[1].make();
  EXPECT_EQ(attack->success(Defence::on, 9).value(), attack->success(Defence::on, 9).value());
}

TEST(AnswersWithin, IsTheLargestNumberThatTheBudgetPays) {
  const Budget budget{10, 1e-6};
  const PrivacyEvent answer{.mechanism = GaussianNoise{2}, .adjacency = Adjacency::replace_one};
  const std::uint64_t most = answers_within(budget, answer, 1000).value();
  ASSERT_GT(most, 0U);
  const auto spent = [&](std::uint64_t count) {
    PrivacyEvent events = answer;
    events.count = count;
    return account_best(std::span(&events, 1), budget.delta, Adversary::server).value().epsilon;
  };
  EXPECT_LE(spent(most), budget.epsilon);
  EXPECT_GT(spent(most + 1), budget.epsilon);
  EXPECT_EQ(answers_within(budget, answer, 3).value(), 3U);
  EXPECT_EQ(answers_within({0.1, 1e-6}, answer, 1000).value(), 0U);
}

TEST(AuditCatalogue, NamesEveryAuditOnce) {
  std::set<std::string> names;
  for (const AuditEntry& entry : audit_catalogue()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty());
  }
  EXPECT_GE(names.size(), 30U);
}

TEST(AuditCatalogue, SelectsByNameAndSuggestsTheNearest) {
  const std::vector<std::string> names{"response", "laplace", "laplace"};
  const auto selected = select_audits(audit_catalogue(), names);
  ASSERT_TRUE(selected.has_value());
  ASSERT_EQ(selected->size(), 2U);
  EXPECT_EQ(selected->at(0).name, "laplace");
  EXPECT_EQ(select_audits(audit_catalogue(), {})->size(), audit_catalogue().size());
  const std::vector<std::string> wrong{"laplace", "gausian"};
  const auto refused = select_audits(audit_catalogue(), wrong);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  EXPECT_NE(refused.error().message.find("'gaussian'"), std::string::npos);
}

TEST(AuditCatalogue, RunsEachKindAndSharesTheChanceOfErrorAmongThem) {
  const AuditSettings settings{.samples = 5000};
  const std::vector<std::string> names{"response", "training-laplace", "history-from-attention"};
  const std::vector<AuditEntry> entries = select_audits(audit_catalogue(), names).value();
  const auto alone = run_audit(entries[0], settings, 1), together = run_audit(entries[0], settings, 1000);
  EXPECT_GT(std::get<AuditFinding>(*alone).epsilon, std::get<AuditFinding>(*together).epsilon);
  EXPECT_TRUE(std::holds_alternative<OneRunFinding>(*run_audit(entries[1], settings, 3)));
  EXPECT_TRUE(std::holds_alternative<AttackFinding>(*run_audit(entries[2], settings, 3)));
}

TEST(AuditCatalogue, RefusesSettingsThatProveNothing) {
  for (const AuditSettings& settings :
       {AuditSettings{.samples = 10}, AuditSettings{.confidence = 1}, AuditSettings{.confidence = 0},
        AuditSettings{.confidence = std::nan("")}, AuditSettings{.samples = 1'000'000'000}}) {
    const auto report = run_audit(audit_catalogue()[0], settings, 1);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().kind, ErrorKind::bad_input);
  }
}

}  // namespace
}  // namespace sotto::privacy
