#include "publish/model_card.h"

#include <nlohmann/json.hpp>

namespace sotto::publish {

namespace {

constexpr std::uint64_t most_bytes = 1 << 20;

Result<nlohmann::json> read_object(const fs::path& file) {
  SOTTO_TRY(const auto text, read_file(file, most_bytes));
  auto parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_object()) return bad_input("{} is no JSON object", file.string());
  return parsed;
}

// Every metric between 0 and 1 with its standard error, as the run measured them on its own test part.
std::string metrics_table(const nlohmann::json& result) {
  std::string rows;
  for (const auto& [name, value] : result.items()) {
    const bool metric = name.starts_with("auc") || name.starts_with("mrr") || name.starts_with("ndcg") ||
                        name.starts_with("hits") || name.starts_with("recall");
    if (!metric || name.ends_with("_error") || !value.is_number()) continue;
    const auto error = result.find(name + "_error");
    rows += error != result.end() && error->is_number()
                ? fmt::format("| {} | {:.4f} ± {:.4f} |\n", name, value.get<double>(), error->get<double>())
                : fmt::format("| {} | {:.4f} |\n", name, value.get<double>());
  }
  return rows.empty() ? "Nothing was measured: the run was not finished.\n"
                      : "| metric, a share from 0 to 1 | mean ± standard error |\n|---|---|\n" + rows;
}

Result<std::string> privacy_section(const fs::path& run, const recipes::StoredRun& stored) {
  std::string text = fmt::format("{}\n", stored.entry->guarantee);
  if (stored.reproducible)
    text +=
        "\nThe noise of this run follows from its seed: it is a simulation, and no epsilon holds for it.\n";
  if (!fs::exists(run / "privacy.txt"))
    return text +
           "\nThis run has no datasheet: no differential privacy holds for the people it was trained on.\n";
  SOTTO_TRY(const auto sheet, read_file(run / "privacy.txt", most_bytes));
  return text + fmt::format("\n```text\n{}```\n", sheet);
}

std::string files_section(const std::vector<std::string>& files) {
  std::string listed;
  for (const std::string& file : files) listed += fmt::format("- `{}`\n", file);
  return fmt::format(
      "## Files\n\n{}\nVectors of readers are not among them: a reader's vector is made on the reader's "
      "device, from "
      "clicks that stay there.\n",
      listed);
}

}  // namespace

Result<std::string> model_card(const fs::path& run, const recipes::StoredRun& stored,
                               const std::vector<std::string>& files) {
  SOTTO_TRY(const std::string privacy, privacy_section(run, stored));
  nlohmann::json result;
  if (fs::exists(run / "result.json")) {
    SOTTO_TRY(result, read_object(run / "result.json"));
  }
  return fmt::format(
      "# {}\n\n{}\n\n## Training\n\nData: {} (fingerprint {}). Seed {}.\n\n```toml\n{}```\n\n## "
      "Measured\n\nOn the test part of the same data.\n\n{}\n## Privacy\n\n{}\n{}",
      stored.entry->name, stored.entry->summary, stored.dataset, stored.fingerprint, stored.seed,
      stored.table.to_toml(), metrics_table(result), privacy, files_section(files));
}

Result<std::string> own_model_card(const fs::path& run, const std::vector<std::string>& files) {
  SOTTO_TRY(const auto settings, read_file(run / "settings.toml", most_bytes));
  SOTTO_TRY(const auto sheet, read_file(run / "privacy.txt", most_bytes));
  return fmt::format(
      "# A model of one's own\n\nThe modules are their author's; clipping, encoding, noise, sums, steps and "
      "accounting "
      "are Sotto's.\n\n## Training\n\n```toml\n{}```\n\n## Privacy\n\n```text\n{}```\n\n{}",
      settings, sheet, files_section(files));
}

}  // namespace sotto::publish
