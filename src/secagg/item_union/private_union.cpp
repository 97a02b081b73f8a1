#include "secagg/item_union/private_union.h"

#include <string.h>

#include <algorithm>
#include <cmath>

#include "privacy/accounting/account.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "privacy/mechanisms/partition_selection.h"
#include "secagg/item_union/item_set.h"
#include "secagg/vectors/bit_packing.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::secagg {

Result<CounterLayout> CounterLayout::one_per_item(std::uint64_t catalogue) {
  SOTTO_CHECK(require_catalogue(catalogue));
  return CounterLayout(catalogue, std::nullopt);
}

Result<CounterLayout> CounterLayout::hashed(std::uint64_t catalogue, const Hashed& hashed) {
  SOTTO_CHECK(require_catalogue(catalogue));
  SOTTO_CHECK(privacy::require_at_least(hashed.rows, 1, "rows of counters"));
  SOTTO_CHECK(privacy::require_at_least(hashed.counters, 1, "counters in a row"));
  if (hashed.rows > 16) return bad_input("{} rows of counters: more than 16 only add noise", hashed.rows);
  return CounterLayout(catalogue, hashed);
}

std::uint64_t CounterLayout::counter_of(std::uint32_t item, std::uint32_t row) const {
  if (!hashed_) return item;
  const auto words = hash_item(hashed_->seed, HashUse::buckets, item, row / 4);
  return std::uint64_t{row} * hashed_->counters + scale_below(words[row % 4], hashed_->counters);
}

std::vector<std::uint64_t> CounterLayout::counters_of(std::span<const std::uint32_t> items) const {
  std::vector<std::uint64_t> counters;
  counters.reserve(items.size() * rows());
  for (const std::uint32_t item : items) {
    for (std::uint32_t row = 0; row < rows(); ++row) counters.push_back(counter_of(item, row));
  }
  std::sort(counters.begin(), counters.end());
  counters.erase(std::unique(counters.begin(), counters.end()), counters.end());
  return counters;
}

namespace {

double sensitivity_of(const PrivateUnion::Settings& settings, std::uint32_t rows) {
  const double touched = static_cast<double>(settings.cap) * rows;
  return std::sqrt(settings.adjacency == privacy::Adjacency::replace_one ? 2 * touched : touched);
}

}  // namespace

PrivateUnion::PrivateUnion(const CounterLayout& layout, const Settings& settings, privacy::NoiseShare share,
                           Modulus modulus)
    : layout_(layout),
      settings_(settings),
      share_(std::move(share)),
      modulus_(modulus),
      row_noise_(noise_of(share_, settings.devices)) {
  const NoiseSum all_rows{row_noise_.kind, row_noise_.variance * layout.rows()};
  const double log_each =
      std::log(settings.expected_false_positives) - std::log(static_cast<double>(layout.catalogue()));
  sum_threshold_ = log_each < 0 ? std::max<std::int64_t>(1, height_with_tail(all_rows, log_each)) : 1;
  row_threshold_ = static_cast<std::int64_t>(std::floor(threshold() - std::sqrt(row_noise_.variance)));
}

Result<PrivateUnion> PrivateUnion::create(const CounterLayout& layout, const Settings& settings) {
  SOTTO_CHECK(privacy::require_at_least(settings.cap, 1, "cap on items per user"));
  SOTTO_CHECK(privacy::require_at_least(settings.devices, 1, "number of devices"));
  SOTTO_CHECK(privacy::require_positive(settings.noise_multiplier, "noise multiplier"));
  SOTTO_CHECK(
      privacy::require_positive(settings.expected_false_positives, "expected number of false positives"));
  const double sensitivity = sensitivity_of(settings, layout.rows());
  SOTTO_TRY(auto share, privacy::NoiseShare::create({.kind = settings.noise,
                                                     .central_sigma = settings.noise_multiplier * sensitivity,
                                                     .l2_sensitivity = sensitivity,
                                                     .dimension = layout.counters(),
                                                     .devices = settings.devices,
                                                     .dropped = settings.dropped,
                                                     .corrupted = settings.corrupted,
                                                     .adjacency = settings.adjacency}));
  SOTTO_TRY(const Modulus modulus, choose_modulus({.devices = settings.devices,
                                                   .entry_bound = 1,
                                                   .dimension = layout.counters(),
                                                   .noise = noise_of(share, settings.devices),
                                                   .log2_wrap_probability = settings.log2_wrap_probability}));
  return PrivateUnion(layout, settings, std::move(share), modulus);
}

Result<std::vector<std::uint32_t>> PrivateUnion::encode(std::span<const std::uint32_t> items,
                                                        privacy::DeviceRandom random) const {
  SOTTO_TRY(const auto distinct, distinct_items(items, layout_.catalogue()));
  std::vector<std::int32_t> counts(layout_.counters());
  for (const std::uint64_t counter :
       layout_.counters_of(privacy::cap_items(distinct, settings_.cap, random))) {
    counts[counter] = 1;
  }
  std::vector<std::uint32_t> entries = noisy_entries(counts, &share_, modulus_, random);
  explicit_bzero(counts.data(), counts.size() * sizeof(std::int32_t));
  return entries;
}

Result<std::vector<std::uint32_t>> PrivateUnion::decode(std::span<const std::uint32_t> sum) const {
  SOTTO_CHECK(privacy::require_length(sum.size(), layout_.counters(), "the sum of the counts"));
  std::vector<std::uint32_t> named;
  for (std::uint64_t item = 0; item < layout_.catalogue(); ++item) {
    std::int64_t total = 0;
    bool every_row = true;
    for (std::uint32_t row = 0; row < layout_.rows() && every_row; ++row) {
      const std::int64_t count =
          modulus_.centre(sum[layout_.counter_of(static_cast<std::uint32_t>(item), row)]);
      every_row = count >= row_threshold_;
      total += count;
    }
    if (every_row && total >= sum_threshold_) named.push_back(static_cast<std::uint32_t>(item));
  }
  return named;
}

Result<privacy::Guarantee> PrivateUnion::guarantee(double delta) const {
  const privacy::PrivacyEvent released = event();
  return privacy::account_best(std::span(&released, 1), delta, privacy::Adversary::server);
}

double PrivateUnion::threshold() const { return static_cast<double>(sum_threshold_) / layout_.rows(); }

double PrivateUnion::false_positive_bound(std::uint64_t held) const {
  const auto catalogue = static_cast<double>(layout_.catalogue());
  if (!layout_.shares_counters()) return settings_.expected_false_positives;
  // A row of an item nobody holds passes by a collision (q) or by noise (p); some row collides.
  const double q = -std::expm1(static_cast<double>(held) *
                               std::log1p(-1 / static_cast<double>(layout_.counters_per_row())));
  const double p =
      row_threshold_ <= 0 ? 1 : std::exp(log_tail_bound(row_noise_, static_cast<double>(row_threshold_)));
  const double rows = layout_.rows();
  const double collided = std::pow(q + (1 - q) * p, rows) - std::pow((1 - q) * p, rows);
  return settings_.expected_false_positives + catalogue * collided;
}

std::size_t PrivateUnion::bytes_per_device() const {
  return packed_bytes(layout_.counters(), modulus_.bits());
}

}  // namespace sotto::secagg
