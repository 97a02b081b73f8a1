#include "eval/experiments/serving/compared_mechanism.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "privacy/accounting/gaussian_exact.h"
#include "privacy/mechanisms/user_embedding_release.h"
#include "publish/codebook.h"

namespace sotto::eval::private_serving {

namespace {

constexpr double vdp_clip = 0.001;  // the paper's
// PrivateRec's weights here are softmax(sharpness · cosine), which is the paper's softmax(u·b/√d) for basis
// vectors of the length that training would give them. θ = 1, which clips nothing: attention sums to 1.
constexpr double sharpness = 8;
constexpr int basis_iterations = 12;

class AverageUser final : public ComparedMechanism {
 public:
  explicit AverageUser(const PublicKnowledge& known) : known_(known) {}
  AnswerPrivacy privacy() const override { return {0, 0, 0}; }
  Result<Rows> serve(const Rows&, const Rows& readers, std::uint64_t) const override {
    return repeated(known_.average, readers.size());
  }

 private:
  const PublicKnowledge& known_;
};

class ExactVector final : public ComparedMechanism {
 public:
  AnswerPrivacy privacy() const override { return {std::nullopt, 0, INFINITY}; }
  Result<Rows> serve(const Rows&, const Rows& readers, std::uint64_t) const override { return readers; }
};

// VDP, as in the paper.
class NoisyVector final : public ComparedMechanism {
 public:
  NoisyVector(const PublicKnowledge& known, privacy::UserEmbeddingRelease release, AnswerPrivacy privacy)
      : known_(known), release_(std::move(release)), privacy_(privacy) {}
  AnswerPrivacy privacy() const override { return privacy_; }
  Result<Rows> serve(const Rows& user_vectors, const Rows&, std::uint64_t seed) const override {
    SOTTO_TRY(const Rows noisy,
              draw_rows(user_vectors.size(), user_vectors.width, seed,
                        [&](std::size_t i, std::span<float> out, privacy::DeviceRandom random) -> Status {
                          const std::vector<double> vector(user_vectors[i].begin(), user_vectors[i].end());
                          SOTTO_TRY(const auto released, release_.release(vector, random));
                          const std::vector<double> values = released.reals();
                          for (std::size_t j = 0; j < out.size(); ++j) out[j] = static_cast<float>(values[j]);
                          return {};
                        }));
    return known_.space.readers(noisy);
  }

 private:
  const PublicKnowledge& known_;
  privacy::UserEmbeddingRelease release_;
  AnswerPrivacy privacy_;
};

// A mechanism of the shared table: its draw, its wire form, its estimate.
class Served final : public ComparedMechanism {
 public:
  // Which vectors of a reader it is shown: the model's, so that its answer must be brought into the ranking
  // space, or those of the ranking space.
  enum class Space { model, ranking };

  static Result<std::unique_ptr<ComparedMechanism>> create(const PublicKnowledge& known, Space space,
                                                           privacy::ServingMechanisms table,
                                                           const privacy::ServingMechanismEntry& entry,
                                                           const privacy::MechanismSettings& settings,
                                                           privacy::PublicVectors vectors, double claimed) {
    auto shared = std::make_shared<const privacy::PublicVectors>(std::move(vectors));
    SOTTO_TRY(auto mechanism, entry.make(settings, shared));
    std::optional<privacy::PrivacyEvent> event;
    if (const auto price = mechanism->price()) event = price->history;
    SOTTO_TRY(const auto privacy, privacy_of(event, claimed));
    return std::unique_ptr<ComparedMechanism>(
        new Served(known, space, table, std::move(shared), std::move(mechanism), privacy));
  }

  AnswerPrivacy privacy() const override { return privacy_; }

  Result<Rows> serve(const Rows& user_vectors, const Rows& readers, std::uint64_t seed) const override {
    const Rows& shown = space_ == Space::model ? user_vectors : readers;
    SOTTO_TRY(Rows rows, served_vectors(table_, *mechanism_, *vectors_, shown, seed));
    return space_ == Space::model ? known_.space.readers(rows) : std::move(rows);
  }

 private:
  Served(const PublicKnowledge& known, Space space, privacy::ServingMechanisms table,
         std::shared_ptr<const privacy::PublicVectors> vectors,
         std::unique_ptr<const privacy::ServingMechanism> mechanism, AnswerPrivacy privacy)
      : known_(known),
        space_(space),
        table_(table),
        vectors_(std::move(vectors)),
        mechanism_(std::move(mechanism)),
        privacy_(privacy) {}

