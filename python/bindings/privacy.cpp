// sotto.privacy: what a plan costs, what noise a budget needs, mechanisms, claims, audits.
#include <nlohmann/json.hpp>

#include "bindings/bindings.h"
#include "privacy/accounting/account.h"
#include "privacy/accounting/claims.h"
#include "privacy/accounting/gaussian_exact.h"
#include "privacy/accounting/plan.h"
#include "privacy/accounting/plan_epsilon.h"
#include "privacy/audit/audit_catalogue.h"
#include "privacy/mechanisms/choice_release.h"
#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/vector_release.h"
#include "privacy/noise/noise_origin.h"
#include "secagg/vectors/audited_sums.h"

namespace sotto::python {

using namespace nb::literals;

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

privacy::PrivacyPlan plan_of(const Settings& settings) {
  privacy::PrivacyPlan plan;
  SettingsTable table;
  plan.bind(table);
  apply_settings(settings, table);
  return plan;
}

// The noise is looked for by the library's one search; the rest of the plan stands.
double calibrate(double epsilon, const Settings& settings, privacy::Adversary against) {
  privacy::PrivacyPlan plan = plan_of(settings);
  if (plan.mechanism != "gaussian" && plan.mechanism != "laplace" && plan.mechanism != "skellam" &&
      plan.mechanism != "discrete-gaussian")
    raise(
        {ErrorKind::bad_input,
         fmt::format("calibrate finds the noise of gaussian, laplace, skellam and discrete-gaussian; what {} "
                     "costs is its epsilon itself",
                     plan.mechanism)});
  if (against == privacy::Adversary::server && plan.participations == 0)
    raise({ErrorKind::bad_input,
           "against the server the plan must say how often one unit may take part: set participations"});
  return value_of(privacy::smallest_noise(epsilon, [&](double noise) -> Result<double> {
    plan.noise = noise;
    SOTTO_TRY(const auto answer, privacy::account(plan));
    return against == privacy::Adversary::server ? answer.server->epsilon : answer.published.epsilon;
  }));
}

privacy::Adversary adversary_of(const std::string& word) {
  for (const auto adversary : {privacy::Adversary::server, privacy::Adversary::published})
    if (word == privacy::name(adversary)) return adversary;
  throw InputError(fmt::format("against is '{}', must be server or published", word));
}

privacy::Adjacency adjacency_of(const std::string& word) {
  for (const auto adjacency : {privacy::Adjacency::add_remove, privacy::Adjacency::replace_one})
    if (word == privacy::name(adjacency)) return adjacency;
  throw InputError(fmt::format("adjacency is '{}', must be add-remove or replace-one", word));
}

// Secret noise, or that of a seed: a simulation that protects nobody.
template <class Draw>
auto with_noise(std::optional<std::uint64_t> seed, Draw draw) {
  privacy::NoiseStream stream(
      seed ? privacy::NoiseOrigin::reproducible(*seed) : privacy::NoiseOrigin::secret(), Purpose::noise);
  return unlocked([&] { return draw(stream.random()); });
}

double epsilon_of(const privacy::PrivacyEvent& event, double delta) {
  return value_of(privacy::account_best({&event, 1}, delta, privacy::Adversary::server)).epsilon;
}

constexpr const char* release_doc =
    "A noisy copy of the values, in float64 on a grid. Noise comes from the secure generator; "
    "`simulation_seed` "
    "makes it reproducible and protects nobody.";
constexpr const char* cost_doc = "What one release costs at delta.";

template <class Mechanism, class Class>
void add_vector_release(Class& type) {
  type.def(
          "release",
          [](const Mechanism& mechanism, const GivenArray& given, std::optional<std::uint64_t> seed) {
            const Column<double> values(given, "values");
            return array_of(value_of(with_noise(seed, [&](privacy::DeviceRandom random) {
                              return mechanism.release(values.values(), random);
                            })).reals());
          },
          "values"_a, nb::kw_only(), "simulation_seed"_a = nb::none(), release_doc)
      .def(
          "epsilon",
          [](const Mechanism& mechanism, double delta) { return epsilon_of(mechanism.event(), delta); },
          "delta"_a, cost_doc)
      .def_prop_ro("step", &Mechanism::step, "Distance of two points of the grid.");
}

void bind_mechanisms(nb::module_& module) {
  nb::class_<privacy::GaussianMechanism> gaussian(
      module, "GaussianMechanism",
      "A vector of known L2 sensitivity, released with Gaussian noise on a grid. Clip first.");
  gaussian.def(
      "__init__",
      [](privacy::GaussianMechanism* made, double multiplier, double sensitivity, std::uint64_t dimension,
         const std::string& adjacency) {
        new (made) privacy::GaussianMechanism(
            value_of(privacy::GaussianMechanism::create({.noise_multiplier = multiplier,
                                                         .l2_sensitivity = sensitivity,
                                                         .dimension = dimension,
                                                         .adjacency = adjacency_of(adjacency)})));
      },
      nb::kw_only(), "noise_multiplier"_a, "l2_sensitivity"_a, "dimension"_a, "adjacency"_a = "replace-one");
  add_vector_release<privacy::GaussianMechanism>(gaussian);
  gaussian.def_prop_ro("sigma", &privacy::GaussianMechanism::sigma, "Standard deviation of the noise.");

  nb::class_<privacy::LaplaceMechanism> laplace(
      module, "LaplaceMechanism",
      "A vector of known L1 sensitivity, released with discrete Laplace noise: pure epsilon. Clip first.");
  laplace.def(
      "__init__",
      [](privacy::LaplaceMechanism* made, double epsilon, double sensitivity, std::uint64_t dimension,
         const std::string& adjacency) {
        new (made) privacy::LaplaceMechanism(
            value_of(privacy::LaplaceMechanism::create({.epsilon = epsilon,
                                                        .l1_sensitivity = sensitivity,
                                                        .dimension = dimension,
                                                        .adjacency = adjacency_of(adjacency)})));
      },
      nb::kw_only(), "epsilon"_a, "l1_sensitivity"_a, "dimension"_a, "adjacency"_a = "replace-one");
  add_vector_release<privacy::LaplaceMechanism>(laplace);
  laplace.def_prop_ro("scale", &privacy::LaplaceMechanism::scale, "Scale of the noise.");

  nb::class_<privacy::KaryResponse>(module, "RandomisedResponse",
                                    "One of `categories` values, kept with probability e^eps/(e^eps + "
                                    "categories - 1), else one of the others.")
      .def(
          "__init__",
          [](privacy::KaryResponse* made, double epsilon, std::uint64_t categories) {
            new (made) privacy::KaryResponse(value_of(privacy::KaryResponse::create(epsilon, categories)));
          },
          nb::kw_only(), "epsilon"_a, "categories"_a)
      .def(
          "respond",
          [](const privacy::KaryResponse& mechanism, std::uint64_t value, std::optional<std::uint64_t> seed) {
            return value_of(with_noise(
                seed, [&](privacy::DeviceRandom random) { return mechanism.respond(value, random); }));
          },
          "value"_a, nb::kw_only(), "simulation_seed"_a = nb::none(),
          "The value, or another one. Drawn by the secure generator unless a seed is named.")
      .def(
          "epsilon",
          [](const privacy::KaryResponse& mechanism, double delta) {
            return epsilon_of(mechanism.event(), delta);
          },
          "delta"_a, cost_doc);

  nb::class_<privacy::ExponentialMechanism>(
      module, "ExponentialMechanism",
      "One of n candidates, with probability proportional to exp(eps score / (2 sensitivity)).")
      .def(
          "__init__",
          [](privacy::ExponentialMechanism* made, double epsilon, double sensitivity) {
            new (made) privacy::ExponentialMechanism(value_of(
                privacy::ExponentialMechanism::create({.epsilon = epsilon, .sensitivity = sensitivity})));
          },
          nb::kw_only(), "epsilon"_a, "sensitivity"_a)
      .def(
          "choose",
          [](const privacy::ExponentialMechanism& mechanism, const GivenArray& given,
             std::optional<std::uint64_t> seed) {
            const Column<double> scores(given, "scores");
            return value_of(with_noise(seed, [&](privacy::DeviceRandom random) {
              return mechanism.choose(scores.values(), random);
            }));
          },
          "scores"_a, nb::kw_only(), "simulation_seed"_a = nb::none(), "The number of the candidate chosen.")
      .def(
          "epsilon",
          [](const privacy::ExponentialMechanism& mechanism, double delta) {
            return epsilon_of(mechanism.event(), delta);
          },
          "delta"_a, cost_doc);

  using Clip = Result<double> (*)(std::span<double>, double);
  const auto def_clip = [&](const char* name, Clip clip, const char* doc) {
    module.def(
        name,
        [clip](const GivenArray& given, double bound) {
          const Column<double> values(given, "values");
          std::vector<double> clipped(values.values().begin(), values.values().end());
          unlocked([&] { value_of(clip(clipped, bound)); });
          return array_of(std::move(clipped));
        },
        "values"_a, "bound"_a, doc);
  };
  def_clip("clip_l2", privacy::clip_l2, "A copy whose L2 norm is at most `bound`, in real numbers.");
  def_clip("clip_l1", privacy::clip_l1, "A copy whose L1 norm is at most `bound`, in real numbers.");
  def_clip("clip_coordinates", privacy::clip_coordinates, "A copy with every coordinate in [-bound, bound].");
}

nlohmann::json or_null(const std::optional<double>& number) {
  return number ? nlohmann::json(*number) : nlohmann::json(nullptr);
}

nlohmann::json to_json(const privacy::AuditFinding& finding) {
  return {{"claimed", finding.claim.epsilon},
          {"delta", finding.claim.delta},
          {"holds", or_null(finding.claim.holds)},
          {"lower", finding.epsilon},
          {"lower_parametric", or_null(finding.parametric)},
          {"share", finding.share()},
          {"refuted", finding.refuted()}};
}

nlohmann::json to_json(const privacy::AuditEntry& entry, const privacy::AuditReport& report) {
  nlohmann::json line;
  if (const auto* finding = std::get_if<privacy::AuditFinding>(&report)) {
    line = to_json(*finding);
  } else if (const auto* run = std::get_if<privacy::OneRunFinding>(&report)) {
    line = to_json(run->finding);
    line.update(
        {{"canaries", run->guesses.canaries}, {"guesses", run->guesses.made}, {"right", run->guesses.right}});
  } else {
    const auto& attack = std::get<privacy::AttackFinding>(report);
    line = {{"without_defence", attack.undefended},
            {"with_defence", attack.defended},
            {"chance", attack.chance},
            {"setting", attack.setting}};
  }
  line.update({{"name", entry.name}, {"refutation_expected", entry.refutation_expected}});
  return line;
}

void bind_audits(nb::module_& module) {
  module.def(
      "audits",
      [] {
        nb::list names;
        for (const auto& entry : privacy::audit_catalogue(secagg::audited_sums()))
          names.append(nb::make_tuple(entry.name, entry.summary));
        return names;
      },
      nb::sig("def audits() -> list[tuple[str, str]]"), "Name and summary of every audit and attack.");
  module.def(
      "audit",
      [](const std::vector<std::string>& names, std::uint64_t samples, std::uint64_t seed,
         double confidence) {
        const privacy::AuditSettings settings{samples, seed, confidence};
        nlohmann::json findings = nlohmann::json::array();
        unlocked([&] {
          check(privacy::validate(settings));
          const auto entries =
              value_of(privacy::select_audits(privacy::audit_catalogue(secagg::audited_sums()), names));
          for (const auto& entry : entries)
            findings.push_back(to_json(entry, value_of(privacy::run_audit(entry, settings, entries.size()))));
        });
        return to_python(findings);
      },
      "names"_a, nb::kw_only(), "samples"_a = privacy::AuditSettings{}.samples,
      "seed"_a = privacy::AuditSettings{}.seed, "confidence"_a = privacy::AuditSettings{}.confidence,
      nb::sig("def audit(names: collections.abc.Sequence[str], *, samples: int = 200000, seed: int = 1, "
              "confidence: float = "
              "0.999999) -> list[dict[str, typing.Any]]"),
      "Runs audits by name and proves a lower bound of the epsilon that really holds. All bounds of one call "
      "hold "
      "together with this confidence.");
}

void bind_claims(nb::module_& module) {
  nb::class_<privacy::Claim>(module, "Claim", "What a system claims of one release, and what holds.")
      .def_ro("system", &privacy::Claim::system)
      .def_ro("release", &privacy::Claim::release)
      .def_ro("claimed_epsilon", &privacy::Claim::claimed_epsilon)
      .def_ro("true_epsilon", &privacy::Claim::true_epsilon)
      .def_ro("delta", &privacy::Claim::delta)
      .def_ro("why", &privacy::Claim::why)
      .def_prop_ro("unit", [](const privacy::Claim& claim) { return std::string(name(claim.unit)); })
      .def_prop_ro("adversary",
                   [](const privacy::Claim& claim) { return std::string(name(claim.adversary)); });
  module.def(
      "claims",
      [] {
        return unlocked([] {
          auto claims = value_of(privacy::paper_claims());
          for (auto& own : value_of(privacy::own_claims())) claims.push_back(std::move(own));
          return claims;
        });
      },
      "What the papers and our own recipes claim for their default settings, and what holds.");
}

}  // namespace

