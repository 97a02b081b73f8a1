#ifdef SOTTO_HAVE_PROTOCOL

#include <sodium.h>

#include <chrono>
#include <memory>

#include "base/append_log.h"
#include "base/chain_hash.h"
#include "cli/command.h"
#include "cli/key_files.h"
#include "cli/log_witness.h"
#include "rounds/order.h"

namespace sotto::cli {

namespace {

using rounds::public_log_format;
using rounds::PublicLog;

rounds::IdentityKey owner_of(std::string_view opening) {
  rounds::IdentityKey key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(opening[i]);
  return key;
}

Result<PublicLog> replayed(std::string_view opening, const std::vector<std::string>& records,
                           const fs::path& path) {
  PublicLog log(owner_of(opening));
  for (const std::string& record : records)
    if (auto taken = log.take(record); !taken)
      return tl::unexpected(std::move(taken).error().in(path.string()));
  if (!log.is_complete()) return bad_input("{}: the last entry has no signed head", path.string());
  return log;
}

// As it is now, without a lock.
Result<PublicLog> read_public_log(const fs::path& path) {
  if (!fs::exists(path))
    return bad_input("there is no log {}: 'sotto log append' begins one with its first entry", path.string());
  SOTTO_TRY(const std::string bytes, read_log_file(path, public_log_format));
  SOTTO_TRY(auto reader, LogReader::open(public_log_format, bytes));
  std::vector<std::string> records;
  for (std::string_view body;;) {
    SOTTO_TRY(const bool more, reader.next(body));
    if (!more) break;
    records.emplace_back(body);
  }
  return replayed(reader.opening(), records, path);
}

// Entries are named by the SHA-256 of their files, campaigns by the hash that orders name them by.
Result<rounds::Digest> hash_of_file(const fs::path& path) {
  SOTTO_TRY(const std::string bytes, read_file(path));
  rounds::Digest hash;
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return hash;
}

struct AppendArguments {
  std::string log, key, campaign, model, pack, cosignature;
};

Result<rounds::LogLeaf> leaf_to_append(const AppendArguments& given, const rounds::IdentityKey& owner) {
  if (!given.model.empty()) {
    SOTTO_TRY(const rounds::Digest hash, hash_of_file(given.model));
    return rounds::LogLeaf{rounds::LeafKind::model, hash};
  }
  if (!given.pack.empty()) {
    SOTTO_TRY(const rounds::Digest hash, hash_of_file(given.pack));
    return rounds::LogLeaf{rounds::LeafKind::pack, hash};
  }
  SOTTO_TRY(const std::string bytes, read_file(given.campaign, 1 << 17));
  auto opened = rounds::open_campaign(bytes);
  if (!opened) return tl::unexpected(std::move(opened).error().in(given.campaign));
  if (opened->campaign.coordinator != owner)
    return bad_input("{} names the coordinator {}, and this log would be signed by {}", given.campaign,
                     to_hex(opened->campaign.coordinator), to_hex(owner));
  return rounds::LogLeaf{rounds::LeafKind::campaign, opened->hash};
}

Status append_entry(const AppendArguments& given, const Output& output) {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  std::vector<std::string> records;
  const bool exists = fs::exists(given.log);
  std::optional<AppendLog> file;
  PublicLog log({});
  if (exists) {
    std::vector<std::string> before;
    SOTTO_TRY(file, AppendLog::open(given.log, public_log_format, Durability::power_loss,
                                    [&](std::string_view body, std::string_view) -> Status {
                                      before.emplace_back(body);
                                      return {};
                                    }));
    SOTTO_TRY(log, replayed(file->opening(), before, given.log));
  }
  if (!given.cosignature.empty()) {
    if (!exists) return bad_input("there is no log {} to put a cosignature into", given.log);
    SOTTO_TRY(const std::string bytes, read_file(given.cosignature, 4096));
    SOTTO_TRY(const auto word, rounds::decode_cosignature(bytes));
    SOTTO_TRY(const std::string record, log.record_for(word));
    records.push_back(record);
  } else {
    if (given.key.empty())
      return bad_input("an entry is signed: name the log owner's secret key with --key FILE");
    SOTTO_TRY(const rounds::Identity key, read_secret_key(given.key));
    SOTTO_TRY(const rounds::LogLeaf leaf, leaf_to_append(given, key.public_key()));
    if (!exists) log = PublicLog(key.public_key());
    SOTTO_TRY(records, log.records_for(leaf, key, now));
  }
  for (const std::string& record : records) SOTTO_CHECK(log.take(record));
  if (file) {
    SOTTO_CHECK(file->append(records));
  } else {
    SOTTO_CHECK(AppendLog::create(given.log, public_log_format, as_text(log.owner()), records,
                                  Durability::power_loss));
  }
  const rounds::LogHead& head = log.head()->head;
  output.event({{"event", "appended"},
                {"entries", head.size},
                {"root", to_hex(head.root)},
                {"cosignatures", log.head()->cosignatures.size()}});
  output.text("", fmt::format("{} entries, root {}, {} cosignatures", head.size, to_hex(head.root),
                              log.head()->cosignatures.size()));
  return {};
}

void add_append(CLI::App& log, Invocation& invocation) {
  auto given = std::make_shared<AppendArguments>();
  CLI::App* command =
      log.add_subcommand("append", "Add a campaign, model, pack or cosignature, signed as one change");
  command->add_option("log", given->log, "Log; its first entry begins it")->required();
  command->add_option("--key", given->key, "Secret key file of the log's owner, the coordinator");
  command->add_option("--campaign", given->campaign, "Signed campaign");
  command->add_option("--model", given->model, "Model version");
  command->add_option("--pack", given->pack, "Device pack");
  command->add_option("--cosignature", given->cosignature, "What 'sotto log witness' wrote");
  command->callback([given, &invocation] {
    invocation.action = [given, &invocation]() -> Status {
      const int named = (given->campaign.empty() ? 0 : 1) + (given->model.empty() ? 0 : 1) +
                        (given->pack.empty() ? 0 : 1) + (given->cosignature.empty() ? 0 : 1);
      if (named != 1)
        return bad_input("name what to append, one of: --campaign, --model, --pack, --cosignature");
      return append_entry(*given, invocation.output);
    };
  });
}

void say_log(const PublicLog& log, const Output& output) {
  for (std::size_t i = 0; i < log.leaves().size(); ++i) {
    const rounds::LogLeaf& leaf = log.leaves()[i];
    output.event(
        {{"event", "entry"}, {"index", i}, {"kind", rounds::name(leaf.kind)}, {"hash", to_hex(leaf.hash)}});
    output.text(fmt::format("{:>6}  {:<8}  {}", i, rounds::name(leaf.kind), to_hex(leaf.hash)));
  }
  const rounds::SignedHead& last = *log.head();
  nlohmann::json witnesses = nlohmann::json::array();
  for (const rounds::Cosignature& cosignature : last.cosignatures)
    witnesses.push_back(to_hex(cosignature.witness));
  output.event({{"event", "head"},
                {"entries", last.head.size},
                {"root", to_hex(last.head.root)},
                {"time", privacy::to_text(last.head.time)},
                {"owner", to_hex(log.owner())},
                {"witnesses", witnesses}});
  output.text("head    ",
              fmt::format("{} entries, root {}, signed {} by {}", last.head.size, to_hex(last.head.root),
                          privacy::to_text(last.head.time), to_hex(log.owner())));
  for (const rounds::Cosignature& cosignature : last.cosignatures)
    output.text(fmt::format("witness {}", to_hex(cosignature.witness)));
}

void add_log_show(CLI::App& log, Invocation& invocation) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = log.add_subcommand("show", "Entries, head and who cosigned it");
  command->add_option("log", *file, "Log")->required();
  command->callback([file, &invocation] {
    invocation.action = [file, &invocation]() -> Status {
      SOTTO_TRY(const PublicLog read, read_public_log(*file));
      say_log(read, invocation.output);
      return {};
    };
  });
}

Status check_owner(const PublicLog& log, const fs::path& key_file, const fs::path& path) {
  SOTTO_TRY(const rounds::IdentityKey owner, read_public_key(key_file));
  if (log.owner() == owner) return {};
  return bad_input("{} belongs to {}, and not to {}: this is another log", path.string(), to_hex(log.owner()),
                   to_hex(owner));
}

void add_log_verify(CLI::App& log, Invocation& invocation) {
  struct Arguments {
    std::string log, owner;
    std::vector<std::string> witnesses;
  };
  auto given = std::make_shared<Arguments>();
  CLI::App* command =
      log.add_subcommand("verify", "Every entry, head and signature; who of these witnesses cosigned?");
  command->add_option("log", given->log, "Log")->required();
  command->add_option("--owner-key", given->owner, "Public key file of its owner, the coordinator")
      ->required();
  command
      ->add_option("--witness-key", given->witnesses, "Public key file of a witness that must have cosigned")
      ->allow_extra_args(false);
  command->callback([given, &invocation] {
    invocation.action = [given, &invocation]() -> Status {
      SOTTO_TRY(const PublicLog read, read_public_log(given->log));
      SOTTO_CHECK(check_owner(read, given->owner, given->log));
      for (const std::string& file : given->witnesses) {
        SOTTO_TRY(const rounds::IdentityKey witness, read_public_key(file));
        if (rounds::witnesses_of(*read.head(), std::span(&witness, 1)) == 0)
          return bad_input("the witness {} has not cosigned the head of {} entries", to_hex(witness),
                           read.head()->head.size);
      }
      invocation.output.event({{"event", "verified"},
                               {"entries", read.head()->head.size},
                               {"root", to_hex(read.head()->head.root)},
                               {"cosignatures", read.head()->cosignatures.size()}});
      invocation.output.text(fmt::format("{} entries, every head is signed by the owner, {} cosignatures",
                                         read.head()->head.size, read.head()->cosignatures.size()));
      return {};
    };
  });
}

Status witness_log(const WitnessArguments& given, const Output& output) {
  SOTTO_TRY(const PublicLog read, read_public_log(given.log));
  SOTTO_CHECK(check_owner(read, given.owner, given.log));
  SOTTO_TRY(const rounds::LogFrontier seen, read_witness_state(given.state));
  const rounds::LogHead& head = read.head()->head;
  if (seen.size() > head.size)
    return bad_input("{} has {} entries, and {} were seen before: entries were taken away", given.log,
                     head.size, seen.size());
  if (read.tree().root(seen.size()) != seen.root())
    return bad_input("{} does not continue the {} entries that were seen before: it was forked", given.log,
                     seen.size());
  SOTTO_TRY(const rounds::HeadCosignature word, witness_head(head, read.frontier(), given));
  SOTTO_CHECK(write_file_atomically(given.out, rounds::encode(word)));
  output.event({{"event", "witnessed"},
                {"entries", head.size},
                {"before", seen.size()},
                {"root", to_hex(head.root)},
                {"witness", to_hex(word.cosignature.witness)}});
  output.text("", fmt::format("{} entries continue the {} seen before; cosigned in {}", head.size,
                              seen.size(), given.out));
  return {};
}

void add_log_witness(CLI::App& log, Invocation& invocation) {
  auto given = std::make_shared<WitnessArguments>();
  CLI::App* command =
      log.add_subcommand("witness", "Cosign the head, if the log continues what was seen before");
  command->add_option("log", given->log, "Log; or --server URL");
  command->add_option("--server", given->server, "Address of a coordinator, whose log it is");
  command->add_option("--authorities", given->authorities, "PEM file of certificates to trust, for https");
  command
      ->add_option("--every-seconds", given->every_seconds,
                   "With --server: look again and again, so long apart; 0: once")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{86'400}));
  command->add_option("--owner-key", given->owner, "Public key file of its owner, the coordinator")
      ->required();
  command->add_option("--key", given->key, "Secret key file of the witness")->required();
  command
      ->add_option("--state", given->state, "File in which the witness keeps what it saw; made when missing")
      ->required();
  command->add_option("--out", given->out, "Cosignature to write, for 'sotto log append'");
  command->callback([given, &invocation] {
    invocation.action = [given, &invocation]() -> Status {
      if (given->log.empty() == given->server.empty())
        return bad_input("which log? Name its file and --out FILE for the word, or --server URL");
      if (given->log.empty() != given->out.empty())
        return bad_input("--out belongs to a log that is a file: a coordinator is told over HTTP");
#ifdef SOTTO_HAVE_NET
      if (!given->server.empty()) return witness_server(*given, invocation.output);
#else
      if (!given->server.empty())
        return bad_input("this build has no HTTP: fetch the log, and name its file");
#endif
      return witness_log(*given, invocation.output);
    };
  });
}

}  // namespace

void add_log_command(CLI::App& app, Invocation& invocation) {
  CLI::App* log =
      app.add_subcommand("log", "The public log of campaigns, models and packs, and its witnesses");
  log->require_subcommand(1);
  add_append(*log, invocation);
  add_log_show(*log, invocation);
  add_log_verify(*log, invocation);
  add_log_witness(*log, invocation);
}

}  // namespace sotto::cli

#endif