  const PublicKnowledge& known_;
  Space space_;
  privacy::ServingMechanisms table_;
  std::shared_ptr<const privacy::PublicVectors> vectors_;
  std::unique_ptr<const privacy::ServingMechanism> mechanism_;
  AnswerPrivacy privacy_;
};

Result<std::unique_ptr<ComparedMechanism>> make_vdp(const MechanismChoice& choice,
                                                    const PublicKnowledge& known) {
  if (!std::isfinite(choice.epsilon)) return std::make_unique<ExactVector>();
  SOTTO_TRY(auto release, privacy::UserEmbeddingRelease::create({.mode = privacy::GuaranteeMode::paper,
                                                                 .noise = privacy::NoiseKind::laplace,
                                                                 .dimension = known.held_out_vectors.width,
                                                                 .clip = vdp_clip,
                                                                 .epsilon = choice.epsilon}));
  SOTTO_TRY(const auto privacy, privacy_of(release.statement().holds, choice.epsilon));
  return std::make_unique<NoisyVector>(known, std::move(release), privacy);
}

// PrivateRec over B basis vectors of the ranking space.
Result<std::unique_ptr<ComparedMechanism>> make_coefficients(privacy::GuaranteeMode mode,
                                                             privacy::NoiseKind noise,
                                                             const MechanismChoice& choice,
                                                             const PublicKnowledge& known,
                                                             std::uint64_t seed) {
  Rows basis = k_means(known.readers, choice.size, ClusterShape::direction, basis_iterations, seed).centres;
  const double length = sharpness * std::sqrt(static_cast<double>(basis.width));
  for (float& value : basis.values) value = static_cast<float>(length * value);
  privacy::MechanismSettings settings = settings_for(choice.epsilon);
  settings.mode = mode;
  settings.noise = noise;
  settings.delta = noise == privacy::NoiseKind::gaussian ? gaussian_delta : 0;
  SOTTO_TRY(const auto* entry, privacy::find_mechanism(privacy::serving_mechanisms(), "coefficients"));
  return Served::create(known, Served::Space::ranking, privacy::serving_mechanisms(), *entry, settings,
                        {.dimension = basis.width, .basis = std::move(basis.values)}, choice.epsilon);
}

// As devices and `sotto serve` have it: vectors of the model's own space in the pack. Nothing is tuned for
// the run.
ComparedEntry as_served(privacy::ServingMechanisms table, const privacy::ServingMechanismEntry& entry) {
  const auto make = [table, &entry](const MechanismChoice& choice, const PublicKnowledge& known,
                                    std::uint64_t seed) {
    const bool prototypes = entry.sizes.of == privacy::MeasuredSizes::Of::prototypes;
    Codebook book = make_codebook(known.space, known.reader_vectors, prototypes ? choice.size : 0,
                                  prototypes ? 0 : choice.size, seed);
    return Served::create(known, Served::Space::model, table, entry, settings_for(choice.epsilon),
                          {.dimension = known.reader_vectors.width,
                           .basis = std::move(book.basis.values),
                           .prototypes = std::move(book.prototypes.values),
                           .average_user = std::move(book.average_user)},
                          choice.epsilon);
  };
  return {fmt::format("{}-pack", entry.name), fmt::format("{} as served", entry.name), entry.sizes.full,
          entry.sizes.quick, make};
}

}  // namespace

std::vector<ComparedEntry> compared_mechanisms(privacy::ServingMechanisms served) {
  using Choice = MechanismChoice;
  using Known = PublicKnowledge;
  const auto coefficients = [](privacy::GuaranteeMode mode, privacy::NoiseKind noise) {
    return [mode, noise](const Choice& choice, const Known& known, std::uint64_t seed) {
      return make_coefficients(mode, noise, choice, known, seed);
    };
  };
  const auto posterior = [](privacy::PrototypeRule rule) {
    return [rule](const Choice& choice, const Known& known, std::uint64_t seed) {
      return make_prototype_posterior(rule, choice, known, seed);
    };
  };
  const auto direction = [](privacy::NoiseKind noise) {
    return [noise](const Choice& choice, const Known& known, std::uint64_t seed) {
      return make_noisy_direction(noise, choice, known, seed);
    };
  };
  using Made = Result<std::unique_ptr<ComparedMechanism>>;
  const auto average_user = [](const Choice&, const Known& known, std::uint64_t) -> Made {
    return std::make_unique<AverageUser>(known);
  };
  const auto exact = [](const Choice&, const Known&, std::uint64_t) -> Made {
    return std::make_unique<ExactVector>();
  };
  const auto vdp = [](const Choice& choice, const Known& known, std::uint64_t) {
    return make_vdp(choice, known);
  };
  std::vector<ComparedEntry> table = {
      {"average-user", "public average user", {}, {}, average_user, false},
      {"non-private", "true user vector", {}, {}, exact, false, false},
      {"vdp-paper", "noisy user vector (VDP)", {0}, {0}, vdp, true, false},
      {"coefficients-paper",
       "PrivateRec as printed",
       {3, 5},
       {5},
       coefficients(privacy::GuaranteeMode::paper, privacy::NoiseKind::laplace)},
      {"coefficients-laplace",
       "PrivateRec, sound Laplace",
       {3, 5},
       {5},
       coefficients(privacy::GuaranteeMode::sound, privacy::NoiseKind::laplace)},
      {"coefficients-gaussian",
       "PrivateRec, sound Gaussian",
       {3, 5},
       {},
       coefficients(privacy::GuaranteeMode::sound, privacy::NoiseKind::gaussian)},
      {"prototypes-response",
       "prototypes, randomised response",
       {4, 8, 16, 32, 64, 256, 1024},
       {8, 64},
       posterior(privacy::PrototypeRule::response)},
  };
#ifdef SOTTO_HAVE_NET
  const auto blind = [](const Choice& choice, const Known& known, std::uint64_t) {
    return make_blind_lists(choice, known);
  };
  table.push_back({"blind", "encrypted questions, by probes", {1, 3}, {1, 3}, blind, false, false, true});
#endif
  for (const privacy::ServingMechanismEntry& entry : served) table.push_back(as_served(served, entry));
  table.insert(
      table.end(),
      {{"prototypes-similarity",
        "prototypes, exponential mechanism",
        {8, 16, 64, 256},
        {64},
        posterior(privacy::PrototypeRule::similarity)},
       {"direction-laplace", "direction, Laplace", {1, 2, 4, 8}, {2}, direction(privacy::NoiseKind::laplace)},
       {"direction-gaussian",
        "direction, Gaussian",
        {1, 2, 4, 8},
        {},
        direction(privacy::NoiseKind::gaussian)}});
  return table;
}

Result<const ComparedEntry*> find_compared(const std::vector<ComparedEntry>& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const ComparedEntry& entry) { return entry.name == name; });
  if (found == table.end()) return bad_input("no mechanism is called {}", name);
  return &*found;
}

