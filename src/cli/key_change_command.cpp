#ifdef SOTTO_HAVE_PROTOCOL

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/chain_hash.h"
#include "cli/command.h"
#include "cli/key_files.h"
#include "rounds/operator_keys.h"

namespace sotto::cli {

namespace {

struct KeyChangeArguments {
  std::string key, to, out;
  std::vector<std::string> replaced;
};

Status change_key(const KeyChangeArguments& given, bool revokes, const Output& output) {
  if (fs::exists(given.out)) return bad_input("{} exists: name another file", given.out);
  SOTTO_TRY(const rounds::Identity signer, read_secret_key(given.key));
  rounds::KeyChange change;
  change.revokes = revokes;
  change.time = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  SOTTO_TRY(change.after, read_public_key(given.to));
  for (const std::string& file : given.replaced) {
    SOTTO_TRY(const rounds::IdentityKey key, read_public_key(file));
    change.replaced.push_back(key);
  }
  if (change.replaced.empty()) change.replaced.push_back(signer.public_key());
  std::sort(change.replaced.begin(), change.replaced.end());
  SOTTO_TRY(const std::string document, rounds::sign_key_change(change, signer));
  SOTTO_CHECK(write_file_atomically(given.out, document));
  output.event({{"event", "done"},
                {"file", given.out},
                {"after", to_hex(change.after)},
                {"replaced", change.replaced.size()},
                {"revokes", revokes}});
  output.text(fmt::format("{} signs from now on; {} {}. 'sotto coordinator --key-change {}' tells devices",
                          to_hex(change.after), change.replaced.size(),
                          revokes ? "revoked: nothing that they signed is good any more"
                                  : "retired: what the log has of them stays good",
                          given.out));
  return {};
}

}  // namespace

void add_key_changes(CLI::App& campaign, Invocation& invocation) {
  const auto add = [&](const char* name, const char* help, bool revokes) {
    auto given = std::make_shared<KeyChangeArguments>();
    CLI::App* command = campaign.add_subcommand(name, help);
    command
        ->add_option("--key", given->key,
                     "Secret key file that signs the change: the one that is replaced, or the recovery key")
        ->required();
    command->add_option("--to", given->to, "Public key file that takes its place")->required();
    command->add_option("--replaced", given->replaced,
                        "Public key files that are replaced, with the recovery key; else the one that signs");
    command->add_option("--out", given->out, "Change to write")->required();
    command->callback([given, revokes, &invocation] {
      invocation.action = [given, revokes, &invocation] {
        return change_key(*given, revokes, invocation.output);
      };
    });
  };
  add("rotate", "Put another key in the operator's place; what stands in the log stays good", false);
  add("revoke", "Put another key in the place of one that was lost or stolen: nothing it signed is good",
      true);
}

}  // namespace sotto::cli

#endif
