#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>

#include "base/files.h"
#include "base/interrupt.h"
#include "base/log_lines.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/folded.h"
#include "cli/hand_over.h"

namespace sotto::cli {

void Output::event(const nlohmann::json& object) const {
  if (!json) return;
  // Titles and ids may hold any bytes: invalid UTF-8 is replaced, never thrown.
  const std::string line = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

void Output::text(const std::string& line) const {
  if (json) return;
  std::fwrite(line.data(), 1, line.size(), stdout);
  if (line.empty() || line.back() != '\n') std::fputc('\n', stdout);
  std::fflush(stdout);
}

void Output::text(const std::string& head, std::string_view beside) const {
  text(with_text_beside(head, beside));
}

SettingsFlags::SettingsFlags(CLI::App& app, SettingsTable& table) : table_(table) {
  for (const auto& row : table.rows()) {
    std::string flag = "--" + row.name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    std::string help = row.help;
    if (!row.allowed.empty()) help += " (" + row.allowed + ")";
    if (!row.default_value.empty()) help += " [" + row.default_value + "]";
    if (row.type == "bool") {
      app.add_flag(flag, switches_[row.name], help);
      continue;
    }
    app.add_option_function<std::string>(
           flag, [this, name = row.name](const std::string& value) { given_[name] = value; }, help)
        ->type_name(row.type);
  }
}

Status SettingsFlags::apply() {
  for (const auto& [name, value] : given_) SOTTO_CHECK(table_.set(name, value));
  for (const auto& [name, value] : switches_)
    if (!value.empty()) SOTTO_CHECK(table_.set(name, value));
  return {};
}

int report_failure(const Error& error) {
  const std::string line = log_lines() == LogLines::json ? json_log_line(std::chrono::system_clock::now(),
                                                                         LogLevel::error, error.message)
                                                         : fmt::format("sotto: {}\n", error.message);
  std::fwrite(line.data(), 1, line.size(), stderr);
  return error.kind == ErrorKind::bad_input ? 2 : 1;
}

namespace {

// What every command takes, before or after its name.
struct CommonFlags {
  bool json = false, quiet = false;
  int threads = 0;
  std::string level, format;

  void add_to(CLI::App& app) {
    app.add_flag("--json", json, "One JSON object per line on stdout, nothing else, and in the log");
    app.add_flag("--quiet", quiet, "No progress on stderr, and of the log only warnings");
    app.add_option("--threads", threads, "Threads to use; 0: all cores")->check(CLI::Range(0, 4096));
    app.add_option("--log-level", level, "trace, debug, info (default), warn, error or off");
    app.add_option("--log-format", format, "Of the log on stderr: text, or json, as --json has it")
        ->check(CLI::IsMember({"text", "json"}));
  }
};

// The option of a command or of those above it; null: none is called so.
const CLI::Option* find_option(const CLI::App* command, const std::string& name) {
  for (; command != nullptr; command = command->get_parent())
    if (const auto* option = command->get_option_no_throw(name)) return option;
  return nullptr;
}

const CLI::App* subcommand_named(const CLI::App* command, const std::string& word) {
  const auto known = command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
  return known.empty() ? nullptr : known.front();
}

std::optional<std::string> nearest_option(const CLI::App* command, const std::string& name) {
  std::vector<std::string> names;
  for (; command != nullptr; command = command->get_parent())
    for (const auto* option : command->get_options())
      for (const std::string& known : option->get_lnames())
        if (name.size() > 2 && known.front() == name[2]) names.push_back("--" + known);  // few mistype that
  return nearest(name, names);
}

std::optional<std::string> nearest_command(const CLI::App* command, const std::string& word) {
  std::vector<std::string> names;
  for (const auto* known : command->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(known->get_name());
  return nearest(word, names);
}

// Settings of recipes are no flags of the commands that train.
std::string as_setting(const CLI::App& command, std::string name) {
  const std::string& word = command.get_name();
  if (word != "train" && word != "sweep" && word != "experiment") return "";
  name.erase(0, 2);
  std::replace(name.begin(), name.end(), '-', '_');
  return fmt::format(" A setting of the recipe is given as '--set {}=VALUE'{}", name,
                     word == "sweep" ? fmt::format(", or '--grid {}=A,B,C' for several", name) : "");
}

bool takes_words(const CLI::App& command) {
  const auto options = command.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_positional(); });
}

// A folder where a command wants '--run FOLDER'.
std::string stray_word(const CLI::App& command, std::string path, const std::string& word) {
  path.pop_back();
  const bool is_run =
      command.get_option_no_throw("--run") != nullptr && fs::exists(fs::path(word) / "run.json");
  return fmt::format("'sotto {}' takes flags alone, and '{}' is none; {}", path, word,
                     is_run ? fmt::format("did you mean '--run {}'?", word)
                            : fmt::format("'sotto {} --help' lists them", path));
}

// CLI11 says that something is missing or was not expected. Mostly a word was mistyped: find it and name the
// nearest one. Nothing: no word is unknown.
std::optional<std::string> mistyped(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") break;
    if (word.starts_with("--")) {
      const std::string name = word.substr(0, word.find('='));
      if (const auto* option = find_option(command, name)) {
        if (option->get_items_expected_max() > 0 && name == word) ++i;  // its value
        continue;
      }
      const auto near = nearest_option(command, name);
      const std::string setting = as_setting(*command, name);
      return fmt::format(
          "unknown flag '{}'; {}{}", name,
          near ? fmt::format("did you mean '{}'?", *near) : fmt::format("'sotto {}--help' lists them", path),
          near || setting.empty() ? setting : "." + setting);
    }
    if (word.starts_with("-")) continue;
    if (command->get_subcommands([](const CLI::App*) { return true; }).empty()) {
      if (!takes_words(*command)) return stray_word(*command, path, word);
      continue;
    }
    if (const auto* named = subcommand_named(command, word)) {
      command = named;
      path += word + " ";
      continue;
    }
    const auto near = nearest_command(command, word);
    return fmt::format("unknown command '{}{}'; {}", path, word,
                       near ? fmt::format("did you mean '{}{}'?", path, *near)
                            : fmt::format("'sotto {}--help' lists them", path));
  }
  return std::nullopt;
}

// A switch takes its answer behind '=' alone, so that a bare one does not swallow the next word. Other
// settings take theirs as the next word too: so it is joined where it can be nothing else.
std::vector<std::string> with_answers_joined(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  std::vector<std::string> words;
  for (int i = 0; i < argc; ++i) {
    words.emplace_back(argv[i]);
    if (const auto* named = subcommand_named(command, words.back())) command = named;
    const std::string_view next = i + 1 < argc ? argv[i + 1] : "";
    if (!words.back().starts_with("--") || (next != "true" && next != "false")) continue;
    const auto* option = find_option(command, words.back());
    if (option == nullptr || option->get_items_expected_max() > 0) continue;
    words.back() += fmt::format("={}", next);
    ++i;
  }
  return words;
}

// CLI11 reads -1 as the largest number there is, and calls what is no number 'could not convert'.
void check_whole_numbers(CLI::App& command) {
  const CLI::Validator whole(
      [](std::string& text) {
        const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                         [](char c) { return c >= '0' && c <= '9'; });
        return digits ? std::string() : fmt::format("'{}' is not a whole number from 0 on", text);
      },
      "");
  for (CLI::Option* option : command.get_options())
    if (option->get_type_name().starts_with("UINT")) option->check(whole);
  for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; })) check_whole_numbers(*below);
}