std::string description_of(const std::string& mechanism) {
  static const auto table = compared_mechanisms();
  const auto entry = find_compared(table, mechanism);
  return entry ? (*entry)->description : mechanism;
}

Result<std::unique_ptr<ComparedMechanism>> make_mechanism(const MechanismChoice& choice,
                                                          const PublicKnowledge& known, std::uint64_t seed) {
  const auto table = compared_mechanisms();
  SOTTO_TRY(const auto* entry, find_compared(table, choice.mechanism));
  return entry->make(choice, known, seed);
}

Result<AnswerPrivacy> privacy_of(const std::optional<privacy::PrivacyEvent>& event, double claimed) {
  AnswerPrivacy privacy{std::nullopt, 0, claimed};
  if (!event) return privacy;
  if (const auto* pure = std::get_if<privacy::PureDp>(&event->mechanism)) {
    privacy.epsilon = pure->epsilon;
  } else if (const auto* response = std::get_if<privacy::RandomisedResponse>(&event->mechanism)) {
    privacy.epsilon = response->epsilon;
  } else if (const auto* gaussian = std::get_if<privacy::GaussianNoise>(&event->mechanism)) {
    SOTTO_TRY(privacy.epsilon, privacy::true_gaussian_epsilon(gaussian->noise_multiplier, gaussian_delta));
    privacy.delta = gaussian_delta;
  } else {
    return failed("no epsilon is known here for {}", privacy::describe(event->mechanism));
  }
  return privacy;
}

Result<Rows> BelievedAnswers::serve(const Rows&, const Rows& readers, std::uint64_t seed) const {
  SOTTO_TRY(auto rows, answers(readers, seed));
  return mixed_with_average(std::move(rows), known_.average, weight_);
}

Status BelievedAnswers::choose_weight(std::uint64_t seed) {
  const auto answer = [&](const Rows&, const Rows& readers, std::uint64_t draw) {
    return answers(readers, draw);
  };
  SOTTO_TRY(weight_, best_weight(known_, answer, seed));
  return {};
}

privacy::MechanismSettings settings_for(double epsilon) {
  privacy::MechanismSettings settings;
  if (std::isfinite(epsilon)) settings.epsilon = epsilon;
  return settings;
}

}  // namespace sotto::eval::private_serving
