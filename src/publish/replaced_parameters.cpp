#include "publish/replaced_parameters.h"

#include "fl/run_log.h"

namespace sotto::publish {

Status replace_parameters(const fs::path& run, const std::string& layout, std::vector<float> numbers,
                          const privacy::PrivacyDatasheet& sheet) {
  SOTTO_TRY(auto checkpoint, fl::load_checkpoint(run / "best.sotto", layout));
  const auto wanted = static_cast<std::size_t>(checkpoint.parameters.numel());
  if (numbers.size() < wanted)
    return bad_input("{} has {} parameters, and {} numbers are to take their place", run.string(), wanted,
                     numbers.size());
  numbers.resize(wanted);
  checkpoint.parameters = torch::tensor(numbers);
  checkpoint.optimiser.clear();
  checkpoint.unwritten.clear();
  for (const char* file : {"privacy.toml", "privacy.txt", "privacy.json"}) {
    std::error_code problem;
    fs::remove(run / file, problem);
    if (problem) return failed("cannot remove {}: {}", (run / file).string(), problem.message());
  }
  SOTTO_CHECK(fl::save_checkpoint(run / "best.sotto", checkpoint));
  return write_file_atomically(run / "privacy.json", privacy::to_json(sheet) + "\n");
}

}  // namespace sotto::publish