// The innermost command that was named.
const CLI::App& named_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc; ++i)
    if (const auto* named = subcommand_named(command, argv[i])) command = named;
  return *command;
}

// What was wrong with the words, and what to do.
std::string wrong_words(const CLI::App& app, int argc, char** argv, const CLI::ParseError& error) {
  if (auto wrong = mistyped(app, argc, argv)) return *std::move(wrong);
  std::vector<std::string> known;
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError))
    for (const auto* below :
         named_command(app, argc, argv).get_subcommands([](const CLI::App*) { return true; }))
      known.push_back(below->get_name());
  return known.empty() ? fmt::format("{} (add --help for the flags of a command)", error.what())
                       : fmt::format("name what to do, one of: {}", fmt::join(known, ", "));
}

bool asks_for_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc,
                     [](const char* word) { return std::string_view(word) == "--json"; });
}

}  // namespace

std::string command_word(int argc, char** argv) {
  CLI::App app;
  CommonFlags ignored;
  ignored.add_to(app);
  app.set_help_flag();
  app.prefix_command();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError&) {
    return {};
  }
  for (const std::string& word : app.remaining())
    if (!word.starts_with('-')) return word;
  return {};
}

void add_commands(CLI::App& app, Invocation& invocation) {
  const auto name_only = [&app](const char* name) {
    app.add_subcommand(name, find_trainer_command(name)->help);
  };
  name_only("demo");
  name_only("recipes");
  add_data_command(app, invocation);
  name_only("train");
  name_only("eval");
  name_only("compare");
  name_only("sweep");
  add_privacy_command(app, invocation);
  name_only("bench");
  name_only("experiment");
  name_only("export");
#ifdef SOTTO_HAVE_PROTOCOL
  add_campaign_command(app, invocation);
  add_log_command(app, invocation);
#endif
#ifdef SOTTO_HAVE_NET
  add_coordinator_command(app, invocation);
  add_device_command(app, invocation);
  add_fleet_command(app, invocation);
  add_play_command(app, invocation);
  add_serve_command(app, invocation);
#endif
}

