// fold, task and adopt: what a coordinator starts beside itself (cli/fold_process.h), who drafts a campaign,
// and who serves its versions (cli/followed_campaign.h). Not for people, so that they have no place in the
// list of commands.
#ifdef SOTTO_HAVE_NET

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/chain_hash.h"
#include "cli/checkpoint_layout.h"
#include "cli/fold_process.h"
#include "data/public_part.h"
#include "model/tensor.h"
#include "publish/replaced_parameters.h"
#include "recipes/stored_run.h"
#include "rounds/campaign.h"
#include "trainer/commands.h"

namespace sotto::trainer {

namespace {

using cli::Frame;
using cli::FrameKind;

struct FoldArguments {
  std::string campaign, data, out;  // campaign: of `task` the recipe
  std::string run;                  // whose settings `task` is about; empty: the recipe's. Of `adopt` the run
  std::string version, table;       // of `adopt`: files with what devices fetch
  std::vector<std::string> assignments;
  std::string begin_with;  // checkpoint whose numbers `fold` begins with
  std::uint64_t seed = 1, devices = 0;
  bool resume = false;
};

std::vector<float> numbers_of(const torch::Tensor& values) {
  const torch::Tensor plain = values.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  return {plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel()};
}

rounds::NumberRows rows_of(const torch::Tensor& rows) {
  if (!rows.defined()) return {};
  return {static_cast<std::uint32_t>(rows.size(1)), numbers_of(rows), {}, {}};
}

// Whole numbers, or their steps and scales.
rounds::NumberRows rows_of(const fl::Received& sent) {
  if (!sent.steps.defined())
    return sent.values.dim() == 1 ? rounds::one_row(numbers_of(sent.values)) : rows_of(sent.values);
  const torch::Tensor steps = sent.steps.to(torch::kCPU).contiguous(),
                      scales = sent.scales.to(torch::kCPU).contiguous();
  const auto* first = static_cast<const std::uint16_t*>(scales.data_ptr());
  return {static_cast<std::uint32_t>(steps.size(1)),
          {},
          {first, first + scales.numel()},
          {steps.data_ptr<std::int8_t>(), steps.data_ptr<std::int8_t>() + steps.numel()}};
}

rounds::ItemTable table_of(const fl::DeviceTask& task) {
  static_assert(rounds::other_value == data::undeclared_value);
  rounds::ItemTable table;
  table.ids = task.ids;
  table.vectors = rows_of(task.vectors);
  table.words = rows_of(task.words);
  if (!task.titles.offsets.empty())
    table.titles.push_back({{task.titles.offsets.begin(), task.titles.offsets.end()},
                            {task.titles.tokens.begin(), task.titles.tokens.end()}});
  for (const auto& field : task.item_fields) table.fields.push_back({field.offsets, field.codes});
  for (const auto& [named, fields] : {std::pair(&task.reader_fields, &table.reader_fields),
                                      std::pair(&task.situation_fields, &table.situation_fields)})
    for (const fl::NamedValues& field : *named) fields->push_back({field.name, field.values});
  return table;
}

Result<std::string> checkpoint_in(const fs::path& folder) {
  if (!fs::exists(folder / "last.sotto")) return std::string();
  return read_file(folder / "last.sotto", cli::most_frame_bytes);
}

// The other side of the socket, as the recipe sees it.
fl::RemoteRounds rounds_over_socket(std::vector<secagg::EncodingPlan> plans, const FoldArguments& arguments,
                                    std::uint64_t rounds) {
  const auto send_version = [folder = fs::path(arguments.out), begins_anew = arguments.begin_with.empty()](
                                std::uint64_t done, double bound, const fl::Fetched& version,
                                bool is_last) -> Status {
    coordinator::FoldedRound folded{done,
                                    bound,
                                    rows_of(version.numbers),
                                    version.items ? rows_of(*version.items) : rounds::NumberRows(),
                                    {},
                                    is_last};
    if (done > 0 || !begins_anew) {
      SOTTO_TRY(folded.checkpoint, checkpoint_in(folder));
    }
    return cli::send_frame(STDOUT_FILENO, {FrameKind::folded, cli::folded_round_body(folded)});
  };
  return {.plans = std::move(plans),
          .begin = [](const fl::DeviceTask& task) -> Status {
            SOTTO_TRY(std::string body, cli::folded_model_body({task.layout, table_of(task)}));
            return cli::send_frame(STDOUT_FILENO, {FrameKind::ready, std::move(body)});
          },
          .sums = [send_version](const fl::RoundOrder& order,
                                 const fl::Fetched& version) -> Result<std::vector<fl::GroupSum>> {
            SOTTO_CHECK(send_version(order.round, order.bound, version, false));
            SOTTO_TRY(const Frame answer, cli::receive_frame(STDIN_FILENO));
            if (answer.kind != FrameKind::sums) return failed("a coordinator answers with sums alone");
            SOTTO_TRY(auto sums, cli::parse_sums(answer.body));
            std::vector<fl::GroupSum> groups;
            for (coordinator::GroupSum& sum : sums) groups.push_back({std::move(sum.entries), sum.arrived});
            return groups;
          },
          .finish = [send_version,
                     rounds](const fl::Fetched& version) { return send_version(rounds, 1, version, true); }};
}

// The parameters of another training are what this one goes on from before its first round.
Status begin_with(const fs::path& other, const fs::path& folder) {
  SOTTO_TRY(const std::string layout, cli::layout_of_checkpoint(other));
  SOTTO_TRY(const auto found, fl::load_checkpoint(other, layout));
  if (!at::isfinite(found.parameters).all().item<bool>())
    return bad_input("{} has parameters that are no numbers: begin with another model", other.string());
  fl::Checkpoint first;
  first.threads = at::get_num_threads();
  first.layout = layout;
  first.parameters = found.parameters;
  return fl::save_checkpoint(folder / "last.sotto", first);
}

// A recipe as devices train it, over the public items of a data set.
struct PreparedRecipe {
  std::unique_ptr<recipes::Recipe> recipe;
  SettingsTable table;
  data::Dataset catalogue;
};

// local: what a campaign tells devices, of which the recipe takes what it knows by the same name.
Result<PreparedRecipe> prepare(const std::string& name, const FoldArguments& arguments,
                               const std::vector<rounds::LocalSetting>& local) {
  SOTTO_TRY(const auto* entry, recipes::find_recipe(name));
  if (!entry->on_devices) return recipes::not_on_devices();
  if (!arguments.run.empty() && !arguments.assignments.empty())
    return bad_input("a run keeps its settings: leave out --set, or --run");
  SOTTO_TRY(const auto stored, data::Dataset::open(arguments.data));
  // Whatever the recipe promises: what only users' rows name is for no device to fetch.
  SOTTO_TRY(const auto visible, data::public_part(stored));
  if (!arguments.run.empty()) {
    SOTTO_TRY(auto trained, recipes::load_run(arguments.run));
    return PreparedRecipe{std::move(trained.recipe), std::move(trained.table),
                          data::catalogue_alone(visible.dataset)};
  }
  PreparedRecipe prepared{entry->make(), {}, data::catalogue_alone(visible.dataset)};
  SOTTO_CHECK(recipes::bind_settings(*prepared.recipe, prepared.table, arguments.assignments));
  for (const auto& row : prepared.table.rows())
    for (const rounds::LocalSetting& setting : local)
      if (setting.name == row.name) SOTTO_CHECK(prepared.table.set(setting.name, setting.value));
  for (const std::string& assignment : arguments.assignments)
    SOTTO_CHECK(prepared.table.set_assignment(assignment));
  return prepared;
}

Status fold_rounds(const FoldArguments& arguments) {
  SOTTO_TRY(const std::string document, read_file(arguments.campaign, 1 << 17));
  SOTTO_TRY(const auto opened, rounds::open_campaign(document));
  const rounds::Campaign& campaign = opened.campaign;
  std::vector<secagg::EncodingPlan> plans;
  for (std::uint64_t round = 1; round <= (campaign.second ? 2U : 1U); ++round) {
    SOTTO_TRY(const auto plan, campaign.plan(round));
    plans.push_back(plan);
  }
  SOTTO_TRY(auto prepared, prepare(campaign.recipe, arguments, campaign.local));
  SOTTO_CHECK(prepared.table.set("rounds", std::to_string(campaign.rounds)));
  SOTTO_CHECK(prepared.table.set("checkpoint_every", "1"));
  if (!arguments.begin_with.empty()) SOTTO_CHECK(begin_with(arguments.begin_with, arguments.out));
  const fl::RemoteRounds remote = rounds_over_socket(std::move(plans), arguments, campaign.rounds);
  recipes::RunRequest request{.dataset = prepared.catalogue, .run = arguments.out, .seed = arguments.seed};
  request.resume = arguments.resume || !arguments.begin_with.empty();
  request.catalogue_only = true;
  request.remote = &remote;
  SOTTO_TRY(const auto outcome, prepared.recipe->train(request));
  static_cast<void>(outcome);
  return {};
}

Status describe_task(const FoldArguments& arguments) {
  SOTTO_TRY(const auto prepared, prepare(arguments.campaign, arguments, {}));
  recipes::RunRequest request{.dataset = prepared.catalogue, .run = arguments.out, .seed = arguments.seed};
  request.catalogue_only = true;
  request.devices = arguments.devices;
  SOTTO_TRY(const fl::DeviceTask task, prepared.recipe->device_task(request));
  SOTTO_CHECK(task.trainer());
  cli::TaskOnDevices told{{},        task.layout,        task.ids.size(), task.clip,
                          task.bits, task.bound_follows, task.first_noise};
  for (const auto& [name, value] : task.local) told.local.push_back({name, value});
  return cli::send_frame(STDOUT_FILENO, {FrameKind::ready, cli::task_body(told)});
}

Status differs(std::string_view what) {
  return bad_input(
      "the campaign's version and this run differ in {}: a run is served by versions of its own recipe, "
      "settings and public items alone",
      what);
}

bool are_close(const rounds::NumberRows& a, const rounds::NumberRows& b) {
  constexpr float rounding = 1e-3F;  // the same sums on another machine
  const std::vector<float> left = a.values(), right = b.values();
  return a.columns == b.columns &&
         std::equal(left.begin(), left.end(), right.begin(), right.end(), [](float one, float other) {
           return std::abs(one - other) <= rounding * std::max(1.0F, std::abs(one));
         });
}

// Numbers of a model mean something for these items, in this order, alone.
Status check_same(const rounds::ItemTable& ours, const rounds::ItemTable& theirs) {
  if (ours.ids != theirs.ids) return differs("their items");
  if (ours.titles != theirs.titles || ours.fields != theirs.fields ||
      ours.reader_fields != theirs.reader_fields || ours.situation_fields != theirs.situation_fields)
    return differs("what is said of their items");
  if (!are_close(ours.vectors, theirs.vectors) || !are_close(ours.words, theirs.words))
    return differs("the vectors of their items");
  return {};
}

// What a version costs the devices that made it, as the campaign bounds it.
privacy::PrivacyDatasheet sheet_of(const rounds::Campaign& campaign) {
  privacy::PrivacyDatasheet sheet;
  sheet.recipe = campaign.recipe;
  sheet.mode = "sound";
  sheet.mechanism = "secure sums of a campaign, with noise that its devices add";
  sheet.sampling = "devices check in by themselves: nothing is gained by sampling";
  sheet.composition = fmt::format("at most {} participations of a device in {} rounds",
                                  campaign.participations, campaign.rounds);
  sheet.adjacency = campaign.encoding.adjacency;
  sheet.delta = campaign.delta;
  sheet.epsilon_server = sheet.epsilon_published = campaign.total_epsilon();
  sheet.server_sees = {"who takes part in which round, and sums over groups of devices"};
  return sheet;
}

// Puts a version of a campaign in the place of the run's parameters.
Status adopt_version(const FoldArguments& arguments) {
  SOTTO_TRY(const std::string document, read_file(arguments.campaign, 1 << 17));
  SOTTO_TRY(const auto opened, rounds::open_campaign(document));
  const rounds::Campaign& campaign = opened.campaign;
  SOTTO_TRY(const std::string version_bytes, read_file(arguments.version, rounds::BlobLimits::bytes));
  SOTTO_TRY(const auto version, rounds::decode_model(version_bytes));
  SOTTO_TRY(const std::string table_bytes, read_file(arguments.table, rounds::BlobLimits::bytes));
  if (rounds::blob_hash(table_bytes) != version.table) return differs("the table of items that is named");
  SOTTO_TRY(const auto table, rounds::decode_items(table_bytes));
  const fs::path run = arguments.run;
  SOTTO_TRY(const auto stored, recipes::load_run(run));
  if (stored.entry->name != campaign.recipe) return differs("their recipes");
  FoldArguments prepared_by = arguments;
  if (prepared_by.data.empty()) prepared_by.data = stored.data.string();
  SOTTO_TRY(const auto prepared, prepare(campaign.recipe, prepared_by, {}));
  recipes::RunRequest request{.dataset = prepared.catalogue, .run = run, .seed = stored.seed};
  request.catalogue_only = true;
  SOTTO_TRY(const fl::DeviceTask task, prepared.recipe->device_task(request));
  if (task.layout != version.layout) return differs("their sizes");
  SOTTO_CHECK(check_same(table_of(task), table));
  SOTTO_CHECK(publish::replace_parameters(run, version.layout, version.numbers.values(), sheet_of(campaign)));
  return cli::send_frame(STDOUT_FILENO, {FrameKind::ready, to_hex(rounds::blob_hash(version_bytes))});
}

Status answer(const FoldArguments& arguments, Status (*act)(const FoldArguments& arguments)) {
  model::prepare_torch();
  if (const Status done = act(arguments); !done)
    return cli::send_frame(STDOUT_FILENO, cli::error_frame(done.error()));
  // Whoever started this process ends it when it has read the last frame.
  static_cast<void>(cli::receive_frame(STDIN_FILENO));
  return {};
}

}  // namespace

void add_fold_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<FoldArguments>();
  const auto add = [&](const char* name, const char* help, const char* first,
                       Status (*act)(const FoldArguments&)) {
    CLI::App* command = app.add_subcommand(name, help);
    command->add_option(first, arguments->campaign)->required();
    command->add_option("--data", arguments->data);
    command->callback([arguments, act, &invocation] {
      invocation.action = [arguments, act] { return answer(*arguments, act); };
    });
    return command;
  };
  CLI::App* fold = add("fold", "Make versions of the sums of a campaign's rounds", "campaign", &fold_rounds);
  CLI::Option* resume =
      fold->add_flag("--resume", arguments->resume, "Go on from the checkpoint in the folder");
  fold->add_option("--begin-with", arguments->begin_with, "Checkpoint whose numbers training starts from")
      ->excludes(resume);
  CLI::App* task = add("task", "Say what devices train of a recipe", "recipe", &describe_task);
  for (CLI::App* command : {fold, task}) {
    command->get_option("--data")->required();
    command->add_option("--out", arguments->out, "Folder to work in")->required();
    command->add_option("--set", arguments->assignments, "key=value of the recipe")->allow_extra_args(false);
    command->add_option("--seed", arguments->seed);
  }
  CLI::App* adopt =
      add("adopt", "Put a campaign's version in the place of a run's parameters", "campaign", &adopt_version);
  adopt->add_option("--run", arguments->run)->required();
  adopt->add_option("--version", arguments->version, "File of the version")->required();
  adopt->add_option("--table", arguments->table, "File of its items")->required();
  task->add_option("--devices", arguments->devices, "So many");
  task->add_option("--run", arguments->run, "Run whose settings are meant");
}

}  // namespace sotto::trainer

#endif
