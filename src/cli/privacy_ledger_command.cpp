#include <chrono>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "privacy/ledger/ledger.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::cli {

void add_privacy_ledger_command(CLI::App& privacy, Invocation& invocation) {
  struct Arguments {
    std::string ledger, anchor;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = privacy.add_subcommand("ledger", "What a device has told, and what is left");
  command->add_option("ledger", arguments->ledger, "a ledger file, or a device's folder that holds one")
      ->required();
  command->add_option("--anchor", arguments->anchor, "also check that the ledger continues this anchor");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      std::filesystem::path file(arguments->ledger);
      std::error_code ignored;
      if (std::filesystem::is_directory(file, ignored)) file /= kLedgerFileName;
      const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
      std::optional<std::filesystem::path> anchor;
      if (!arguments->anchor.empty()) anchor = arguments->anchor;
      SOTTO_TRY(const LedgerStatement statement, read_statement(file, now, anchor));
      if (invocation.output.json) invocation.output.event(nlohmann::json::parse(to_json(statement)));
      invocation.output.text(to_text(statement));
      return {};
    };
  });
}

}  // namespace sotto::cli
