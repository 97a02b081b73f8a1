#pragma once
// What a newsroom is made of. The defaults of the choice model are tuned to be about as hard as MIND;
// docs/newsroom.md gives the formulas these coefficients stand in.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/settings.h"

namespace sotto::data {

struct NewsroomSettings {
  std::int64_t users = 10'000;
  std::int64_t news = 5'000;
  std::int64_t days = 7;  // the last one is the test day
  std::int64_t seed = 1;
  std::string headlines;  // file with titles; empty: write them

  double interest = 4.3;        // strength of long-term interest
  double drift = 1.0;           // strength of short-term interest
  double appeal = 0.30;         // spread of how appealing news are to everyone
  double decay = 0.08;          // loss of appeal per day of age
  double position_bias = 0.25;  // loss per natural logarithm of the position
  double cold_users = 0.06;     // share of readers who arrive during the recorded days
  double vague_titles = 0.1;    // share of titles that say little about their theme

  void bind(SettingsTable& table);
  // Ranges, and what only holds between settings (enough news for the days). Says what to change.
  Status validate() const;
};

}  // namespace sotto::data
