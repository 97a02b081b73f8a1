// sotto campaign new: from a recipe and a data set, or a trained run, to a draft that people read and sign.

#ifdef SOTTO_HAVE_PROTOCOL

#include <charconv>
#include <cmath>
#include <memory>

#include "base/chain_hash.h"
#include "cli/campaign_draft.h"
#include "cli/campaign_words.h"
#include "cli/checkpoint_layout.h"
#include "cli/fold_process.h"
#include "cli/hand_over.h"
#include "cli/key_files.h"
#include "data/dataset.h"
#include "local/local_trainer.h"
#include "privacy/accounting/datasheet.h"
#include "rounds/evaluation.h"
#include "secagg/vectors/two_sums.h"

namespace sotto::cli {

namespace {

// What a new campaign is made of; a run and a data set say some of it.
struct NewCampaign {
  std::string purpose, recipe, layout, local, server = "semi-honest", valid_from;
  std::int64_t dimension = 0, population = 0, cohort = 0, group = 0, rounds = 30, participations = 0,
               bits = 18;
  double epsilon = 0, delta = 1e-6, clip = 1, dropping = 0.1, corrupted = 0.1, security_bits = 40;
  bool follow_bound = false;
  std::int64_t max_upload_bytes = 1 << 20, max_training_seconds = 60, shortest_phase_seconds = 10,
               longest_phase_seconds = 120, valid_days = 30, witnesses_needed = 0;
  std::int64_t evaluation_every = 0, evaluation_held_out = 5, evaluation_pages = 10,
               evaluation_participations = 0;
  double evaluation_epsilon = 1;
  // Of the data set and the recipe, not to be set.
  std::uint64_t items = 0, second_dimension = 0;
  double first_noise = 0;

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
        .add("witnesses_needed", witnesses_needed, {0, 16}, "Cosignatures under the head of every order")
        .add("evaluation_every", evaluation_every, {0, many},
             "Devices measure the first version, and the one after every so many rounds; 0: none")
        .add("evaluation_epsilon", evaluation_epsilon, {1e-6, 1e6},
             "What all evaluations of one device may cost beside training, at the same delta")
        .add("evaluation_participations", evaluation_participations, {0, many},
             "Evaluations that one device takes part in at most; 0: in all")
        .add("evaluation_held_out", evaluation_held_out, {2, 1000},
             "One page in so many is kept out of training for that")
        .add("evaluation_pages", evaluation_pages, {1, 1000}, "Pages of a device that count at most");
  }
};

Status take_layout(const fs::path& checkpoint, NewCampaign& made) {
  SOTTO_TRY(const std::string layout, layout_of_checkpoint(checkpoint));
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

// What a trained run says about recipe, cohorts and budget, and of what its devices train as much as is known
// without its data. Returns where the data lay.
Result<fs::path> take_run(const fs::path& run, NewCampaign& made) {
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
  if (sheet.sums.empty())
    return bad_input("{} released no sums under noise: a campaign is made from a private run", run.string());
  const privacy::SumRecord& sum = sheet.sums.front();
  const auto told = parsed.find("data");
  const fs::path data = told != parsed.end() && told->is_string() ? told->get<std::string>() : "";
  // ‖x‖₁ <= min(√d·‖x‖₂, ‖x‖₂²) with the d that was trained: another one is not of the whole model.
  const double entries = static_cast<double>(made.dimension) + (sum.clip_bit_weight ? 1 : 0);
  const double l1 =
      std::min(std::sqrt(entries) * plan.l2_sensitivity, plan.l2_sensitivity * plan.l2_sensitivity);
  if (!fs::exists(data) && (sheet.sums.size() > 1 || std::abs(l1 - plan.l1_sensitivity) > 1e-6 * l1))
    return bad_input(
        "devices of {} do not train the whole model, and its data is not in '{}' any more: name it with "
        "--data DIR",
        run.string(), data.string());
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
  return data;
}

// What the trainer says of a recipe over a data set, or of a run.
Status take_task(const fs::path& data, const std::string& run, const std::vector<std::string>& assignments,
                 NewCampaign& made) {
#ifdef SOTTO_HAVE_NET
  prepare_trainer_environment();
  const auto devices = made.cohort > 0 ? made.cohort : made.population;
  SOTTO_TRY(const TaskOnDevices task,
            ask_for_task({made.recipe, data, run, static_cast<std::uint64_t>(devices), assignments}));
  made.local.clear();
  for (const rounds::LocalSetting& setting : task.local)
    made.local += fmt::format("{}{}={}", made.local.empty() ? "" : " ", setting.name, setting.value);
  made.layout.clear();
  made.dimension = 0;
  made.items = task.items;
  made.first_noise = task.first_noise;
  if (made.first_noise > 0) made.rounds = made.participations = 2;
  if (!run.empty()) return {};
  made.clip = task.clip;
  made.bits = task.bits;
  made.follow_bound = task.bound_follows;
  return {};
#else
  static_cast<void>(assignments);
  return bad_input("this build has no trainer to ask what devices train of {}: give --local", data.string());
#endif
}

// What follows from the recipe and the population where nothing else was said.
Status fill_in(NewCampaign& made) {
  if (made.layout.empty() && made.dimension == 0) {
    SOTTO_TRY(const auto local, parse_local(made.local));
    std::vector<std::pair<std::string, std::string>> settings;
    for (const rounds::LocalSetting& setting : local) settings.emplace_back(setting.name, setting.value);
    SOTTO_TRY(const auto trainer, local::find_trainer(made.recipe, settings));
    made.layout = to_hex(rounds::layout_hash(trainer->layout().text()));
    made.dimension = static_cast<std::int64_t>(trainer->dimension(made.items, 1));
    if (made.first_noise > 0) made.second_dimension = trainer->dimension(made.items, 2);
  }
  constexpr std::int64_t most_in_a_group = 200, most_in_a_round = 10'000;
  const bool chosen_here = made.cohort == 0, everybody = made.second_dimension > 0;
  if (chosen_here)
    made.cohort = everybody ? made.population : std::min((made.population + 1) / 2, most_in_a_round);
  if (made.group == 0 && (chosen_here || made.cohort > most_in_a_group))
    made.group = std::min(made.cohort, most_in_a_group);
  if (chosen_here && made.group > 0) made.cohort -= made.cohort % made.group;
  if (made.purpose.empty()) made.purpose = "Better recommendations for everybody who takes part";
  return {};
}

// How updates are encoded, with the noise that the budget takes.
Status calibrate(const NewCampaign& made, rounds::Campaign& campaign) {
  const auto count = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  const secagg::TrainingBudget budget{.epsilon = made.epsilon,
                                      .delta = made.delta,
                                      .against = privacy::Adversary::server,
                                      .participations = count(made.participations),
                                      .bits = static_cast<unsigned>(made.bits),
                                      .dropping = made.dropping,
                                      .corrupted = made.corrupted,
                                      .clip = made.clip,
                                      .bound_follows = made.follow_bound};
  if (made.second_dimension > 0) {
    SOTTO_TRY(const auto sums,
              secagg::calibrated_two_sums(budget,
                                          {count(made.dimension), made.second_dimension, count(made.cohort),
                                           count(made.group), made.first_noise},
                                          count(made.population)));
    const secagg::EncodingPlan::Settings& second = sums.second.settings();
    campaign.encoding = sums.first.settings();
    campaign.bits = sums.first.modulus().bits();
    campaign.second = rounds::SecondSum{second.dimension, second.products, second.step,
                                        second.noise_multiplier, sums.second.modulus().bits()};
    campaign.participations = std::min(campaign.rounds, count(made.participations));
    return {};
  }
  SOTTO_TRY(const auto calibrated, secagg::calibrated_plan(budget, {.dimension = count(made.dimension),
                                                                    .population = count(made.population),
                                                                    .cohort = count(made.cohort),
                                                                    .rounds = count(made.rounds),
                                                                    .group = count(made.group)}));
  campaign.encoding = calibrated.plan.settings();
  campaign.bits = calibrated.plan.modulus().bits();
  campaign.participations = std::min(campaign.rounds, count(calibrated.accounted.participations));
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
  rounds::Campaign campaign;
  campaign.purpose = made.purpose;
  campaign.recipe = made.recipe;
  SOTTO_TRY(campaign.layout, rounds::digest_from_hex(made.layout, "layout"));
  SOTTO_TRY(campaign.local, parse_local(made.local));
  campaign.population = static_cast<std::uint64_t>(made.population);
  campaign.cohort = static_cast<std::uint64_t>(made.cohort);
  campaign.rounds = static_cast<std::uint64_t>(made.rounds);
  campaign.epsilon = made.epsilon;
  campaign.delta = made.delta;
  SOTTO_CHECK(calibrate(made, campaign));
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

// With the evaluations that were asked for.
Result<rounds::Campaign> measured(const NewCampaign& made, rounds::Campaign campaign) {
  if (made.evaluation_every == 0) return campaign;
  std::vector<std::pair<std::string, std::string>> local;
  for (const rounds::LocalSetting& setting : campaign.local) local.emplace_back(setting.name, setting.value);
  SOTTO_TRY(const auto trainer, local::find_trainer(campaign.recipe, local));
  if (trainer->reads().reads_rows)
    return bad_input(
        "'{}' learns from rows and ranks no pages, so that devices cannot measure its versions: "
        "leave out --evaluation-every",
        campaign.recipe);
  const auto count = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  return rounds::with_evaluation(std::move(campaign),
                                 {.every = count(made.evaluation_every),
                                  .held_out = count(made.evaluation_held_out),
                                  .pages = count(made.evaluation_pages),
                                  .participations = count(made.evaluation_participations),
                                  .epsilon = made.evaluation_epsilon});
}

Status write_draft(const rounds::Campaign& campaign, const std::string& data, const fs::path& path) {
  CampaignDraft draft = CampaignDraft::of(campaign);
  if (!data.empty()) draft.data = fs::absolute(data).lexically_normal().string();
  SettingsTable table;
  draft.bind(table);
  return write_file_atomically(path, table.to_toml());
}

}  // namespace

void add_campaign_new(CLI::App& campaign, Invocation& invocation) {
  struct Arguments {
    std::string run, data, file, out, coordinator;
    std::vector<std::string> witnesses, assignments;
    NewCampaign made;
    SettingsTable table;
    std::unique_ptr<SettingsFlags> flags;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = campaign.add_subcommand(
      "new", "Draft a campaign: noise for the budget, encoding, group, as a file to read");
  command->add_option("--run", arguments->run,
                      "Trained run whose recipe, numbers, cohorts and budget it takes");
  command->add_option("--data", arguments->data,
                      "Data set with as many users as there are devices; of its public items they train");
  command->add_option("--set", arguments->assignments, "key=value of the recipe, as 'train' has it")
      ->allow_extra_args(false);
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
      fs::path public_items = given.data;
      if (!given.run.empty()) {
        SOTTO_TRY(const fs::path trained_on, take_run(given.run, given.made));
        if (given.data.empty()) public_items = trained_on;
      }
      if (!given.data.empty()) {
        SOTTO_TRY(const auto dataset, data::Dataset::open(given.data));
        given.made.population = static_cast<std::int64_t>(dataset.user_count());
      }
      const auto apply = [&]() -> Status {
        if (!given.file.empty()) SOTTO_CHECK(given.table.load_toml(given.file));
        return given.flags->apply();
      };
      SOTTO_CHECK(apply());
      if (!public_items.empty() && fs::exists(public_items)) {
        SOTTO_CHECK(take_task(public_items, given.run, given.assignments, given.made));
        SOTTO_CHECK(apply());  // what was said wins over what the recipe would take
      } else if (!given.assignments.empty()) {
        return bad_input("--set is about a recipe over a data set: name that with --data DIR");
      }
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
      SOTTO_TRY(auto trained, campaign_from(given.made, coordinator, witnesses));
      SOTTO_TRY(const auto made, measured(given.made, std::move(trained)));
      SOTTO_TRY(const auto terms, rounds::terms_of(made));
      SOTTO_CHECK(write_draft(made, given.data, given.out));
      say_terms(made, terms, {}, invocation.output);
      return {};
    };
  });
}

}  // namespace sotto::cli

#endif
