#pragma once
// What the owner of a device decides, as one table: how it asks, what it keeps, what training may cost.
// Plain values.

#include <string>
#include <vector>

#include "device/query/query_settings.h"
#include "device/rounds/round_checks.h"

namespace sotto::device {

// What training may be at most. The person sees these numbers before agreeing (sdk/consent.h).
struct TrainingSettings {
  double epsilon = 8, delta = 1e-5;  // of one campaign, against the server
  std::int64_t least_group = 20;
  double least_corrupted = 0.05;
  std::string server = "semi-honest";
  double security_bits = 40;
  std::int64_t least_witnesses = 0;
  std::int64_t most_upload_bytes = 1 << 20, most_seconds = 120;
  // When: as far as the host knows these conditions.
  bool only_idle = true, only_unmetered = true, only_charging = true;

  void bind(SettingsTable& table);
  TrainingPolicy policy() const;
};

// The public log that packs and guides must be in (sdk/log_watch.h).
struct LogSettings {
  std::string key;        // of its owner, 64 hexadecimal digits; empty: none is demanded
  std::string witnesses;  // keys, with commas between them
  std::int64_t witnesses_needed = 0;

  void bind(SettingsTable& table);
};

// "a, b" as its parts.
std::vector<std::string> listed(std::string_view text);

struct DeviceSettings {
  // private: noisy queries. blind: encrypted questions, of which the server learns nothing. popular: the
  // public list, ranked here. local: the pack, ranked here; sends nothing.
  std::string ranking = "private";
  QuerySettings query;
  // What all answers and rounds together may tell; 0: no such budget. At least one is needed, unless nothing
  // is told.
  double day_epsilon = 0;
  double month_epsilon = 0;
  double lifetime_epsilon = 0;
  double budget_delta = 1e-6;
  // Categories whose clicks its person lets be told exactly, where reads is unprotected; with commas between
  // them.
  std::string not_sensitive;
  std::int64_t clicks_per_category = 200;
  std::int64_t pages = 1000;     // that were shown and are trained on
  std::int64_t rows = 10'000;    // of interactions that are trained on
  std::int64_t keep_days = 365;  // clicks, pages and rows
  // What its person wants on a page. Lists of names with commas between them.
  std::string blocked_items, blocked_categories, languages;
  std::int64_t most_per_category = 0;
  LogSettings log;
  TrainingSettings training;

  void bind(SettingsTable& table);
};

}  // namespace sotto::device
