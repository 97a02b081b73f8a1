#pragma once
// A privacy plan: what `sotto privacy account` is asked about, from flags or a TOML file (one record per
// setting), and its answer.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.h"
#include "privacy/accounting/event.h"

namespace sotto::privacy {

// Plain settings; 0 means "not given" where the range starts at 0.
struct PrivacyPlan {
  std::string mechanism = "gaussian";
  double noise = 0;
  double epsilon = 0;
  double mechanism_delta = 0;
  std::int64_t categories = 2;
  double l1_sensitivity = 0;
  double l2_sensitivity = 0;
  std::int64_t dimension = 1;
  std::int64_t summands = 1;
  std::string sampling = "none";
  std::int64_t population = 0;
  std::int64_t cohort = 0;
  std::int64_t rounds = 1;
  double delta = 0;
  std::string adjacency = "add-remove";
  std::string unit = "user";
  std::string method = "best";
  std::int64_t participations = 0;
  double total_variation = 0;
  double log_ratio = 0;
  // A second release by the same mechanism, to everybody who was in the first; 0: there is none.
  double second_noise = 0;
  double second_l1_sensitivity = 0;
  double second_l2_sensitivity = 0;
  double second_total_variation = 0;
  double second_log_ratio = 0;

  // The table refers to this object: keep it alive and in place.
  void bind(SettingsTable& table);
};

struct PlanAnswer {
  Guarantee published;              // with the sampling of the plan
  std::optional<Guarantee> server;  // when the plan caps participations
};

// Refuse a plan that is incomplete or contradicts itself, naming the setting to change.
Result<PrivacyEvent> event_of(const PrivacyPlan& plan);                // the first release
Result<std::vector<PrivacyEvent>> events_of(const PrivacyPlan& plan);  // all of them
Result<PlanAnswer> account(const PrivacyPlan& plan);

// One release of Skellam noise with one user replaced, as a plan states it.
PrivacyPlan stated(const PrivacyEvent& event, double delta);
// Writes a plan into a run's folder. Refuses to replace another one: rounds that are over had its noise.
Status save_plan(PrivacyPlan plan, const fs::path& file);

}  // namespace sotto::privacy
