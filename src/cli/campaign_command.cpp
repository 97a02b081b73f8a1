#ifdef SOTTO_HAVE_PROTOCOL

#include <memory>

#include "base/chain_hash.h"
#include "cli/campaign_draft.h"
#include "cli/campaign_words.h"
#include "cli/key_files.h"
#include "cli/token_files.h"

namespace sotto::cli {

namespace {

constexpr std::size_t largest_campaign = 1 << 17;

Result<rounds::Campaign> read_draft(const fs::path& path) {
  CampaignDraft draft;
  SettingsTable table;
  draft.bind(table);
  SOTTO_CHECK(table.load_toml(path));
  return draft.campaign();
}

struct ReadCampaign {
  rounds::Campaign campaign;
  std::optional<rounds::OpenedCampaign> document;  // none: it is a draft
};

Result<ReadCampaign> read_campaign(const fs::path& path) {
  SOTTO_TRY(const std::string bytes, read_file(path, largest_campaign));
  if (!rounds::is_document(rounds::campaign_kind, bytes)) {
    SOTTO_TRY(auto campaign, read_draft(path));
    return ReadCampaign{std::move(campaign), std::nullopt};
  }
  auto opened = rounds::open_campaign(bytes);
  if (!opened) return tl::unexpected(std::move(opened).error().in(path.string()));
  return ReadCampaign{opened->campaign, *opened};
}

Result<rounds::OpenedCampaign> read_signed(const fs::path& path) {
  SOTTO_TRY(auto read, read_campaign(path));
  if (!read.document)
    return bad_input("{} is a draft: 'sotto campaign sign' makes a campaign of it", path.string());
  return *std::move(read.document);
}

void add_keys(CLI::App& campaign, Invocation& invocation) {
  auto out = std::make_shared<std::string>();
  CLI::App* command =
      campaign.add_subcommand("keys", "Make a signing key: of an operator, coordinator or witness");
  command->add_option("--out", *out, "File of the secret key; the public one is FILE.pub")->required();
  command->callback([out, &invocation] {
    invocation.action = [out, &invocation]() -> Status {
      SOTTO_TRY(const rounds::IdentityKey key, write_key_files(*out));
      invocation.output.event({{"event", "done"}, {"public_key", to_hex(key)}, {"secret", *out}});
      invocation.output.text(
          fmt::format("public key {}\nsecret key in {}: keep an operator's offline", to_hex(key), *out));
      return {};
    };
  });
}

void add_sign(CLI::App& campaign, Invocation& invocation) {
  struct Arguments {
    std::string draft, key, out;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = campaign.add_subcommand("sign", "Sign a draft with the operator's key, if it can hold");
  command->add_option("draft", arguments->draft, "Draft (TOML) as 'new' writes it")->required();
  command->add_option("--key", arguments->key, "Secret key file of the operator")->required();
  command->add_option("--out", arguments->out, "Campaign to write")->required();
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      SOTTO_CHECK(refuse_to_replace(arguments->out));
      SOTTO_TRY(const auto read, read_campaign(arguments->draft));
      if (read.document) return bad_input("{} is signed already", arguments->draft);
      if (read.campaign.coordinator == nobody)
        return bad_input("{} names no coordinator: put its public key there, or draft with --coordinator-key",
                         arguments->draft);
      SOTTO_TRY(const auto terms, rounds::terms_of(read.campaign));
      if (current_time() >= read.campaign.valid_until)
        SOTTO_CHECK(rounds::check_time(read.campaign, current_time()));
      SOTTO_TRY(const rounds::Identity key, read_secret_key(arguments->key));
      SOTTO_TRY(const std::string bytes, rounds::sign_campaign(read.campaign, key));
      SOTTO_CHECK(write_file_atomically(arguments->out, bytes));
      SOTTO_TRY(const auto opened, rounds::open_campaign(bytes));
      say_terms(read.campaign, terms, to_hex(opened.hash), invocation.output);
      return {};
    };
  });
}

