#include "privacy/accounting/datasheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "privacy/accounting/account.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto::privacy {

double chance_above_cap(std::uint64_t rounds, double rate, std::uint64_t cap) {
  if (cap >= rounds) return 0;
  if (rate >= 1) return 1;
  const double n = static_cast<double>(rounds);
  // So far below the mean that the chance is 1 in double precision (Chernoff: 1 - e^-50): nothing is summed
  // over millions of terms.
  if (n * rate - static_cast<double>(cap) - 1 > 10 * std::sqrt(n * rate)) return 1;
  double sum = -infinity;
  for (double k = static_cast<double>(cap) + 1; k <= n; ++k) {
    const double term = log_binomial(n, k) + k * std::log(rate) + (n - k) * std::log1p(-rate);
    sum = log_add(sum, term);
    if (k > n * rate && term < sum - 45) {  // the terms now fall faster than geometrically
      sum = log_add(sum, term + std::log(n - k + 1));
      break;
    }
  }
  // Never 0: what is possible is charged, however far out.
  return std::clamp(std::exp(sum) * (1 + 1e-9), std::numeric_limits<double>::min(), 1.0);
}

double chance_that_caps_matter(const Sampling& sampling, std::uint64_t rounds, std::uint64_t cap) {
  const double one = chance_above_cap(rounds, participation_rate(sampling), cap);
  const auto* drawn = std::get_if<SamplingWithoutReplacement>(&sampling);
  return drawn == nullptr ? one : std::min(1.0, one * static_cast<double>(drawn->population));
}

Result<Guarantee> account_server(const TrainingExposure& exposure, double delta) {
  if (exposure.rounds < 1) return bad_input("training needs at least one round");
  if (exposure.participation_cap < 1) return bad_input("the participation cap must be at least 1");
  const PrivacyEvent seen{exposure.mechanism,
                          exposure.adjacency,
                          exposure.unit,
                          NoSampling{},
                          std::min(exposure.rounds, exposure.participation_cap),
                          exposure.total_variation,
                          exposure.log_ratio};
  SOTTO_CHECK(validate(seen));
  SOTTO_CHECK(validate_delta(delta));
  Guarantee server;
  // So little noise that nothing can be said at this delta leaves the server unbounded; what is published may
  // still be private by the sampling.
  if (auto found = account_best({&seen, 1}, delta, Adversary::server)) {
    server = std::move(*found);
  } else {
    server = {.epsilon = infinity, .delta = delta, .adjacency = seen.adjacency, .unit = seen.unit};
    server.adversary = Adversary::server;
    server.notes.push_back(std::move(found).error().message);
  }
  server.sampling = fmt::format("none: at most {} participations", seen.count);
  return server;
}

Result<TwoAdversaries> account_training(const TrainingExposure& exposure, double delta) {
  TwoAdversaries both;
  SOTTO_TRY(both.server, account_server(exposure, delta));
  both.published = both.server;
  both.published.adversary = Adversary::published;
  PrivacyEvent drawn{exposure.mechanism, exposure.adjacency,       exposure.unit,     exposure.sampling,
                     exposure.rounds,    exposure.total_variation, exposure.log_ratio};
  SOTTO_CHECK(validate(drawn));
  const double reached =
      chance_that_caps_matter(exposure.sampling, exposure.rounds, exposure.participation_cap);
  if (reached < 1) {
    drawn.total_variation =
        std::min(exposure.total_variation + reached / static_cast<double>(exposure.rounds), 1 - 1e-9);
    auto amplified = account_best({&drawn, 1}, delta, Adversary::published);
    if (amplified && amplified->epsilon < both.published.epsilon) {
      both.published = std::move(*amplified);
      if (reached > 0) {
        both.published.notes.push_back(
            fmt::format("chance {:.2g} that a cap on participations matters is charged to delta", reached));
      }
      return both;
    }
  }
  both.published.notes.emplace_back("follows from the guarantee against the server (post-processing)");
  return both;
}

