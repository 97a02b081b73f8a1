// publish: what a server starts beside itself (cli/encoder_process.h). Not for people, so that it has no
// place in the list of commands.
#ifdef SOTTO_HAVE_NET

#include <unistd.h>

#include "cli/encoder_process.h"
#include "device/wire/pack_codec.h"
#include "model/tensor.h"
#include "publish/packs/served_run.h"
#include "recipes/run_data.h"
#include "trainer/commands.h"

namespace sotto::trainer {

namespace {

using cli::Frame;
using cli::FrameKind;

struct PublishArguments {
  std::string run, data, pack;
  std::vector<std::string> assignments;
  serving::ServedRunSettings settings;
  SettingsTable table;
};

struct ReadyRun {
  std::string version;  // of the pack; empty: none was asked for
  std::shared_ptr<const serving::ItemEncoder> encoder;
};

Result<ReadyRun> open_run(PublishArguments& arguments) {
  for (const auto& assignment : arguments.assignments)
    SOTTO_CHECK(arguments.table.set_assignment(assignment));
  auto stored = data::Dataset::open(arguments.data);
  if (!stored)
    return tl::unexpected(
        std::move(stored).error().in("the data of the run (name another place with --data DIR)"));
  SOTTO_CHECK(recipes::check_data_of_run(arguments.run, *stored, arguments.data));
  SOTTO_TRY(const auto dataset, recipes::data_of_run(arguments.run, *stored));
  ReadyRun ready;
  if (arguments.pack.empty()) {
    SOTTO_TRY(ready.encoder, publish::open_item_encoder(arguments.run, dataset));
    return ready;
  }
  SOTTO_TRY(auto served, publish::open_served_run(arguments.run, dataset, arguments.settings));
  SOTTO_TRY(const std::string bytes, device::encode_pack(served.pack));
  SOTTO_CHECK(write_file_atomically(arguments.pack, bytes));
  return ReadyRun{std::move(served.pack.model), std::move(served.encoder)};
}

Result<Frame> answer(const serving::ItemEncoder& encoder, const Frame& question) {
  if (question.kind != FrameKind::articles) return failed("a server asks for articles alone");
  SOTTO_TRY(const auto articles, cli::parse_articles(question.body));
  SOTTO_TRY(const auto vectors, encoder.encode(articles));
  return Frame{FrameKind::vectors, cli::vectors_body(vectors)};
}

Status serve_encoder(PublishArguments& arguments) {
  model::prepare_torch();
  auto ready = open_run(arguments);
  if (!ready) return cli::send_frame(STDOUT_FILENO, cli::error_frame(ready.error()));
  SOTTO_CHECK(cli::send_frame(STDOUT_FILENO, {FrameKind::ready, std::move(ready->version)}));
  while (const auto question = cli::receive_frame(STDIN_FILENO)) {
    const auto said = answer(*ready->encoder, *question);
    SOTTO_CHECK(cli::send_frame(STDOUT_FILENO, said ? *said : cli::error_frame(said.error())));
  }
  return {};  // the server is gone
}

}  // namespace

void add_publish_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<PublishArguments>();
  arguments->settings.bind(arguments->table);
  CLI::App* command = app.add_subcommand("publish", "Make the pack of a run, then encode articles");
  command->add_option("run", arguments->run)->required();
  command->add_option("--data", arguments->data)->required();
  command->add_option("--pack", arguments->pack, "File to write; none: only encode");
  command->add_option("--set", arguments->assignments, "key=value of the pack")->allow_extra_args(false);
  command->callback(
      [arguments, &invocation] { invocation.action = [arguments] { return serve_encoder(*arguments); }; });
}

}  // namespace sotto::trainer

#endif
