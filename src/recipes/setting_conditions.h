#pragma once
// Which settings are read only where another has some value (momentum: with optimiser=sgd). Nothing is
// accepted and ignored: a setting that would not be read must keep its default.

#include <string>
#include <vector>

#include "base/settings.h"

namespace sotto::recipes {

struct SettingCondition {
  std::string setting;              // is read only where
  std::string other;                // this setting
  std::vector<std::string> values;  // has one of these values; empty: anything but 0, false and nothing
};

// The same condition for several settings.
std::vector<SettingCondition> read_only_with(const std::string& other, const std::vector<std::string>& values,
                                             const std::vector<std::string>& settings);

// Every setting of the sound path of training (fl/private_training.h) that all recipes on it have.
const std::vector<std::string>& sound_path_settings();

// Those of parts that several recipes share.
const std::vector<SettingCondition>& conditions_of_shared_parts();

struct UnreadSetting {
  std::string name, why;
};

// Settings away from their defaults that the others leave without effect: by the conditions of parts that
// recipes share (optimisers, validation, fine-tuning, ...), as far as the table has these, and by those
// given, which fails when one names a setting that the table does not have.
Result<std::vector<UnreadSetting>> unread_settings(const SettingsTable& table,
                                                   const std::vector<SettingCondition>& conditions);
// Refuses the first of them.
Status refuse_unread(const SettingsTable& table, const std::vector<SettingCondition>& conditions);

}  // namespace sotto::recipes
