#include "recipes/setting_conditions.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace sotto::recipes {

const std::vector<SettingCondition>& conditions_of_shared_parts() {
  static const std::vector<SettingCondition> conditions = {
      // fl/server_optimiser.h
      {"learning_rate", "optimiser", {"sgd", "fedadam", "adam"}},
      {"halve_every", "optimiser", {"sgd", "fedadam", "adam"}},
      {"momentum", "optimiser", {"sgd"}},
      {"beta1", "optimiser", {"fedadam", "adam"}},
      {"beta2", "optimiser", {"fedadam", "adam"}},
      {"tau", "optimiser", {"fedadam", "adam"}},
      {"second_moment", "optimiser", {"fedadam", "adam"}},
      // fl/plain_means.h, fl/interaction_training.h, fl/copy_training.h
      {"local_batch", "local_epochs", {}},
      {"local_learning_rate", "local_epochs", {}},
      {"negatives", "labels", {"sampled"}},
      {"proximal_norm", "proximal", {}},
      {"tuning_rate", "tuning_epochs", {}},
      // fl/training_data.h, fl/round_engine.h
      {"validation", "validation_impressions", {}},
      {"patience", "validation_impressions", {}},
      // fl/private_training.h, fl/gather.h
      {"clip_rate", "clip_quantile", {}},
      {"clip_floor", "clip_quantile", {}},
      {"server", "sums", {"masked"}},
      {"lost_phase", "lost", {}},
      // recipes/news_run.h, model/bert/bert_text.h
      {"word_scale", "glove", {""}},
      {"bert_size", "bert", {""}},
      {"max_pieces", "bert", {}},
  };
  return conditions;
}

namespace {

bool fulfilled(const SettingCondition& condition, const std::string& value) {
  if (!condition.values.empty())
    return std::find(condition.values.begin(), condition.values.end(), value) != condition.values.end();
  if (value.empty() || value == "false") return false;
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  return *end != '\0' || number != 0;
}

std::string where(const SettingCondition& condition) {
  if (condition.values.empty()) return fmt::format("where {} is set", condition.other);
  if (condition.values.size() == 1 && condition.values.front().empty())
    return fmt::format("without {}", condition.other);
  return fmt::format("with {}={}", condition.other,
                     fmt::join(condition.values, fmt::format(" or {}=", condition.other)));
}

}  // namespace

std::vector<SettingCondition> read_only_with(const std::string& other, const std::vector<std::string>& values,
                                             const std::vector<std::string>& settings) {
  std::vector<SettingCondition> conditions;
  for (const std::string& setting : settings) conditions.push_back({setting, other, values});
  return conditions;
}

const std::vector<std::string>& sound_path_settings() {
  static const std::vector<std::string> settings = {
      "epsilon", "delta",          "bits", "dropping", "corrupted", "sums",      "server",
      "against", "participations", "clip", "updates",  "lost",      "lost_phase"};
  return settings;
}

Result<std::vector<UnreadSetting>> unread_settings(const SettingsTable& table,
                                                   const std::vector<SettingCondition>& conditions) {
  std::map<std::string, SettingsTable::Row> known;
  for (auto& row : table.rows()) known.emplace(row.name, row);
  std::vector<SettingCondition> all = conditions;
  for (const SettingCondition& condition : conditions)
    for (const std::string& name : {condition.setting, condition.other})
      if (!known.contains(name))
        return failed("{} is read only where {} says so, but there is no setting {}", condition.setting,
                      condition.other, name);
  for (const SettingCondition& condition : conditions_of_shared_parts())
    if (known.contains(condition.setting) && known.contains(condition.other)) all.push_back(condition);

  std::vector<UnreadSetting> unread;
  for (const SettingCondition& condition : all) {
    const auto& setting = known.at(condition.setting);
    const std::string& other = known.at(condition.other).value;
    if (setting.value == setting.default_value || fulfilled(condition, other)) continue;
    unread.push_back(
        {condition.setting, fmt::format("{} has no effect with {}={}: it works {}; leave it out",
                                        condition.setting, condition.other, other, where(condition))});
  }
  return unread;
}

Status refuse_unread(const SettingsTable& table, const std::vector<SettingCondition>& conditions) {
  SOTTO_TRY(const auto unread, unread_settings(table, conditions));
  if (unread.empty()) return {};
  return bad_input("{}", unread.front().why);
}

}  // namespace sotto::recipes