int run(int argc, char** argv, void (*add_commands)(CLI::App&, Invocation&)) {
  CLI::App app{"Sotto: recommendation that never collects what people read", "sotto"};
  app.require_subcommand(1);
  app.fallthrough();
  app.formatter(std::make_shared<FoldedHelp>());
  CommonFlags flags;
  flags.add_to(app);
  app.set_version_flag("--version", std::string("sotto " SOTTO_VERSION));
  Invocation invocation;
  add_commands(app, invocation);
  check_whole_numbers(app);
  if (asks_for_json(argc, argv)) set_log_lines(LogLines::json);  // what cannot be parsed is said so too

  const std::vector<std::string> words = with_answers_joined(app, argc, argv);
  std::vector<const char*> joined;
  joined.reserve(words.size());
  for (const std::string& word : words) joined.push_back(word.c_str());
  try {
    app.parse(static_cast<int>(joined.size()), joined.data());
  } catch (const CLI::Success& done) {  // --help, --version
    if (!asks_for_json(argc, argv)) return app.exit(done);
    std::ostringstream text;
    const int code = app.exit(done, text, text);
    invocation.output.json = true;
    invocation.output.event({{"event", "help"}, {"text", text.str()}});
    return code;
  } catch (const CLI::ParseError& error) {
    return report_failure({ErrorKind::bad_input, wrong_words(app, argc, argv, error)});
  }
  invocation.output.json = flags.json;
  set_log_lines(flags.format == "json" || (flags.json && flags.format.empty()) ? LogLines::json
                                                                               : LogLines::text);
  const std::string level = !flags.level.empty() ? flags.level : flags.quiet ? "warn" : "info";
  if (auto status = set_log_level(level); !status) return report_failure(status.error());
  if (flags.quiet) set_progress_style(ProgressStyle::silent);
  if (flags.threads > 0) set_thread_count(flags.threads);
  install_interrupt_handler();
  try {
    if (auto status = invocation.action(); !status) return report_failure(status.error());
  } catch (const std::bad_alloc&) {
    return report_failure(
        {ErrorKind::failed, "out of memory: use less data, a smaller cohort or a smaller model"});
  } catch (const std::exception& error) {
    return report_failure({ErrorKind::failed, fmt::format("internal error: {}", error.what())});
  }
  return interrupted() ? 1 : 0;
}

}  // namespace sotto::cli
