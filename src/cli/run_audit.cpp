#include "cli/run_audit.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "privacy/audit/query_subjects.h"
#include "privacy/mechanisms/choice_release.h"
#include "secagg/vectors/audited_sums.h"

namespace sotto::cli {

Result<privacy::PrivacyDatasheet> datasheet_of(const fs::path& run) {
  const fs::path file = run / "privacy.json";
  if (!fs::exists(file)) {
    if (!fs::exists(run / "run.json")) return bad_input("{} holds no run: run.json is missing", run.string());
    return bad_input(
        "{} has no privacy.json: its recipe gives no differential privacy, or the training is not over. "
        "'sotto "
        "privacy account {}' says which",
        run.string(), run.string());
  }
  SOTTO_TRY(const std::string text, read_file(file, 1 << 20));
  auto sheet = privacy::datasheet_from_json(text);
  if (!sheet) return bad_input("{}: {}", file.string(), sheet.error().message);
  return sheet;
}

namespace {

// RUN/settings.toml has one setting on a line.
Result<std::map<std::string, std::string>> settings_of(const fs::path& run) {
  SOTTO_TRY(const std::string text, read_file(run / "settings.toml", 1 << 20));
  std::map<std::string, std::string> settings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto equals = line.find(" = ");
    if (equals == std::string::npos) continue;
    std::string value = line.substr(equals + 3);
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    settings[line.substr(0, equals)] = std::move(value);
  }
  return settings;
}

// PrivateRec's questions: noisy weights of basis vectors. Nothing where the run asks otherwise.
Result<std::optional<privacy::PrivateAttention::Settings>> attention_of(const fs::path& run) {
  if (run.empty() || !fs::exists(run / "settings.toml")) return std::nullopt;
  SOTTO_TRY(const auto own, settings_of(run));
  for (const char* name : {"mode", "noise", "basis_vectors", "weight_clip", "serving_epsilon", "noise_delta"})
    if (!own.contains(name)) return std::nullopt;
  const auto number = [&](const char* name) { return std::strtod(own.at(name).c_str(), nullptr); };
  const bool gaussian = own.at("noise") == "gaussian";
  return privacy::PrivateAttention::Settings{
      .mode = own.at("mode") == "paper" ? privacy::GuaranteeMode::paper : privacy::GuaranteeMode::sound,
      .noise = gaussian ? privacy::NoiseKind::gaussian : privacy::NoiseKind::laplace,
      .basis_vectors = static_cast<std::uint64_t>(number("basis_vectors")),
      .clip = number("weight_clip"),
      .epsilon = number("serving_epsilon"),
      .delta = gaussian ? number("noise_delta") : 0,
      .padding = own.contains("padding") ? number("padding") : 0};
}

// How many numbers the vector has that a question sends, as the training wrote it down in words: "one query:
// a user vector of 400 numbers cut to ..." (recipes/dp_fedrec.cpp).
std::optional<std::uint64_t> size_of_user_vector(const privacy::PrivacyDatasheet& sheet) {
  constexpr std::string_view words = "one query: a user vector of ";
  const auto place = sheet.mechanism.find(words);
  if (place == std::string::npos) return std::nullopt;
  const std::uint64_t size = std::strtoull(sheet.mechanism.c_str() + place + words.size(), nullptr, 10);
  return size > 0 ? std::optional(size) : std::nullopt;
}

// DP-FedRec's questions: the user vector with Laplace noise. Nothing where the run asks otherwise.
Result<std::optional<privacy::UserEmbeddingRelease::Settings>> embedding_of(
    const privacy::PrivacyDatasheet& sheet, const fs::path& run) {
  const auto size = size_of_user_vector(sheet);
  if (!size || run.empty() || !fs::exists(run / "settings.toml")) return std::nullopt;
  SOTTO_TRY(const auto own, settings_of(run));
  for (const char* name : {"mode", "vector_clip", "serving_epsilon"})
    if (!own.contains(name)) return std::nullopt;
  const auto number = [&](const char* name) { return std::strtod(own.at(name).c_str(), nullptr); };
  return privacy::UserEmbeddingRelease::Settings{
      .mode = own.at("mode") == "paper" ? privacy::GuaranteeMode::paper : privacy::GuaranteeMode::sound,
      .noise = privacy::NoiseKind::laplace,
      .dimension = *size,
      .clip = number("vector_clip"),
      .epsilon = number("serving_epsilon")};
}

}  // namespace

Result<bool> asks_without_noise(const privacy::PrivacyDatasheet& sheet, const fs::path& run) {
  if (sheet.epsilon_query || run.empty() || !fs::exists(run / "settings.toml")) return false;
  SOTTO_TRY(const auto own, settings_of(run));
  return own.contains("serving_epsilon");
}

Result<std::vector<privacy::AuditEntry>> audits_of(const privacy::PrivacyDatasheet& sheet,
                                                   const fs::path& run) {
  std::vector<privacy::AuditEntry> entries;
  const auto add = [&](std::string name, std::string summary,
                       std::function<Result<privacy::AuditedMechanism>()> make) {
    entries.push_back({.kind = privacy::AuditKind::mechanism,
                       .name = std::move(name),
                       .summary = std::move(summary),
                       .refutation_expected = false,
                       .index = static_cast<std::uint32_t>(entries.size()),
                       .make = std::move(make)});
  };
  for (const privacy::SumRecord& sum : sheet.sums)
    add(fmt::format("sum of {}", sum.of),
        fmt::format("one round of this run: {} devices, {} lost, {} lying", sum.devices, sum.dropped,
                    sum.corrupted),
        [sum] { return secagg::audited_sum(sum); });
  if (sheet.query_choices && sheet.epsilon_query)
    add("query", fmt::format("one of {} prototypes by k-ary randomised response", *sheet.query_choices),
        [choices = *sheet.query_choices, epsilon = *sheet.epsilon_query] {
          return privacy::subject::chosen_by_response(epsilon, choices);
        });
  if (sheet.query_choices || !sheet.epsilon_query || *sheet.epsilon_query <= 0) return entries;
  SOTTO_TRY(const auto attention, attention_of(run));
  if (attention && attention->epsilon > 0 && attention->basis_vectors > 1)
    add("query",
        fmt::format("weights of {} basis vectors, whole history, {} noise", attention->basis_vectors,
                    attention->noise == privacy::NoiseKind::gaussian ? "Gaussian" : "Laplace"),
        [settings = *attention] { return privacy::subject::attention_query(settings); });
  SOTTO_TRY(const auto embedding, embedding_of(sheet, run));
  if (embedding && embedding->epsilon > 0)
    add("query", fmt::format("a vector of {} numbers, whole history, Laplace noise", embedding->dimension),
        [settings = *embedding] { return privacy::subject::embedding_query(settings); });
  return entries;
}

std::uint64_t affordable_samples(const privacy::PrivacyDatasheet& sheet) {
  constexpr std::uint64_t most_draws = 8'000'000, least = 1'000;
  std::uint64_t draws = size_of_user_vector(sheet).value_or(1);
  for (const privacy::SumRecord& sum : sheet.sums) draws = std::max(draws, sum.devices);
  return std::clamp<std::uint64_t>(most_draws / draws, least, privacy::AuditSettings{}.samples);
}

}  // namespace sotto::cli
