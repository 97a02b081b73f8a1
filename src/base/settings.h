#pragma once
// One record per setting: name, target, range, one line of help. The command-line flag, the TOML key, the
// docs table and the sample configuration all come from it. The default is the value the target holds when
// bound.
//
//   struct TrainSettings {
//     std::int64_t rounds = 100;
//     void bind(SettingsTable& table) { table.add("rounds", rounds, {1, 1'000'000}, "Number of rounds"); }
//   };

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace sotto {

template <class T>
struct Range {
  T low, high;
};

// Keeps references: the targets must outlive the table and stay where they are. Not thread-safe. A wrong
// record (bad or repeated name, default outside its range) is a mistake in the program and throws
// std::logic_error.
class SettingsTable {
 public:
  SettingsTable& add(std::string name, std::int64_t& target, Range<std::int64_t> range, std::string help);
  SettingsTable& add(std::string name, double& target, Range<double> range, std::string help);
  SettingsTable& add(std::string name, bool& target, std::string help);
  SettingsTable& add(std::string name, std::string& target, std::string help);
  // One of a fixed list of words.
  SettingsTable& add_choice(std::string name, std::string& target, std::vector<std::string> choices,
                            std::string help);

  // Unknown keys name the nearest valid one; values out of range or of the wrong type say what is allowed.
  Status set(std::string_view name, std::string_view value);
  Status set_assignment(std::string_view key_equals_value);  // "key=value", as in --set
  Status load_toml(const fs::path& path);                    // all or nothing

  struct Row {
    std::string name, type, default_value, value, allowed, help;
  };
  std::vector<Row> rows() const;
  std::string to_markdown() const;     // table for the docs
  std::string to_sample_toml() const;  // commented sample with defaults
  std::string to_toml() const;         // current values; load_toml reads it back
  nlohmann::json to_json() const;      // current values

 private:
  struct Record;
  SettingsTable& add_record(Record record);
  const Record* find(std::string_view name) const;
  Error unknown(std::string_view name) const;
  static Error refused(const Record& record, std::string_view value);
  std::vector<Record> records_;

 public:
  SettingsTable();
  ~SettingsTable();
  SettingsTable(SettingsTable&&) noexcept;
  SettingsTable& operator=(SettingsTable&&) noexcept;
};

// The text at a top-level key of a TOML file; nothing where there is none.
Result<std::optional<std::string>> toml_string(const fs::path& path, std::string_view key);

// The candidate nearest to `word` by edit distance, if near enough to be a slip of the keyboard.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sotto
