#pragma once
// Small ledgers, releases and moments for the ledger tests.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "full_disk.h"
#include "privacy/ledger/ledger.h"
#include "test_paths.h"

namespace sotto::privacy::ledger_test {

inline UtcTime at(int year, unsigned month, unsigned day, int hour = 12, int minute = 0) {
  namespace chr = std::chrono;
  return chr::sys_days{chr::year{year} / chr::month{month} / chr::day{day}} + chr::hours{hour} +
         chr::minutes{minute};
}
inline const UtcTime noon = at(2026, 3, 14);

inline SensitivitySettings three_categories(const std::vector<std::string>& not_sensitive = {"sports"}) {
  return *SensitivitySettings::create({"health", "politics", "sports"}, not_sensitive);
}
constexpr CategoryId health_category = 0, politics_category = 1, sports_category = 2;

inline LedgerSettings settings(std::vector<LedgerBudget> budgets,
                               RequestOrder order = RequestOrder::adaptive) {
  return {Unit::user, Adjacency::replace_one, order, three_categories(), std::move(budgets)};
}
inline LedgerBudget lifetime(double epsilon, double delta = 1e-6) {
  return {BudgetWindow::lifetime, std::nullopt, epsilon, delta};
}

inline PrivacyEvent pure(double epsilon, std::uint64_t count = 1) {
  return {PureDp{epsilon}, Adjacency::replace_one, Unit::user, NoSampling{}, count};
}
inline PrivacyEvent gaussian(double noise, std::uint64_t count = 1) {
  return {GaussianNoise{noise}, Adjacency::replace_one, Unit::user, NoSampling{}, count};
}
inline Release serving(const PrivacyEvent& event, std::string about = "front page") {
  return {ReleasePurpose::serving, event, std::nullopt, std::move(about)};
}

inline const LedgerOptions first_use{nullptr, true};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void put_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

template <class T>
::testing::AssertionResult refused(const Result<T>& result, std::string_view words) {
  if (result) return ::testing::AssertionFailure() << "it was accepted";
  if (result.error().message.find(words) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the message is: " << result.error().message;
}

// Ledgers need libsodium; what needs no file is tested without it.
class LedgerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!chain_hash({})) GTEST_SKIP() << "this build has no libsodium";
  }
  Result<Ledger> create(const LedgerSettings& wanted, const LedgerOptions& options = first_use) const {
    return Ledger::create(file(), wanted, noon, options);
  }
  std::filesystem::path file() const { return folder_ / "ledger.sotto"; }
  TempFolder folder_;
};

}  // namespace sotto::privacy::ledger_test