void add_tokens(CLI::App& campaign, Invocation& invocation) {
  struct Arguments {
    std::string key, out;
    std::int64_t count = 0, days = 30;
    bool again = false;
  };
  auto given = std::make_shared<Arguments>();
  CLI::App* command =
      campaign.add_subcommand("tokens", "Make enrolment tokens, each for one device, signed by the operator");
  command->add_option("--key", given->key, "Secret key file of the operator")->required();
  command->add_option("--count", given->count, "How many")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000'000}));
  command->add_option("--days", given->days, "Days for which they are valid")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{3650}));
  command->add_flag("--again", given->again,
                    "For devices that took part before: a lost ledger then begins with its budget spent");
  command->add_option("--out", given->out, "File to write, a token in each line")->required();
  command->callback([given, &invocation] {
    invocation.action = [given, &invocation]() -> Status {
      SOTTO_TRY(const rounds::Identity key, read_secret_key(given->key));
      const rounds::UtcTime expires = current_time() + std::chrono::days(given->days);
      SOTTO_CHECK(
          write_tokens(given->out, static_cast<std::size_t>(given->count), !given->again, expires, key));
      invocation.output.event({{"event", "done"}, {"tokens", given->count}, {"file", given->out}});
      invocation.output.text(fmt::format("{} token{} in {}, valid until {}: hand each to one device",
                                         given->count, given->count == 1 ? "" : "s", given->out,
                                         privacy::to_text(expires)));
      return {};
    };
  });
}

void add_show(CLI::App& campaign, Invocation& invocation) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = campaign.add_subcommand("show", "What devices are asked, and what it costs them");
  command->add_option("campaign", *file, "Campaign or draft")->required();
  command->callback([file, &invocation] {
    invocation.action = [file, &invocation]() -> Status {
      SOTTO_TRY(const auto read, read_campaign(*file));
      SOTTO_TRY(const auto terms, rounds::terms_of(read.campaign));
      say_terms(read.campaign, terms, read.document ? to_hex(read.document->hash) : "", invocation.output);
      return {};
    };
  });
}

void add_verify(CLI::App& campaign, Invocation& invocation) {
  struct Arguments {
    std::string file, key;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      campaign.add_subcommand("verify", "Is it signed by this operator, can it hold, and is it valid today?");
  command->add_option("campaign", arguments->file, "Campaign")->required();
  command->add_option("--operator-key", arguments->key, "Public key file of the operator")->required();
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      SOTTO_TRY(const rounds::IdentityKey key, read_public_key(arguments->key));
      SOTTO_TRY(const auto opened, read_signed(arguments->file));
      if (!opened.is_signed_by(key))
        return bad_input("{} is not signed by {}: no device that trusts this key accepts it", arguments->file,
                         to_hex(key));
      SOTTO_CHECK(rounds::terms_of(opened.campaign));
      SOTTO_CHECK(rounds::check_time(opened.campaign, current_time()));
      invocation.output.event(
          {{"event", "verified"}, {"hash", to_hex(opened.hash)}, {"operator", to_hex(key)}});
      invocation.output.text(
          "", fmt::format("campaign {} is signed by {} and valid until {}", to_hex(opened.hash), to_hex(key),
                          privacy::to_text(opened.campaign.valid_until)));
      return {};
    };
  });
}

}  // namespace

void add_campaign_command(CLI::App& app, Invocation& invocation) {
  CLI::App* campaign =
      app.add_subcommand("campaign", "What devices are asked to train, signed by the operator");
  campaign->require_subcommand(1);
  add_keys(*campaign, invocation);
  add_key_changes(*campaign, invocation);
  add_campaign_new(*campaign, invocation);
  add_sign(*campaign, invocation);
  add_tokens(*campaign, invocation);
  add_show(*campaign, invocation);
  add_verify(*campaign, invocation);
}

}  // namespace sotto::cli

#endif