namespace {

std::string shown(const std::optional<double>& epsilon) {
  return epsilon ? fmt::format("{:.4g}", *epsilon) : "none";
}

std::string both_epsilons(const PrivacyDatasheet& sheet) {
  return fmt::format("{} against the server, {} of what is published, at delta {:g}",
                     shown(sheet.epsilon_server), shown(sheet.epsilon_published), sheet.delta);
}

// "4.68 at delta 1e-06"; a pure epsilon stands alone.
std::string query_cost(const PrivacyDatasheet& sheet) {
  return shown(sheet.epsilon_query) +
         (sheet.delta_query > 0 ? fmt::format(" at delta {:g}", sheet.delta_query) : "");
}

// What a device would have to pay. Training in a simulation touches no device's ledger.
std::string ledger_line(const PrivacyDatasheet& sheet) {
  std::string line = sheet.epsilon_server ? fmt::format("epsilon {:.4g} at delta {:g} for taking part",
                                                        *sheet.epsilon_server, sheet.delta)
                                          : "for taking part without any bound";
  if (sheet.epsilon_query) line += fmt::format(", and {} for each query", query_cost(sheet));
  return "a device's would be charged " + line + "; this training charged none";
}

std::string listed(std::string_view title, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += fmt::format("  {:<16} {}\n", &line == lines.data() ? title : "", line);
  return text;
}

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

std::optional<std::string> simulation_note(const PrivacyDatasheet& sheet) {
  if (!sheet.reproducible) return std::nullopt;
  return "simulation: no ε holds for these files; with secret noise it would be " + both_epsilons(sheet);
}

std::string in_words(const PrivacyDatasheet& sheet) {
  const std::string at_delta = sheet.delta > 0 ? fmt::format(" at δ = {:g}", sheet.delta) : "";
  const auto holds = [&](const std::optional<double>& epsilon) {
    return epsilon ? fmt::format("ε = {:.4g}{} holds for every {}", *epsilon, at_delta, name(sheet.unit))
                   : std::string("nothing holds");
  };
  return fmt::format(
      "{}gainst the server, which sees who takes part, {}. Against everyone else, who sees what is "
      "published, "
      "{}.",
      sheet.reproducible ? "This was a simulation: no ε holds for its files. With secret noise: a" : "A",
      holds(sheet.epsilon_server), holds(sheet.epsilon_published));
}

std::string to_text(const PrivacyDatasheet& sheet) {
  const auto note = simulation_note(sheet);
  std::string text = note.value_or("no simulation, all noise was secret: none of it is in any file") + "\n";
  text += fmt::format("privacy of {} ({} mode)\n", sheet.recipe, sheet.mode);
  text += fmt::format("  {:<16} {}\n", "epsilon", both_epsilons(sheet));
  if (sheet.epsilon_claimed)
    text += fmt::format("  {:<16} {}\n", "paper claims", shown(sheet.epsilon_claimed));
  if (sheet.epsilon_noised_part)
    text +=
        fmt::format("  {:<16} {} for the noised part of the uploads alone: no guarantee of what is sent\n",
                    "noised part", shown(sheet.epsilon_noised_part));
  if (sheet.epsilon_query)
    text += fmt::format("  {:<16} {} each, on top of the training\n", "queries", query_cost(sheet));
  text += fmt::format("  {:<16} {}\n", "ledger", ledger_line(sheet));
  text += fmt::format("  {:<16} one {}, {}\n", "unit", name(sheet.unit), name(sheet.adjacency));
  text += fmt::format("  {:<16} {}\n", "mechanism", sheet.mechanism);
  text += fmt::format("  {:<16} {}\n", "sampling", sheet.sampling);
  text += fmt::format("  {:<16} {}\n", "composition", sheet.composition);
  return text + listed("the server sees", sheet.server_sees) + listed("not protected", sheet.not_protected);
}

namespace {

nlohmann::json to_json(const SumRecord& sum) {
  return {{"of", sum.of},
          {"clip", sum.clip},
          {"step", sum.step},
          {"noise_multiplier", sum.noise_multiplier},
          {"clip_bit_weight", or_null(sum.clip_bit_weight)},
          {"nonnegative", sum.nonnegative},
          {"products", sum.products},
          {"devices", sum.devices},
          {"dropped", sum.dropped},
          {"corrupted", sum.corrupted}};
}

SumRecord sum_from(const nlohmann::json& json) {
  SumRecord sum;
  sum.of = json.at("of").get<std::string>();
  sum.clip = json.at("clip").get<double>();
  sum.step = json.at("step").get<double>();
  sum.noise_multiplier = json.at("noise_multiplier").get<double>();
  if (const auto& weight = json.at("clip_bit_weight"); !weight.is_null())
    sum.clip_bit_weight = weight.get<double>();
  sum.nonnegative = json.at("nonnegative").get<bool>();
  sum.products = json.value("products", false);  // sheets of before there were any
  sum.devices = json.at("devices").get<std::uint64_t>();
  sum.dropped = json.at("dropped").get<std::uint64_t>();
  sum.corrupted = json.at("corrupted").get<std::uint64_t>();
  return sum;
}

std::optional<double> number_or_none(const nlohmann::json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

// The value that is called so.
template <class T>
Result<T> named(std::initializer_list<T> values, const std::string& wanted) {
  for (const T value : values)
    if (name(value) == wanted) return value;
  return bad_input("'{}' is not known here", wanted);
}

}  // namespace

std::string to_json(const PrivacyDatasheet& sheet) {
  const auto note = simulation_note(sheet);
  nlohmann::json sums = nlohmann::json::array();
  for (const SumRecord& sum : sheet.sums) sums.push_back(to_json(sum));
  return nlohmann::json{{"recipe", sheet.recipe},
                        {"mode", sheet.mode},
                        {"simulation", note ? nlohmann::json(*note) : nlohmann::json(nullptr)},
                        {"ledger", ledger_line(sheet)},
                        {"epsilon", or_null(sheet.epsilon_server)},
                        {"epsilon_published", or_null(sheet.epsilon_published)},
                        {"epsilon_claimed", or_null(sheet.epsilon_claimed)},
                        {"epsilon_noised_part", or_null(sheet.epsilon_noised_part)},
                        {"epsilon_query", or_null(sheet.epsilon_query)},
                        {"delta_query", sheet.delta_query},
                        {"query_choices", or_null(sheet.query_choices)},
                        {"sums", std::move(sums)},
                        {"delta", sheet.delta},
                        {"unit", name(sheet.unit)},
                        {"adjacency", name(sheet.adjacency)},
                        {"mechanism", sheet.mechanism},
                        {"sampling", sheet.sampling},
                        {"composition", sheet.composition},
                        {"server_sees", sheet.server_sees},
                        {"not_protected", sheet.not_protected}}
      .dump();
}

Result<PrivacyDatasheet> datasheet_from_json(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  PrivacyDatasheet sheet;
  try {
    sheet.recipe = json.at("recipe").get<std::string>();
    sheet.mode = json.at("mode").get<std::string>();
    sheet.mechanism = json.at("mechanism").get<std::string>();
    sheet.sampling = json.at("sampling").get<std::string>();
    sheet.composition = json.at("composition").get<std::string>();
    SOTTO_TRY(sheet.unit,
              named({Unit::click, Unit::impression, Unit::user}, json.at("unit").get<std::string>()));
    SOTTO_TRY(sheet.adjacency, named({Adjacency::replace_one, Adjacency::add_remove},
                                     json.at("adjacency").get<std::string>()));
    sheet.delta = json.at("delta").get<double>();
    sheet.epsilon_server = number_or_none(json.at("epsilon"));
    sheet.epsilon_published = number_or_none(json.at("epsilon_published"));
    sheet.epsilon_claimed = number_or_none(json.at("epsilon_claimed"));
    sheet.epsilon_query = number_or_none(json.at("epsilon_query"));
    sheet.delta_query = json.value("delta_query", 0.0);
    // Runs of version 0.2.0 have none of these.
    if (const auto part = json.find("epsilon_noised_part"); part != json.end())
      sheet.epsilon_noised_part = number_or_none(*part);
    if (const auto choices = json.find("query_choices"); choices != json.end() && !choices->is_null())
      sheet.query_choices = choices->get<std::uint64_t>();
    if (const auto sums = json.find("sums"); sums != json.end())
      for (const auto& sum : *sums) sheet.sums.push_back(sum_from(sum));
    sheet.server_sees = json.at("server_sees").get<std::vector<std::string>>();
    sheet.not_protected = json.at("not_protected").get<std::vector<std::string>>();
    sheet.reproducible = !json.at("simulation").is_null();
  } catch (const nlohmann::json::exception& problem) {
    return bad_input(
        "it is not a datasheet of a run ({}): was it changed by hand, or written by another version?",
        problem.what());
  }
  return sheet;
}

}  // namespace sotto::privacy
