#pragma once
// What a trained run may say about privacy, on one page: for people as text, for programs as JSON. A plain
// value.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "privacy/accounting/event.h"

namespace sotto::privacy {

// Two numbers for one training run. The server picks and sees every cohort: against it only the noise counts,
// and the cap on how often one unit may take part. Everyone else sees the published models and not who was
// sampled.
struct TrainingExposure {
  Mechanism mechanism;
  Adjacency adjacency = Adjacency::add_remove;
  Unit unit = Unit::user;
  Sampling sampling = NoSampling{};
  std::uint64_t rounds = 1;
  // A device refuses to take part more often; rounds when there is no cap.
  std::uint64_t participation_cap = 1;
  double total_variation = 0;  // both per use, as in PrivacyEvent
  double log_ratio = 0;
};

struct TwoAdversaries {
  Guarantee server;
  Guarantee published;
};

// Rounds are independent draws, so a cap that is reached disturbs the sampling that amplification assumes.
// chance_that_caps_matter is charged to δ as total variation; where that is too much, and whenever it is
// smaller anyway, the published guarantee is the server's (published models are computed from what the server
// saw).
Result<TwoAdversaries> account_training(const TrainingExposure& exposure, double delta);
// The first of the two alone: in closed form, however many rounds there are.
Result<Guarantee> account_server(const TrainingExposure& exposure, double delta);

// Bounds how often training with caps differs from training without them in a way that tells about a unit
// (docs/privacy/accounting.md has the proof). Without replacement any unit's cap does, because its draws and
// the others' depend on each other: the union over the population. With Poisson sampling the unit's own
// alone.
double chance_that_caps_matter(const Sampling& sampling, std::uint64_t rounds, std::uint64_t cap);

// Probability that a Binomial(rounds, rate) count exceeds the cap: 0 when cap ≥ rounds. Rounded up.
double chance_above_cap(std::uint64_t rounds, double rate, std::uint64_t cap);

// A sum that devices took part in, as far as its privacy goes: enough to run a round of it again under audit.
struct SumRecord {
  std::string of;  // "updates", "item counts"
  double clip = 0, step = 0, noise_multiplier = 0;
  std::optional<double> clip_bit_weight;
  bool nonnegative = false, products = false;
  std::uint64_t devices = 0, dropped = 0, corrupted = 0;
};

struct PrivacyDatasheet {
  std::string recipe;
  std::string mode;         // "paper" or "sound"
  std::string mechanism;    // in words
  std::string sampling;     // how a cohort is drawn
  std::string composition;  // how often one unit is exposed, and by which method that was added up
  Unit unit = Unit::user;
  Adjacency adjacency = Adjacency::replace_one;
  double delta = 0;
  // With secret noise. Nothing: no differential privacy holds against this adversary.
  std::optional<double> epsilon_server, epsilon_published;
  std::optional<double> epsilon_claimed;  // what the paper prints for these settings
  // Of the noised part of all uploads, where another part travels in the clear beside it: no guarantee, and
  // the size of the noise. Nothing: all that is sent is noised, or none of it.
  std::optional<double> epsilon_noised_part;
  // One answer to the server when recommending, for the whole history; nothing: it is not part of this page.
  std::optional<double> epsilon_query;
  double delta_query = 0;  // of that ε
  // The query names one of so many prototypes by k-ary randomised response; nothing: it is another one.
  std::optional<std::uint64_t> query_choices;
  std::vector<SumRecord> sums;  // what one round releases; none without noise that holds
  std::vector<std::string> server_sees, not_protected;
  // The noise follows from the run's seed: whoever has that can take the noise away again.
  bool reproducible = false;
};

// What is said of such a run wherever an ε of it is; nothing of a run with secret noise.
std::optional<std::string> simulation_note(const PrivacyDatasheet& sheet);

// What holds against whom, in two full sentences. For a simulation: what would hold.
std::string in_words(const PrivacyDatasheet& sheet);

std::string to_text(const PrivacyDatasheet& sheet);
std::string to_json(const PrivacyDatasheet& sheet);  // one line
// The same read back. Refuses what no datasheet says.
Result<PrivacyDatasheet> datasheet_from_json(std::string_view text);

}  // namespace sotto::privacy
