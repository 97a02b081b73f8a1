// fold: what a coordinator starts beside itself (cli/fold_process.h). Not for people, so that it has no place
// in the list of commands.
#ifdef SOTTO_HAVE_NET

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "cli/fold_process.h"
#include "data/public_part.h"
#include "model/tensor.h"
#include "recipes/run_data.h"
#include "rounds/campaign.h"
#include "trainer/commands.h"

namespace sotto::trainer {

namespace {

using cli::Frame;
using cli::FrameKind;

struct FoldArguments {
  std::string campaign, data, out;
  std::vector<std::string> assignments;
  std::uint64_t seed = 1;
  bool resume = false;
};

std::vector<float> numbers_of(const torch::Tensor& values) {
  const torch::Tensor plain = values.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  return {plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel()};
}

// Devices look items up by their ids, so the table has them in order.
rounds::ItemTable table_of(const fl::RemoteModel& model) {
  std::vector<std::size_t> order(model.ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return model.ids[a] < model.ids[b]; });
  const std::vector<float> numbers = numbers_of(model.items);
  rounds::ItemTable table;
  table.dimension = static_cast<std::uint32_t>(model.items.size(1));
  for (const std::size_t row : order) {
    table.ids.push_back(model.ids[row]);
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(row * table.dimension);
    table.vectors.insert(table.vectors.end(), first, first + table.dimension);
  }
  return table;
}

Result<std::string> checkpoint_in(const fs::path& folder) {
  if (!fs::exists(folder / "last.sotto")) return std::string();
  return read_file(folder / "last.sotto", cli::most_frame_bytes);
}

// The other side of the socket, as the recipe sees it.
fl::RemoteRounds rounds_over_socket(const secagg::EncodingPlan& plan, const fs::path& folder,
                                    std::uint64_t rounds) {
  const auto send_version = [folder](std::uint64_t done, double bound, const torch::Tensor& values,
                                     bool is_last) -> Status {
    coordinator::FoldedRound folded{done, bound, numbers_of(values), {}, is_last};
    if (done > 0) {
      SOTTO_TRY(folded.checkpoint, checkpoint_in(folder));
    }
    return cli::send_frame(STDOUT_FILENO, {FrameKind::folded, cli::folded_round_body(folded)});
  };
  return {.plan = plan,
          .begin = [](const fl::RemoteModel& model) -> Status {
            SOTTO_TRY(std::string body, cli::folded_model_body({model.layout, table_of(model)}));
            return cli::send_frame(STDOUT_FILENO, {FrameKind::ready, std::move(body)});
          },
          .sums = [send_version](const fl::RoundOrder& order,
                                 const torch::Tensor& values) -> Result<std::vector<fl::GroupSum>> {
            SOTTO_CHECK(send_version(order.round, order.bound, values, false));
            SOTTO_TRY(const Frame answer, cli::receive_frame(STDIN_FILENO));
            if (answer.kind != FrameKind::sums) return failed("a coordinator answers with sums alone");
            SOTTO_TRY(auto sums, cli::parse_sums(answer.body));
            std::vector<fl::GroupSum> groups;
            for (coordinator::GroupSum& sum : sums) groups.push_back({std::move(sum.entries), sum.arrived});
            return groups;
          },
          .finish = [send_version,
                     rounds](const torch::Tensor& values) { return send_version(rounds, 1, values, true); }};
}

Status fold_rounds(const FoldArguments& arguments) {
  SOTTO_TRY(const std::string document, read_file(arguments.campaign, 1 << 17));
  SOTTO_TRY(const auto campaign, rounds::open_campaign(document));
  SOTTO_TRY(const auto plan, campaign.campaign.plan());
  SOTTO_TRY(const auto* entry, recipes::find_recipe(campaign.campaign.recipe));
  const auto recipe = entry->make();
  SettingsTable table;
  SOTTO_CHECK(recipes::bind_settings(*recipe, table, arguments.assignments));
  for (const std::string& assignment : arguments.assignments) SOTTO_CHECK(table.set_assignment(assignment));
  SOTTO_CHECK(table.set("rounds", std::to_string(campaign.campaign.rounds)));
  SOTTO_CHECK(table.set("checkpoint_every", "1"));
  SOTTO_TRY(const auto stored, data::Dataset::open(arguments.data));
  SOTTO_TRY(const auto visible, recipes::data_of_run(*recipe, stored));
  const data::Dataset catalogue = data::catalogue_alone(visible);
  const fl::RemoteRounds remote = rounds_over_socket(plan, arguments.out, campaign.campaign.rounds);
  recipes::RunRequest request{.dataset = catalogue, .run = arguments.out, .seed = arguments.seed};
  request.resume = arguments.resume;
  request.remote = &remote;
  SOTTO_TRY(const auto outcome, recipe->train(request));
  static_cast<void>(outcome);
  return {};
}

Status answer_coordinator(const FoldArguments& arguments) {
  model::prepare_torch();
  if (const Status done = fold_rounds(arguments); !done)
    return cli::send_frame(STDOUT_FILENO, cli::error_frame(done.error()));
  // The coordinator ends this process when it has read the last version.
  static_cast<void>(cli::receive_frame(STDIN_FILENO));
  return {};
}

}  // namespace

void add_fold_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<FoldArguments>();
  CLI::App* command = app.add_subcommand("fold", "Make versions of the sums of a campaign's rounds");
  command->add_option("campaign", arguments->campaign)->required();
  command->add_option("--data", arguments->data)->required();
  command->add_option("--out", arguments->out, "Folder to work in")->required();
  command->add_option("--set", arguments->assignments, "key=value of the recipe")->allow_extra_args(false);
  command->add_option("--seed", arguments->seed);
  command->add_flag("--resume", arguments->resume, "Begin with the checkpoint in the folder");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments] { return answer_coordinator(*arguments); };
  });
}

}  // namespace sotto::trainer

#endif
