#pragma once
// How a subcommand plugs in: it adds its flags to the parser and leaves an action that runs after parsing.
// stdout carries results only: with --json one JSON object per line, else text; everything for people about
// the progress of the work goes to stderr.
//
// Two programs share this: the command itself, which never loads libtorch, and the trainer behind it
// (cli/hand_over.h), which does what needs it.

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/settings.h"

namespace sotto::cli {

class Output {
 public:
  bool json = false;
  // One JSON object per line when --json was given; nothing otherwise.
  void event(const nlohmann::json& object) const;
  // Text for people: stdout, or nothing with --json.
  void text(const std::string& line) const;
  // The same in at most 100 columns, the text in those behind `head`.
  void text(const std::string& head, std::string_view beside) const;
};

// For numbers that may not be there.
inline nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nullptr;
}

struct Invocation {
  Output output;
  std::function<Status()> action;  // set by the subcommand that was named
};

// Adds --name flags (underscores become dashes) for every row of a table; --name alone says true where that
// is an answer. The values are checked and applied by apply(), which the command calls first in its action.
// The table must outlive the parser.
class SettingsFlags {
 public:
  SettingsFlags(CLI::App& app, SettingsTable& table);
  Status apply();

 private:
  SettingsTable& table_;
  std::map<std::string, std::string> given_, switches_;  // by name; a switch that was not given is empty
};

void add_data_command(CLI::App& app, Invocation& invocation);
void add_privacy_command(CLI::App& app, Invocation& invocation);
void add_privacy_audit_command(CLI::App& privacy, Invocation& invocation);
void add_privacy_report_command(CLI::App& privacy, Invocation& invocation);
#ifdef SOTTO_HAVE_PROTOCOL
void add_campaign_command(CLI::App& app, Invocation& invocation);
void add_key_changes(CLI::App& campaign, Invocation& invocation);
void add_log_command(CLI::App& app, Invocation& invocation);
#endif
#ifdef SOTTO_HAVE_NET
void add_serve_command(CLI::App& app, Invocation& invocation);
void add_coordinator_command(CLI::App& app, Invocation& invocation);
void add_device_command(CLI::App& app, Invocation& invocation);
void add_fleet_command(CLI::App& app, Invocation& invocation);
void add_play_command(CLI::App& app, Invocation& invocation);
#endif

// All commands in the order of --help. Those of the trainer are only named: whoever names one is handed over.
void add_commands(CLI::App& app, Invocation& invocation);

// A whole program: parses, runs, prints errors; returns the exit code 0, 1 (failed) or 2 (wrong use).
int run(int argc, char** argv, void (*add_commands)(CLI::App&, Invocation&));

// The command that is named behind the flags that all commands share; empty: none, or those flags are wrong.
std::string command_word(int argc, char** argv);

// Says what went wrong on stderr and returns the exit code that belongs to it.
int report_failure(const Error& error);

}  // namespace sotto::cli
