// sotto export: a trained run as files that other programs read.
#include "model/tensor.h"
#include "publish/exported_run.h"
#include "trainer/commands.h"

namespace sotto::trainer {

void add_export_command(CLI::App& app, Invocation& invocation) {
  struct Arguments {
    std::string run, format, out, data;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(app, "export");
  command->add_option("run", arguments->run, "Run folder")->required();
  command
      ->add_option("--to", arguments->format,
                   "safetensors: parameters and item vectors; npz: the same for NumPy; onnx: the user "
                   "encoder, with item "
                   "vectors as .npy")
      ->required()
      ->check(CLI::IsMember(
          std::vector<std::string>(publish::export_formats.begin(), publish::export_formats.end())));
  command->add_option("--out", arguments->out, "Folder to create; RUN/export-FORMAT otherwise");
  command->add_option("--data", arguments->data, "What the run was trained on, where that has moved");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      SOTTO_TRY(const auto stored, recipes::load_run(arguments->run));
      const fs::path folder = arguments->data.empty() ? stored.data : fs::path(arguments->data);
      auto dataset = data::Dataset::open(folder);
      if (!dataset)
        return tl::unexpected(
            std::move(dataset).error().in("the data of the run (name another place with --data DIR)"));
      model::prepare_torch();
      const torch::NoGradGuard no_grad;
      const fs::path out = arguments->out.empty() ? fs::path(arguments->run) / ("export-" + arguments->format)
                                                  : fs::path(arguments->out);
      SOTTO_TRY(const auto exported, publish::export_run(arguments->run, *dataset, arguments->format, out));
      invocation.output.event({{"event", "done"},
                               {"out", out.string()},
                               {"files", exported.files},
                               {"parameters", exported.parameters},
                               {"items", exported.items}});
      invocation.output.text(fmt::format("{} parameters and {} item vectors -> {}: {}", exported.parameters,
                                         exported.items, out.string(), fmt::join(exported.files, ", ")));
      return {};
    };
  });
}

}  // namespace sotto::trainer
