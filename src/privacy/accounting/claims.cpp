#include "privacy/accounting/claims.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "privacy/accounting/account.h"
#include "privacy/accounting/datasheet.h"
#include "privacy/accounting/default_plans.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto::privacy {

namespace {

constexpr double claim_delta = 1e-6;

// Trainable numbers of the FedNewsRec model with frozen word vectors.
std::uint64_t fednewsrec_size() {
  constexpr std::uint64_t word = 300, wide = 400, window = 3, hidden = 200;
  constexpr std::uint64_t convolution = word * window * wide + wide;
  constexpr std::uint64_t self_attention = 3 * wide * wide;
  constexpr std::uint64_t pooling = wide * hidden + hidden + hidden;
  constexpr std::uint64_t gru = 3 * (2 * wide * wide + wide);
  return convolution + 2 * self_attention + 3 * pooling + gru;
}

Result<Claim> fednewsrec() {
  constexpr double clip = 0.005, scale = 0.015, rate = 0.02, rounds = 1500;
  const double per_coordinate = 2 * clip / scale;
  const auto size = fednewsrec_size();
  const auto uploads = static_cast<std::uint64_t>(rate * rounds);
  const double one_upload = per_coordinate * static_cast<double>(size);
  const PrivacyEvent coordinates{LaplaceNoise{1 / per_coordinate}, Adjacency::replace_one, Unit::user,
                                 NoSampling{}, size * uploads};
  SOTTO_TRY(const Guarantee all, account({&coordinates, 1}, claim_delta, Method::rdp, Adversary::server));
  return Claim{
      "FedNewsRec",
      "gradient upload, clip 0.005, Laplace 0.015",
      per_coordinate,
      std::nullopt,
      0,
      Unit::user,
      Adversary::server,
      {fmt::format("ε = 2δ/λ holds for one coordinate; an upload has {} of them: pure ε {:.3g}.", size,
                   one_upload),
       fmt::format("A user uploads about {} times: ε {:.3g} at δ {:g} of the noised gradients alone.",
                   uploads, all.epsilon, claim_delta),
       "The number of a user's behaviours travels beside them in the clear: nothing holds for a user."}};
}

Claim efficient_fedrec() {
  return Claim{"Efficient-FedRec",
               "union of news sets and summed gradients under secure aggregation",
               std::nullopt,
               std::nullopt,
               0,
               Unit::user,
               Adversary::server,
               {"Secure aggregation hides who sent what, not what the sum says: no noise, no ε.",
                "Most items of a union are held by one client, so its gradient for them is in the clear.",
                "Which items are in the union is itself a release, and a plain threshold is not DP."}};
}

// Laplace noise for L1 sensitivity `assumed` where it is `actual`, before padding with probability p.
double after_padding(double claimed, double padding, double sensitivity_ratio) {
  const double before = std::log((std::exp(claimed) - padding) / (1 - padding));
  return amplify({before * sensitivity_ratio, 0}, 1 - padding).epsilon;
}

std::vector<Claim> privaterec() {
  constexpr double claimed = 10, padding = 0.2, basis = 3, shown = 37, negatives = 4, width = 400;
  // θ is in an appendix that is not public; for θ ≤ √(2/B) the L1 sensitivity is √(2B)·θ.
  const double ratio = std::sqrt(2 * basis);
  const double serving = after_padding(claimed, padding, ratio);
  const double label_limit = std::log((shown - 1) / negatives);
  return {
      Claim{"PrivateRec",
            "one serving query, B = 3, p = 0.2, ε_s = 10",
            claimed,
            serving,
            0,
            Unit::click,
            Adversary::server,
            {fmt::format("Coefficients clipped to L2 norm θ lie up to √(2B)·θ apart in L1, not θ: {:.3g} "
                         "times less noise than needed.",
                         ratio),
             fmt::format("With the padding's amplification one query costs {:.4g}.", serving),
             fmt::format("Queries compose: ten of them cost {:.4g}.", 10 * serving)}},
      Claim{
          "PrivateRec",
          "training, ε_t = 10",
          claimed,
          std::nullopt,
          0,
          Unit::click,
          Adversary::server,
          {"Noise in the forward pass does not cover the gradients below it, computed from the raw history.",
           "The click is always among the k + 1 items sent: the item set leaks it.",
           fmt::format("Below ε {:.3g} (C = 37, k = 4) even the label ratio exceeds e^ε; each impression "
                       "reuses the history.",
                       label_limit)}},
      Claim{"PrivateRec's DP-FedRec baseline",
            "one query with a perturbed user embedding (VDP), ε_s = 10",
            claimed,
            claimed * std::sqrt(width),
            0,
            Unit::click,
            Adversary::server,
            {"Laplace noise needs an L1 clip; the baseline clips the L2 norm.",
             fmt::format("In {} dimensions that is a factor √{} = {:.3g}.", width, width, std::sqrt(width)),
             "Its noise also carries a (1 − p) although nothing is padded."}},
  };
}

Result<std::vector<Claim>> dp_privrec() {
  constexpr std::uint64_t rounds = 1000, cohort = 30, population = 4800;
  SOTTO_TRY(const PaperCell cell, privrec_cell(3, cohort, claim_delta));
  const double average = static_cast<double>(rounds * cohort) / static_cast<double>(population);
  const auto participations = static_cast<std::uint64_t>(std::ceil(average));
  const PrivacyEvent seen{GaussianNoise{1}, Adjacency::replace_one, Unit::user, NoSampling{}, participations};
  SOTTO_TRY(const Guarantee server, account_best({&seen, 1}, claim_delta, Adversary::server));
  const PrivacyEvent always{GaussianNoise{1}, Adjacency::replace_one, Unit::user, NoSampling{}, rounds};
  SOTTO_TRY(const Guarantee unlucky, account_best({&always, 1}, claim_delta, Adversary::server));
  return std::vector<Claim>{
      Claim{
          "DP-PrivRec",
          "published models, MovieLens, M = 30, z = 1",
          cell.paper,
          cell.best,
          claim_delta,
          Unit::user,
          Adversary::published,
          {fmt::format(
               "The table composes once per client; composing once per round the same bound gives {:.4g}.",
               cell.per_round),
           fmt::format("Loss distributions give {:.4g}, if the noise is z times the sensitivity.", cell.best),
           "The noise is not scaled by the server's step α3, so the true multiplier is z/α3."}},
      Claim{"DP-PrivRec",
            "what the server sees, MovieLens, M = 30, z = 1",
            cell.paper,
            server.epsilon,
            claim_delta,
            Unit::user,
            Adversary::server,
            {"The server picks the cohort: sampling hides nothing from it.",
             fmt::format("A user takes part {:.3g} times on average; {} times cost ε {:.4g}.", average,
                         participations, server.epsilon),
             fmt::format("Nothing caps participations: a user drawn in every round has ε {:.4g}.",
                         unlucky.epsilon)}},
  };
}

}  // namespace

