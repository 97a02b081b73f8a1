#ifdef SOTTO_HAVE_PROTOCOL

#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>

#include "base/binary_file.h"
#include "base/chain_hash.h"
#include "cli/campaign_draft.h"
#include "cli/command.h"
#include "cli/key_files.h"
#include "cli/token_files.h"
#include "data/dataset.h"
#include "local/local_trainer.h"
#include "privacy/accounting/datasheet.h"
#include "secagg/vectors/calibrated_plan.h"

namespace sotto::cli {

namespace {

constexpr std::size_t largest_campaign = 1 << 17;
constexpr rounds::IdentityKey nobody = [] {
  rounds::IdentityKey key{};
  key.fill(0xff);
  return key;
}();

rounds::UtcTime current_time() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

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

void say_terms(const rounds::Campaign& campaign, const rounds::CampaignTerms& terms, const std::string& hash,
               const Output& output) {
  const auto& encoding = campaign.encoding;
  const bool active = campaign.server == secagg::ServerModel::active;
  nlohmann::json local = nlohmann::json::object();
  for (const auto& setting : campaign.local) local[setting.name] = setting.value;
  output.event({{"event", "campaign"},
                {"hash", hash.empty() ? nlohmann::json(nullptr) : nlohmann::json(hash)},
                {"purpose", campaign.purpose},
                {"recipe", campaign.recipe},
                {"layout", to_hex(campaign.layout)},
                {"local", local},
                {"population", campaign.population},
                {"cohort", campaign.cohort},
                {"group", encoding.devices},
                {"dropped", encoding.dropped},
                {"corrupted", encoding.corrupted},
                {"server", active ? "active" : "semi-honest"},
                {"rounds", campaign.rounds},
                {"participations", campaign.participations},
                {"epsilon", terms.guarantee.epsilon},
                {"epsilon_published", terms.guarantee.epsilon},
                {"epsilon_stated", campaign.epsilon},
                {"delta", campaign.delta},
                {"unit", privacy::name(terms.guarantee.unit)},
                {"dimension", encoding.dimension},
                {"bits", campaign.bits},
                {"noise_multiplier", encoding.noise_multiplier},
                {"bytes_up", terms.bytes.up},
                {"bytes_down", terms.bytes.down},
                {"max_upload_bytes", campaign.max_upload_bytes},
                {"valid_from", privacy::to_text(campaign.valid_from)},
                {"valid_until", privacy::to_text(campaign.valid_until)},
                {"coordinator", to_hex(campaign.coordinator)},
                {"witnesses", campaign.witnesses.size()},
                {"witnesses_needed", campaign.witnesses_needed}});
  output.text("", campaign.purpose);
  const auto line = [&](std::string_view head, const std::string& beside) {
    output.text(fmt::format("  {:<11}", head), beside);
  };
  line("asked", fmt::format("train {} numbers by '{}', at most {} s in each of at most {} rounds of {}",
                            encoding.dimension, campaign.recipe, campaign.max_training_seconds,
                            campaign.participations, campaign.rounds));
  line("costs",
       fmt::format("epsilon {:.4g} at delta {:g} for all of them together, per {}, against the server and so "
                   "against everybody",
                   terms.guarantee.epsilon, campaign.delta, privacy::name(terms.guarantee.unit)));
  line("sends",
       fmt::format("at most {} bytes a round, in a sum of {} devices; fetches {} bytes and the model",
                   terms.bytes.up, encoding.devices, terms.bytes.down));
  line("holds",
       fmt::format("if of a group at most {} belong to the server and at most {} are lost; the server {}",
                   encoding.corrupted, encoding.dropped,
                   active ? "may do anything" : "follows the protocol and keeps what it sees"));
  line("who", fmt::format("{} of {} devices a round", campaign.cohort, campaign.population));
  line("from", privacy::to_text(campaign.valid_from));
  line("until", privacy::to_text(campaign.valid_until));
  line("orders", fmt::format("signed by {}", to_hex(campaign.coordinator)));
  line("log", campaign.witnesses_needed == 0
                  ? "the same for the devices of a group; no witness is needed"
                  : fmt::format("the same for all that {} of {} witnesses saw", campaign.witnesses_needed,
                                campaign.witnesses.size()));
  line("hash", hash.empty() ? "none: a draft, which no device accepts" : hash);
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

// What a new campaign is made of; a run and a data set say some of it.
struct NewCampaign {
  std::string purpose, recipe, layout, local, server = "semi-honest", valid_from;
  std::int64_t dimension = 0, population = 0, cohort = 0, group = 0, rounds = 30, participations = 0,
               bits = 18;
  double epsilon = 0, delta = 1e-6, clip = 1, dropping = 0.1, corrupted = 0.1, security_bits = 40;
  bool follow_bound = false;
  std::int64_t max_upload_bytes = 1 << 20, max_training_seconds = 60, shortest_phase_seconds = 10,
               longest_phase_seconds = 120, valid_days = 30, witnesses_needed = 0;

  void bind(SettingsTable& table) {
    constexpr std::int64_t many = 1'000'000'000'000;
    table.add("purpose", purpose, "A sentence for the people who are asked")
        .add("recipe", recipe, "What is trained")
        .add("dimension", dimension, {0, many}, "Numbers in an update")
        .add("layout", layout, "SHA-256 of the names and sizes of what is trained")
        .add("local", local, "Settings of the training on devices: name=value name=value")
        .add("population", population, {0, many}, "Devices that may be asked")
        .add("cohort", cohort, {0, many}, "Devices in a round")
        .add("group", group, {0, many}, "Devices that sum together; 0: the whole cohort, at most 200")
        .add("rounds", rounds, {1, many}, "Rounds of the campaign")
        .add("participations", participations, {0, many},
             "Rounds that one device takes part in at most; 0: so many that hardly any reaches them")
        .add("epsilon", epsilon, {0, 1e6}, "What all its participations may cost, against the server")
        .add("delta", delta, {1e-300, 0.5}, "delta of that; below one over the population")
        .add("clip", clip, {1e-12, 1e12}, "L2 norm that an update is clipped to")
        .add("follow_bound", follow_bound, "The clipping bound follows a quantile: a clip bit is in the sum")
        .add("bits", bits, {8, 32}, "Bits of an entry at most")
        .add("dropping", dropping, {0, 0.9}, "Share of a group that may be lost")
        .add("corrupted", corrupted, {0, 0.9}, "Share of a group that may belong to the server")
        .add_choice("server", server, {"semi-honest", "active"}, "What the secure sum withstands")
        .add("security_bits", security_bits, {30, 128}, "A group exposes somebody with less than 2^-this")
        .add("max_upload_bytes", max_upload_bytes, {1, many}, "Of one device in one round")
        .add("max_training_seconds", max_training_seconds, {1, 86'400}, "On the device, in one round")
        .add("shortest_phase_seconds", shortest_phase_seconds, {1, 86'400}, "That devices are waited for")
        .add("longest_phase_seconds", longest_phase_seconds, {1, 86'400}, "That devices are waited for")
        .add("valid_from", valid_from, "Day or time in UTC; empty: now")
        .add("valid_days", valid_days, {1, 3650}, "Days that the campaign lasts")
        .add("witnesses_needed", witnesses_needed, {0, 16}, "Cosignatures under the head of every order");
  }
};

// A checkpoint as fl/run_log.cpp writes it, of which the layout alone is read: "name:size name:size ".
constexpr std::uint32_t checkpoint_version = 2;

Status take_layout(const fs::path& checkpoint, NewCampaign& made) {
  SOTTO_TRY(const auto reader, BinaryFileReader::open(checkpoint, "checkpoint", checkpoint_version));
  SOTTO_TRY(const std::string_view layout, reader.text("layout"));
  made.layout = to_hex(rounds::layout_hash(layout));
  made.dimension = 0;
  for (std::size_t at = 0; at < layout.size();) {
    const std::size_t colon = layout.find(':', at), space = layout.find(' ', at);
    std::int64_t size = 0;
    if (colon == std::string_view::npos || space == std::string_view::npos || colon > space ||
        std::from_chars(layout.data() + colon + 1, layout.data() + space, size).ec != std::errc() ||
        size < 0 || __builtin_add_overflow(made.dimension, size, &made.dimension))
      return bad_input("{} has a layout that nobody wrote: is it a run's checkpoint?", checkpoint.string());
    at = space + 1;
  }
  return {};
}

// What a trained run says about recipe, numbers, cohorts and budget. Torch is not needed for it.
Status take_run(const fs::path& run, NewCampaign& made) {
  for (const char* file : {"run.json", "privacy.json", "privacy.toml", "best.sotto"})
    if (!fs::exists(run / file))
      return bad_input("{} has no {}: a campaign is made from a finished private run of 'sotto train'",
                       run.string(), file);
  SOTTO_TRY(const std::string description, read_file(run / "run.json", 1 << 20));
  const auto parsed = nlohmann::json::parse(description, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("recipe") || !parsed["recipe"].is_string())
    return bad_input("{} does not name its recipe: was the folder changed by hand?", run.string());
  made.recipe = parsed["recipe"].get<std::string>();
  SOTTO_TRY(const std::string page, read_file(run / "privacy.json", 1 << 20));
  SOTTO_TRY(const auto sheet, privacy::datasheet_from_json(page));
  privacy::PrivacyPlan plan;
  SettingsTable table;
  plan.bind(table);
  SOTTO_CHECK(table.load_toml(run / "privacy.toml"));
  SOTTO_CHECK(take_layout(run / "best.sotto", made));
  if (sheet.sums.size() != 1)
    return bad_input("{} releases {} sums a round, and a campaign asks for one: give the settings by flags",
                     run.string(), sheet.sums.size());
  const privacy::SumRecord& sum = sheet.sums.front();
  // ‖x‖₁ <= min(√d·‖x‖₂, ‖x‖₂²) with the d that was trained: another one is not of the whole model.
  const double entries = static_cast<double>(made.dimension) + (sum.clip_bit_weight ? 1 : 0);
  const double l1 =
      std::min(std::sqrt(entries) * plan.l2_sensitivity, plan.l2_sensitivity * plan.l2_sensitivity);
  if (std::abs(l1 - plan.l1_sensitivity) > 1e-6 * l1)
    return bad_input("devices of {} do not train the whole model: give dimension and layout by flags",
                     run.string());
  made.clip = sum.clip;
  made.follow_bound = sum.clip_bit_weight.has_value();
  made.dropping = static_cast<double>(sum.dropped) / static_cast<double>(sum.devices);
  made.corrupted = static_cast<double>(sum.corrupted) / static_cast<double>(sum.devices);
  made.population = plan.population;
  made.cohort = plan.cohort;
  made.rounds = plan.rounds;
  made.participations = plan.participations;
  made.delta = sheet.delta;
  if (sheet.epsilon_server) made.epsilon = *sheet.epsilon_server;
  return {};
}

// What follows from the recipe and the population where nothing else was said.
Status fill_in(NewCampaign& made) {
  if (made.layout.empty() && made.dimension == 0) {
    SOTTO_TRY(const auto local, parse_local(made.local));
    std::vector<std::pair<std::string, std::string>> settings;
    for (const rounds::LocalSetting& setting : local) settings.emplace_back(setting.name, setting.value);
    SOTTO_TRY(const auto trainer, local::find_trainer(made.recipe, settings));
    made.layout = to_hex(rounds::layout_hash(trainer->layout().text()));
    made.dimension = static_cast<std::int64_t>(trainer->layout().size());
  }
  constexpr std::int64_t most_in_a_group = 200, most_in_a_round = 10'000;
  const bool chosen_here = made.cohort == 0;
  if (chosen_here) made.cohort = std::min((made.population + 1) / 2, most_in_a_round);
  if (made.group == 0 && (chosen_here || made.cohort > most_in_a_group))
    made.group = std::min(made.cohort, most_in_a_group);
  if (chosen_here && made.group > 0) made.cohort -= made.cohort % made.group;
  if (made.purpose.empty()) made.purpose = "Better recommendations for everybody who takes part";
  return {};
}

Result<rounds::Campaign> campaign_from(const NewCampaign& made, const rounds::IdentityKey& coordinator,
                                       const std::vector<rounds::IdentityKey>& witnesses) {
  for (const auto& [name, value] :
       {std::pair("--dimension", made.dimension), std::pair("--population", made.population),
        std::pair("--cohort", made.cohort)})
    if (value == 0) return bad_input("{} is missing: give it, or --run RUN of a trained run", name);
  if (made.layout.empty()) return bad_input("--layout is missing: give it, or --run RUN of a trained run");
  const auto server =
      made.server == "active" ? secagg::ServerModel::active : secagg::ServerModel::semi_honest;
  SOTTO_TRY(const auto calibrated,
            secagg::calibrated_plan({.epsilon = made.epsilon,
                                     .delta = made.delta,
                                     .against = privacy::Adversary::server,
                                     .participations = static_cast<std::uint64_t>(made.participations),
                                     .bits = static_cast<unsigned>(made.bits),
                                     .dropping = made.dropping,
                                     .corrupted = made.corrupted,
                                     .clip = made.clip,
                                     .bound_follows = made.follow_bound},
                                    {.dimension = static_cast<std::uint64_t>(made.dimension),
                                     .population = static_cast<std::uint64_t>(made.population),
                                     .cohort = static_cast<std::uint64_t>(made.cohort),
                                     .rounds = static_cast<std::uint64_t>(made.rounds),
                                     .group = static_cast<std::uint64_t>(made.group)}));
  rounds::Campaign campaign;
  campaign.purpose = made.purpose;
  campaign.recipe = made.recipe;
  SOTTO_TRY(campaign.layout, rounds::digest_from_hex(made.layout, "layout"));
  SOTTO_TRY(campaign.local, parse_local(made.local));
  campaign.population = static_cast<std::uint64_t>(made.population);
  campaign.cohort = static_cast<std::uint64_t>(made.cohort);
  campaign.rounds = static_cast<std::uint64_t>(made.rounds);
  campaign.participations =
      std::min(campaign.rounds, static_cast<std::uint64_t>(calibrated.accounted.participations));
  campaign.epsilon = made.epsilon;
  campaign.delta = made.delta;
  campaign.encoding = calibrated.plan.settings();
  campaign.bits = calibrated.plan.modulus().bits();
  campaign.server = server;
  campaign.security_bits = made.security_bits;
  campaign.max_upload_bytes = static_cast<std::uint64_t>(made.max_upload_bytes);
  campaign.max_training_seconds = static_cast<std::uint64_t>(made.max_training_seconds);
  campaign.shortest_phase_seconds = static_cast<std::uint64_t>(made.shortest_phase_seconds);
  campaign.longest_phase_seconds = static_cast<std::uint64_t>(made.longest_phase_seconds);
  campaign.valid_from = current_time();
  if (!made.valid_from.empty()) {
    SOTTO_TRY(campaign.valid_from, parse_time(made.valid_from, "valid_from"));
  }
  campaign.valid_until = campaign.valid_from + std::chrono::days(made.valid_days);
  campaign.coordinator = coordinator;
  campaign.witnesses = witnesses;
  campaign.witnesses_needed = static_cast<std::uint64_t>(made.witnesses_needed);
  return campaign;
}

Status write_draft(const rounds::Campaign& campaign, const std::string& data, const fs::path& path) {
  CampaignDraft draft = CampaignDraft::of(campaign);
  if (!data.empty()) draft.data = fs::absolute(data).lexically_normal().string();
  SettingsTable table;
  draft.bind(table);
  return write_file_atomically(path, table.to_toml());
}

Status refuse_to_replace(const fs::path& path) {
  if (!fs::exists(path)) return {};
  return bad_input("{} is there already: name another file, or remove it", path.string());
}

void add_new(CLI::App& campaign, Invocation& invocation) {
  struct Arguments {
    std::string run, data, file, out, coordinator;
    std::vector<std::string> witnesses;
    NewCampaign made;
    SettingsTable table;
    std::unique_ptr<SettingsFlags> flags;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = campaign.add_subcommand(
      "new", "Draft a campaign: noise for the budget, encoding, group, as a file to read");
  command->add_option("--run", arguments->run,
                      "Trained run whose recipe, numbers, cohorts and budget it takes");
  command->add_option("--data", arguments->data, "Data set with as many users as there are devices");
  command->add_option("--settings", arguments->file,
                      "File (TOML) with the settings below, underscores for dashes; flags win");
  command->add_option("--coordinator-key", arguments->coordinator,
                      "Public key file of the coordinator; without one the draft is for trying out alone");
  command
      ->add_option("--witness-key", arguments->witnesses, "Public key file of a witness; may be given again")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out, "Draft to write (TOML)")->required();
  arguments->made.bind(arguments->table);
  arguments->flags = std::make_unique<SettingsFlags>(*command, arguments->table);
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      Arguments& given = *arguments;
      SOTTO_CHECK(refuse_to_replace(given.out));
      if (!given.run.empty()) SOTTO_CHECK(take_run(given.run, given.made));
      if (!given.data.empty()) {
        SOTTO_TRY(const auto dataset, data::Dataset::open(given.data));
        given.made.population = static_cast<std::int64_t>(dataset.user_count());
      }
      if (!given.file.empty()) SOTTO_CHECK(given.table.load_toml(given.file));
      SOTTO_CHECK(given.flags->apply());
      SOTTO_CHECK(fill_in(given.made));
      rounds::IdentityKey coordinator{};
      if (given.coordinator.empty()) {
        coordinator = nobody;  // a coordinator that tries the draft out puts its own here
      } else {
        SOTTO_TRY(coordinator, read_public_key(given.coordinator));
      }
      std::vector<rounds::IdentityKey> witnesses;
      for (const std::string& file : given.witnesses) {
        SOTTO_TRY(const rounds::IdentityKey witness, read_public_key(file));
        witnesses.push_back(witness);
      }
      SOTTO_TRY(const auto made, campaign_from(given.made, coordinator, witnesses));
      SOTTO_TRY(const auto terms, rounds::terms_of(made));
      SOTTO_CHECK(write_draft(made, given.data, given.out));
      say_terms(made, terms, {}, invocation.output);
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
      invocation.output.text(fmt::format("{} tokens in {}, valid until {}: hand each to one device",
                                         given->count, given->out, privacy::to_text(expires)));
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
  add_new(*campaign, invocation);
  add_sign(*campaign, invocation);
  add_tokens(*campaign, invocation);
  add_show(*campaign, invocation);
  add_verify(*campaign, invocation);
}

}  // namespace sotto::cli

#endif