void bind_privacy(nb::module_& module) {
  using privacy::Guarantee;
  nb::class_<Guarantee>(module, "Guarantee", "What holds, for whom, under which assumptions, by which proof.")
      .def_ro("epsilon", &Guarantee::epsilon)
      .def_ro("delta", &Guarantee::delta)
      .def_ro("sampling", &Guarantee::sampling, "The assumption in words.")
      .def_ro("epsilon_lower", &Guarantee::epsilon_lower,
              "Where the method bounds the tight epsilon from below as well.")
      .def_ro("notes", &Guarantee::notes)
      .def_prop_ro("adjacency", [](const Guarantee& held) { return std::string(name(held.adjacency)); })
      .def_prop_ro("unit", [](const Guarantee& held) { return std::string(name(held.unit)); })
      .def_prop_ro("adversary", [](const Guarantee& held) { return std::string(name(held.adversary)); })
      .def_prop_ro("method", [](const Guarantee& held) { return std::string(name(held.method)); })
      .def("__repr__", [](const Guarantee& held) {
        return fmt::format(
            "Guarantee(epsilon={:.6g}, delta={:g}, unit='{}', adjacency='{}', adversary='{}', "
            "method='{}')",
            held.epsilon, held.delta, name(held.unit), name(held.adjacency), name(held.adversary),
            name(held.method));
      });
  nb::class_<privacy::PlanAnswer>(module, "PlanAnswer", "The two guarantees of a plan.")
      .def_ro("published", &privacy::PlanAnswer::published, "Against everybody who sees what is published.")
      .def_ro("server", &privacy::PlanAnswer::server,
              "Against the server, which knows who takes part; where the plan caps participations.");
  module.def(
      "account",
      [](const nb::kwargs& plan) {
        const auto settings = settings_of(plan);
        return unlocked([&] { return value_of(privacy::account(plan_of(settings))); });
      },
      "plan"_a, nb::sig("def account(**plan: str | float | bool | None) -> PlanAnswer"),
      "What a plan costs, against whom.");
  module.def(
      "epsilon",
      [](const nb::kwargs& plan) {
        const auto settings = settings_of(plan);
        return unlocked([&] { return value_of(privacy::plan_epsilon(plan_of(settings))); });
      },
      "plan"_a, nb::sig("def epsilon(**plan: str | float | bool | None) -> float"),
      "The upper bound of account() alone, without what proves how close it is.");
  module.def(
      "calibrate",
      [](double epsilon, const std::string& against, const nb::kwargs& plan) {
        const auto adversary = adversary_of(against);
        const auto settings = settings_of(plan);
        return unlocked([&] { return calibrate(epsilon, settings, adversary); });
      },
      "epsilon"_a, "against"_a, "plan"_a,
      nb::sig("def calibrate(epsilon: float, against: str, **plan: str | float | bool | None) -> float"),
      "The smallest noise with which a plan stays within epsilon; at most 0.01 % more.");
  module.def(
      "plan_settings",
      [] {
        privacy::PrivacyPlan plan;
        SettingsTable table;
        plan.bind(table);
        return rows_of(table);
      },
      nb::sig("def plan_settings() -> list[tuple[str, str, str, str, str]]"),
      "The settings of a plan: name, type, default, what is allowed, help.");
  module.def("gaussian_delta", &privacy::gaussian_delta, "noise_multiplier"_a, "epsilon"_a,
             "delta of one Gaussian release at epsilon, in closed form.");
  bind_mechanisms(module);
  bind_audits(module);
  bind_claims(module);
}

}  // namespace sotto::python