Result<std::vector<Claim>> paper_claims() {
  std::vector<Claim> claims;
  SOTTO_TRY(Claim first, fednewsrec());
  claims.push_back(std::move(first));
  claims.push_back(efficient_fedrec());
  for (auto& claim : privaterec()) claims.push_back(std::move(claim));
  SOTTO_TRY(std::vector<Claim> last, dp_privrec());
  for (auto& claim : last) claims.push_back(std::move(claim));
  return claims;
}

namespace {

// Sums in grid steps, as an encoding of 18 bits or more makes them: the grid hardly matters.
constexpr double grid_sensitivity = 1000;

SkellamNoise grid_noise(double noise_multiplier) {
  const double sigma = noise_multiplier * grid_sensitivity;
  return {sigma * sigma, grid_sensitivity * grid_sensitivity, grid_sensitivity};
}

// Cohorts drawn without replacement, the budget kept for what is published (against=published).
Result<std::vector<Claim>> own_rounds(const char* recipes, SamplingWithoutReplacement cohorts,
                                      std::uint64_t rounds) {
  TrainingExposure exposure;
  exposure.adjacency = Adjacency::replace_one;
  exposure.sampling = cohorts;
  exposure.rounds = rounds;
  exposure.participation_cap =
      participation_cap_for(own_budget, claim_delta, Adversary::published, cohorts, rounds);
  TwoAdversaries holds;
  SOTTO_TRY(const double noise, smallest_noise(own_budget, [&](double candidate) -> Result<double> {
              exposure.mechanism = grid_noise(candidate);
              SOTTO_TRY(const auto tried, account_training(exposure, claim_delta));
              if (tried.published.epsilon <= own_budget) holds = tried;
              return tried.published.epsilon;
            }));
  const std::string release = fmt::format("training, {} rounds of {} of {} users, asked for ε {:g}", rounds,
                                          cohorts.cohort, cohorts.population, own_budget);
  const std::optional<double> server =
      std::isfinite(holds.server.epsilon) ? std::optional(holds.server.epsilon) : std::nullopt;
  const std::string accounted = fmt::format(
      "Skellam shares in a secure sum, {:.4g} times the sensitivity of a whole user's update.", noise);
  return std::vector<Claim>{
      Claim{recipes,
            release + ": what is published",
            own_budget,
            holds.published.epsilon,
            claim_delta,
            Unit::user,
            Adversary::published,
            {accounted,
             fmt::format("Accounted by {}, the draw of the cohorts included.", name(holds.published.method)),
             "One user is replaced, with everything the user ever does in training."}},
      Claim{recipes,
            release + ": what the server sees",
            std::nullopt,
            server,
            claim_delta,
            Unit::user,
            Adversary::server,
            {accounted,
             fmt::format("The server sees the cohorts; devices take part at most {} times.",
                         std::min(exposure.participation_cap, rounds)),
             "--against server, the default, keeps the budget for this number instead."}}};
}

Result<Claim> own_sums() {
  Guarantee holds;
  SOTTO_TRY(const double noise, smallest_noise(own_budget, [&](double candidate) -> Result<double> {
              const auto release = [](double multiplier) {
                return PrivacyEvent{grid_noise(multiplier), Adjacency::replace_one, Unit::user};
              };
              const std::array both = {release(dp_svd_choose_noise * candidate), release(candidate)};
              SOTTO_TRY(auto tried, account_best(both, claim_delta, Adversary::server));
              if (tried.epsilon <= own_budget) holds = tried;
              return tried.epsilon;
            }));
  return Claim{
      "Sotto: dp-svd",
      fmt::format("two sums over everybody, asked for ε {:g}", own_budget),
      own_budget,
      holds.epsilon,
      claim_delta,
      Unit::user,
      Adversary::server,
      {fmt::format("Skellam shares, {:.4g} times the sensitivity on pairs, {:g} times that on counts.", noise,
                   dp_svd_choose_noise),
       fmt::format("Both releases are composed before anything is converted, by {}.", name(holds.method)),
       "Nobody is sampled: the same number holds for what is published."}};
}

Claim own_answer() {
  return Claim{
      "Sotto: sotto, sotto serve",
      fmt::format("one answer, one of K public prototypes, asked for ε {:g}", own_budget),
      own_budget,
      own_budget,
      0,
      Unit::user,
      Adversary::server,
      {"k-ary randomised response: ε holds for the whole history, whatever the prototypes.",
       "Answers compose; the device's ledger charges each before it is sent.",
       "Prototypes come from the items alone, unless the demand was released, which is charged too."}};
}

}  // namespace

