#include "privacy/accounting/paper_tables.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "privacy/accounting/account.h"
#include "privacy/accounting/log_math.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto {
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

}  // namespace sotto
