#include "serving/run_privacy.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "privacy/accounting/datasheet.h"

namespace sotto::serving {

using nlohmann::json;

Result<DemandCharges> demand_charges(const fs::path& run) {
  DemandCharges charges;
  std::ifstream file(run / demand_charges_file);
  for (std::string line; std::getline(file, line);) {
    const json one = json::parse(line, nullptr, false);
    if (!one.is_object() || !one.contains("epsilon") || !one["epsilon"].is_number() ||
        one["epsilon"].get<double>() < 0)
      return bad_input(
          "{} is damaged: what its readers have paid for releases of demand is not known any more; serve "
          "without --demand-epsilon from a copy of the run without this file",
          (run / demand_charges_file).string());
    ++charges.releases;
    charges.epsilon += one["epsilon"].get<double>();
  }
  return charges;
}

namespace {

struct Training {
  std::optional<double> epsilon;  // of what is published; none: nothing holds
  std::optional<double> server;   // against whoever runs the training
  double delta = 0;
  std::optional<std::string> simulation;
};

Result<Training> training_of(const fs::path& run) {
  const fs::path file = run / "privacy.json";
  if (!fs::exists(file)) return Training{};
  SOTTO_TRY(const auto text, read_file(file, 1 << 20));
  const auto sheet = privacy::datasheet_from_json(text);
  if (!sheet) return bad_input("{}: {}", file.string(), sheet.error().message);
  return Training{sheet->epsilon_published, sheet->epsilon_server, sheet->delta,
                  privacy::simulation_note(*sheet)};
}

bool means_something(const Training& training) {
  return training.epsilon && *training.epsilon <= largest_meaningful_epsilon;
}

std::string in_words(const Training& training, const DemandCharges& demand) {
  std::string text =
      training.simulation ? *training.simulation
      : training.epsilon
          ? fmt::format(
                "training: epsilon {:.4g} of what is published, {} against the server, at delta {:g}{}",
                *training.epsilon,
                training.server ? fmt::format("{:.4g}", *training.server) : std::string("none"),
                training.delta, means_something(training) ? "" : ": so large a number hides nothing")
          : "training: without differential privacy, no epsilon holds for what is published. The pack "
            "that everybody may fetch can tell what single readers did. Serve it to try things out; "
            "for readers train with a budget: 'sotto recipes' says which recipes take --epsilon";
  if (demand.releases == 0) return text;
  text +=
      fmt::format("; demand, released {}: epsilon {:.4g} per training reader",
                  demand.releases == 1 ? "once" : fmt::format("{} times", demand.releases), demand.epsilon);
  if (training.simulation || !training.epsilon) return text + ", which adds to that: together none";
  return text + fmt::format(", which adds to that: {:.4g} together", *training.epsilon + demand.epsilon);
}

json or_null(const auto& value) { return value ? json(*value) : json(nullptr); }

}  // namespace

Result<RunPrivacy> privacy_of_run(const fs::path& run) {
  SOTTO_TRY(const Training training, training_of(run));
  SOTTO_TRY(const DemandCharges demand, demand_charges(run));
  json stated = {{"training", or_null(training.epsilon)},
                 {"training_server", or_null(training.server)},
                 {"delta", training.delta},
                 {"demand", demand.epsilon},
                 {"demand_releases", demand.releases},
                 {"published", nullptr},
                 {"simulation", or_null(training.simulation)}};
  if (training.epsilon && !training.simulation) stated["published"] = *training.epsilon + demand.epsilon;
  return RunPrivacy{means_something(training) && !training.simulation, in_words(training, demand),
                    stated.dump()};
}

}  // namespace sotto::serving