Result<std::vector<Claim>> own_claims() {
  std::vector<Claim> claims;
  const auto add = [&](Result<std::vector<Claim>> more) -> Status {
    if (!more) return tl::unexpected(std::move(more).error());
    for (auto& claim : *more) claims.push_back(std::move(claim));
    return {};
  };
  SOTTO_CHECK(add(own_rounds("Sotto: sotto", {10'000, 20'000}, 30)));
  SOTTO_CHECK(add(
      own_rounds("Sotto: fednewsrec, efficient-fedrec, privaterec, dp-fedrec (sound)", {50, 20'000}, 100)));
  SOTTO_CHECK(add(own_rounds("Sotto: dp-privrec (sound)", {100, 4'800}, 100)));
  SOTTO_TRY(Claim sums, own_sums());
  claims.push_back(std::move(sums));
  claims.push_back(own_answer());
  return claims;
}

namespace {

struct PrintedRow {
  std::uint64_t cohort;
  std::array<double, 3> epsilon;
};
struct PrintedTable {
  int number;
  std::uint64_t population;
  std::array<PrintedRow, 6> rows;
};

constexpr std::array<double, 3> table_deltas = {1e-8, 1e-6, 1e-4};
constexpr std::uint64_t table_rounds = 1000;
constexpr double table_noise_multiplier = 1;
constexpr std::array<PrintedTable, 2> printed_tables = {{
    {3,
     4800,
     {{{5, {1.7439, 1.3602, 0.9764}},
       {10, {3.2117, 2.7511, 2.2535}},
       {15, {5.9705, 5.2030, 4.3074}},
       {20, {9.4736, 8.3223, 6.9235}},
       {25, {13.7047, 12.1696, 10.2052}},
       {30, {18.9107, 16.6081, 14.3056}}}}},
    {4,
     760,
     {{{2, {2.2994, 1.8388, 1.3783}},
       {5, {7.4618, 6.5408, 5.3932}},
       {8, {16.2853, 14.3169, 12.0143}},
       {10, {23.7651, 21.4626, 18.6182}},
       {12, {34.5025, 30.0690, 25.4638}},
       {15, {50.1537, 45.5485, 40.9433}}}}},
}};

// The paper's accountant: the without-replacement bound at integer orders 2 to 256, classical conversion.
double classical_epsilon(double fraction, double compositions, double delta,
                         double noise_multiplier = table_noise_multiplier) {
  const auto unsampled = [&](double order) { return order / (2 * noise_multiplier * noise_multiplier); };
  double best = infinity;
  for (std::uint64_t alpha = 2; alpha <= 256; ++alpha) {
    const double curve = compositions * rdp_without_replacement(fraction, unsampled, infinity, alpha);
    best = std::min(best, curve - std::log(delta) / static_cast<double>(alpha - 1));
  }
  return best;
}

double cut_to_four_digits(double value) { return std::floor(value * 1e4) / 1e4; }

Result<PaperCell> computed_cell(const PrintedTable& table, const PrintedRow& row, std::size_t column) {
  const double delta = table_deltas[column];
  const double fraction = static_cast<double>(row.cohort) / static_cast<double>(table.population);
  const PrivacyEvent training{GaussianNoise{table_noise_multiplier}, Adjacency::replace_one, Unit::user,
                              SamplingWithoutReplacement{row.cohort, table.population}, table_rounds};
  PaperCell cell{table.number, row.cohort, table.population, delta, row.epsilon[column]};
  cell.computed = classical_epsilon(fraction, static_cast<double>(table_rounds * row.cohort), delta);
  cell.reproduced = cut_to_four_digits(cell.computed);
  cell.per_round = classical_epsilon(fraction, static_cast<double>(table_rounds), delta);
  SOTTO_TRY(const Guarantee best, account_best({&training, 1}, delta, Adversary::published));
  cell.best = best.epsilon;
  cell.best_method = best.method;
  return cell;
}

}  // namespace

Result<std::vector<PaperCell>> privrec_tables() {
  std::vector<PaperCell> cells;
  for (const auto& table : printed_tables) {
    for (const auto& row : table.rows) {
      for (std::size_t column = 0; column < table_deltas.size(); ++column) {
        SOTTO_TRY(PaperCell cell, computed_cell(table, row, column));
        cells.push_back(cell);
      }
    }
  }
  return cells;
}

double privrec_claimed_epsilon(double noise_multiplier, std::uint64_t cohort, std::uint64_t population,
                               std::uint64_t rounds, double delta) {
  return classical_epsilon(static_cast<double>(cohort) / static_cast<double>(population),
                           static_cast<double>(rounds) * static_cast<double>(cohort), delta,
                           noise_multiplier);
}

Result<PaperCell> privrec_cell(int table, std::uint64_t cohort, double delta) {
  for (const auto& printed : printed_tables) {
    for (const auto& row : printed.rows) {
      for (std::size_t column = 0; column < table_deltas.size(); ++column) {
        if (printed.number == table && row.cohort == cohort && table_deltas[column] == delta) {
          return computed_cell(printed, row, column);
        }
      }
    }
  }
  return bad_input("DP-PrivRec prints no cell for table {}, cohort {}, delta {}", table, cohort, delta);
}

}  // namespace sotto::privacy
