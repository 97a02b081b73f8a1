// sotto privacy audit: empirical lower bounds of epsilon beside the claims, and attacks with and without
// defence.
#include <algorithm>
#include <iterator>
#include <memory>

#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/run_audit.h"
#include "privacy/audit/audit_catalogue.h"
#include "secagg/vectors/audited_sums.h"

namespace sotto::cli {

namespace {

struct AuditArguments {
  std::vector<std::string> names;
  bool list = false, samples_given = false;
  // Signed, so that a negative number is refused and not taken for a huge one.
  std::int64_t samples = static_cast<std::int64_t>(privacy::AuditSettings{}.samples);
  std::int64_t seed = static_cast<std::int64_t>(privacy::AuditSettings{}.seed);
  double confidence = privacy::AuditSettings{}.confidence;
};

// A run's folder stands for the audits of its own sums and query.
Result<std::vector<privacy::AuditEntry>> entries_of(AuditArguments& arguments) {
  std::vector<std::string> names;
  std::vector<privacy::AuditEntry> of_runs;
  for (const std::string& name : arguments.names) {
    if (!fs::is_directory(name)) {
      names.push_back(name);
      continue;
    }
    SOTTO_TRY(const auto sheet, datasheet_of(name));
    SOTTO_TRY(auto entries, audits_of(sheet, name));
    if (entries.empty())
      return bad_input("{}: nothing can be audited: {} mode of {} releases nothing under noise that holds",
                       name, sheet.mode, sheet.recipe);
    if (!arguments.samples_given)
      arguments.samples = std::min(arguments.samples, static_cast<std::int64_t>(affordable_samples(sheet)));
    std::move(entries.begin(), entries.end(), std::back_inserter(of_runs));
  }
  if (names.empty() && !of_runs.empty()) return of_runs;
  SOTTO_TRY(auto entries, privacy::select_audits(privacy::audit_catalogue(secagg::audited_sums()), names));
  std::move(of_runs.begin(), of_runs.end(), std::back_inserter(entries));
  return entries;
}

Result<privacy::AuditSettings> settings_of(const AuditArguments& arguments) {
  if (arguments.samples < 0) return bad_input("samples is {}, must be at least 1,000", arguments.samples);
  if (arguments.seed < 0) return bad_input("seed is {}, must be 0 or more", arguments.seed);
  const privacy::AuditSettings settings{static_cast<std::uint64_t>(arguments.samples),
                                        static_cast<std::uint64_t>(arguments.seed), arguments.confidence};
  SOTTO_CHECK(privacy::validate(settings));
  return settings;
}

const char* name(privacy::AuditKind kind) {
  switch (kind) {
    case privacy::AuditKind::mechanism:
      return "mechanism";
    case privacy::AuditKind::one_run:
      return "one-run";
    case privacy::AuditKind::attack:
      return "attack";
  }
  return "";
}

std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : std::string("-");
}

nlohmann::json to_json(const privacy::AuditEntry& entry, const privacy::AuditFinding& finding) {
  return {{"name", entry.name},
          {"kind", name(entry.kind)},
          {"claimed", finding.claim.epsilon},
          {"delta", finding.claim.delta},
          {"holds", or_null(finding.claim.holds)},
          {"lower", finding.epsilon},
          {"lower_parametric", or_null(finding.parametric)},
          {"claimed_mu", or_null(finding.claim.mu)},
          {"lower_mu", or_null(finding.mu)},
          {"lower_delta", or_null(finding.delta)},
          {"share", finding.share()},
          {"refuted", finding.refuted()},
          {"refutation_expected", entry.refutation_expected}};
}

std::string verdict(const privacy::AuditEntry& entry, const privacy::AuditFinding& finding) {
  if (finding.refuted()) return entry.refutation_expected ? "false, as known" : "CLAIM REFUTED";
  return entry.refutation_expected ? "more samples?" : "not refuted";
}

void print_header(privacy::AuditKind kind, const Output& output) {
  if (kind == privacy::AuditKind::attack) {
    output.text(
        fmt::format("\n{:<26} {:>9} {:>9} {:>9}  {}", "attack", "without", "with", "chance", "measure"));
  } else {
    output.text(fmt::format("\n{:<26} {:>9} {:>8} {:>8} {:>8} {:>10} {:>5}  {}",
                            kind == privacy::AuditKind::mechanism ? "mechanism" : "training, run once",
                            "claimed", "delta", "true", "at least", "parametric", "share", "verdict"));
  }
}

void print(const privacy::AuditEntry& entry, const privacy::AuditFinding& finding, const Output& output) {
  output.text(fmt::format(
      "{:<26} {:>9.3f} {:>8g} {:>8} {:>8.3f} {:>10} {:>5}  {}", entry.name, finding.claim.epsilon,
      finding.claim.delta, finding.claim.holds ? shown(finding.claim.holds) : "none", finding.epsilon,
      shown(finding.parametric), finding.claim.holds ? fmt::format("{:.0f}%", 100 * finding.share()) : "-",
      verdict(entry, finding)));
}

void report(const privacy::AuditEntry& entry, const privacy::AuditReport& report, const Output& output) {
  if (const auto* finding = std::get_if<privacy::AuditFinding>(&report)) {
    output.event(to_json(entry, *finding));
    print(entry, *finding, output);
  } else if (const auto* run = std::get_if<privacy::OneRunFinding>(&report)) {
    nlohmann::json event = to_json(entry, run->finding);
    event["canaries"] = run->guesses.canaries;
    event["guesses"] = run->guesses.made;
    event["right"] = run->guesses.right;
    output.event(event);
    print(entry, run->finding, output);
  } else {
    const auto& attack = std::get<privacy::AttackFinding>(report);
    const char* measure = privacy::attacks()[entry.index].measure;
    output.event({{"name", entry.name},
                  {"kind", name(entry.kind)},
                  {"without_defence", attack.undefended},
                  {"with_defence", attack.defended},
                  {"chance", attack.chance},
                  {"measure", measure},
                  {"setting", attack.setting}});
    output.text(fmt::format("{:<26} {:>8.1f}% {:>8.1f}% {:>8.1f}%  ", entry.name, 100 * attack.undefended,
                            100 * attack.defended, 100 * attack.chance),
                measure);
    output.text(fmt::format("{:<26} ", ""), attack.setting);
  }
}

bool violated(const privacy::AuditEntry& entry, const privacy::AuditReport& report) {
  if (entry.refutation_expected) return false;
  if (const auto* finding = std::get_if<privacy::AuditFinding>(&report)) return finding->refuted();
  const auto* run = std::get_if<privacy::OneRunFinding>(&report);
  return run != nullptr && run->finding.refuted();
}

Status list(const std::vector<privacy::AuditEntry>& entries, const Output& output) {
  for (const privacy::AuditEntry& entry : entries) {
    output.event({{"name", entry.name},
                  {"kind", name(entry.kind)},
                  {"summary", entry.summary},
                  {"refutation_expected", entry.refutation_expected}});
    output.text(fmt::format("{:<26} {:<10} ", entry.name, name(entry.kind)), entry.summary);
  }
  return {};
}

Status audit(AuditArguments& arguments, const Output& output) {
  SOTTO_TRY(const std::vector<privacy::AuditEntry> entries, entries_of(arguments));
  SOTTO_TRY(const privacy::AuditSettings settings, settings_of(arguments));
  if (arguments.list) return list(entries, output);
  const auto bounds = std::count_if(entries.begin(), entries.end(), [](const privacy::AuditEntry& entry) {
    return entry.kind != privacy::AuditKind::attack;
  });
  Progress progress("audit", entries.size(), "audits");
  std::vector<std::string> wrong;
  const privacy::AuditKind* section = nullptr;
  for (const privacy::AuditEntry& entry : entries) {
    if (interrupted())
      return failed("stopped before '{}': what was audited until then is above, the rest was not",
                    entry.name);
    SOTTO_TRY(const privacy::AuditReport result,
              privacy::run_audit(entry, settings, static_cast<std::size_t>(bounds)));
    if (section == nullptr || *section != entry.kind) print_header(entry.kind, output);
    section = &entry.kind;
    report(entry, result, output);
    if (violated(entry, result)) wrong.push_back(entry.name);
    progress.advance();
  }
  progress.finish();
  output.text(
      "", fmt::format("\n'at least' is proved by {} releases per neighbour or by one training run; all lower "
                      "bounds together hold with confidence 1 - {:.2g}. 'parametric' assumes Gaussian loss. "
                      "'share' is how much of the true epsilon (or delta) the audit sees; 'false, as known': "
                      "a claim that "
                      "is there to be refuted, and 'more samples?' where it was not. An attack that fails "
                      "proves nothing.",
                      settings.samples, 1 - settings.confidence));
  if (wrong.empty()) return {};
  return failed("a lower bound exceeds the claim of {}: this privacy does not hold, do not use it",
                fmt::join(wrong, ", "));
}

}  // namespace

void add_privacy_audit_command(CLI::App& privacy, Invocation& invocation) {
  auto arguments = std::make_shared<AuditArguments>();
  CLI::App* command =
      privacy.add_subcommand("audit", "Empirical lower bounds of epsilon beside the claims; attacks");
  command->add_option(
      "names", arguments->names,
      "Which ones, or a trained run's folder: its own sums and query; all when none is named");
  command->add_flag("--list", arguments->list, "Name them all");
  const CLI::Option* samples =
      command->add_option("--samples", arguments->samples,
                          "Releases per neighbour, 1000 to 10000000 [200000; of a run "
                          "as many as some seconds allow]");
  command->add_option("--seed", arguments->seed, "Seed of all draws [1]");
  command->add_option("--confidence", arguments->confidence,
                      "That all printed bounds hold together [0.999999]");
  command->callback([arguments, samples, &invocation] {
    arguments->samples_given = samples->count() > 0;
    invocation.action = [arguments, &invocation] { return audit(*arguments, invocation.output); };
  });
}

}  // namespace sotto::cli
