#include "privacy/noise/binned_sampler.h"

#include <string.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "privacy/noise/binned_kernels.h"

namespace sotto::privacy {

namespace {

constexpr unsigned slot_capacity_bits = 48;  // of one slot of the alias table
constexpr std::uint64_t slot_capacity = std::uint64_t{1} << slot_capacity_bits;

std::uint64_t floor_of(DoubleDouble value) {  // 0 <= value < 2^63
  const double whole = std::floor(value.hi);
  const double rest = std::floor((value.hi - whole) + value.lo);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole) + static_cast<std::int64_t>(rest));
}

}  // namespace

BinnedSampler::BinnedSampler(std::shared_ptr<const LatticeLaw> law, SamplerKernel kernel)
    : law_(std::move(law)), kernel_(supported(kernel) ? kernel : SamplerKernel::scalar) {
  make_bins();
  make_alias_table();
}

std::int32_t BinnedSampler::offset_of(std::size_t bin) const {
  return (static_cast<std::int32_t>(bin) - half_bins_) * (std::int32_t{1} << low_bits_);
}

void BinnedSampler::make_bins() {
  const std::int64_t reach = law_->reach();
  constexpr auto most_half_bins = static_cast<std::int64_t>(slots / 2 - 1);
  while (((reach - 1) >> low_bits_) + 1 > most_half_bins) ++low_bits_;
  half_bins_ = static_cast<std::int32_t>(((reach - 1) >> low_bits_) + 1);
  const auto width = std::int64_t{1} << low_bits_;
  const std::size_t count = 2 * static_cast<std::size_t>(half_bins_);

  // The weight is largest at the end of a bin that is nearer to zero: bin -k-1 holds -(k·2^b) - 1 ...
  // -(k+1)·2^b.
  std::vector<DoubleDouble> largest(count);
  DoubleDouble total = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t first = offset_of(i);
    largest[i] = law_->precise_weight(first >= 0 ? first : first + width - 1);
    total = total + largest[i];
  }
  if (law_->memoryless()) {  // beyond the bins: x >= L and x <= -L-1, a geometric series each
    const std::int64_t end = half_bins_ * width;
    const DoubleDouble ratio = law_->precise_weight(1);
    tail_weight_ = law_->precise_weight(end) * (DoubleDouble(1.0) + ratio) / (DoubleDouble(1.0) - ratio) /
                   DoubleDouble(static_cast<double>(width));
    total = total + tail_weight_;
  }
  scale_ = std::ldexp(1 - 0x1.0p-44, slot_bits + slot_capacity_bits) / total.hi;

  bins_.resize(count + 2);
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t first = offset_of(i);
    Bin& bin = bins_[i];
    bin.weight = floor_of(DoubleDouble(scale_) * largest[i]) + 1;
    used += bin.weight;
    const double smallest = law_->weight(first >= 0 ? first + width - 1 : first);
    const double lower_bound = scale_ * smallest / static_cast<double>(bin.weight) * (1 - 0x1.0p-30);
    bin.quick_accept = static_cast<std::uint32_t>(std::min(65535.0, lower_bound * 65536));
  }
  bins_[count].weight = law_->memoryless() ? floor_of(DoubleDouble(scale_) * tail_weight_) + 1 : 0;
  used += bins_[count].weight;
  bins_[count + 1].weight = (slot_capacity << slot_bits) - used;  // start again
}

// Vose's construction in integers: slot i keeps bin i below its threshold and gives the rest to one other
// bin.
void BinnedSampler::make_alias_table() {
  std::array<std::uint64_t, slots> left{};
  for (std::size_t i = 0; i < bins_.size(); ++i) left[i] = bins_[i].weight;
  std::vector<std::size_t> poor, rich;
  for (std::size_t i = 0; i < slots; ++i) (left[i] < slot_capacity ? poor : rich).push_back(i);

  const auto accept_of = [&](std::size_t i) {
    return std::uint64_t{i < bins_.size() ? bins_[i].quick_accept : 0};
  };
  const auto store = [&](std::size_t slot, std::uint64_t threshold, std::size_t alias) {
    threshold_low_[slot] = static_cast<std::uint32_t>(threshold);
    slots_[slot] = (threshold >> 32) | std::uint64_t{alias} << binned::entry_alias |
                   accept_of(slot) << binned::entry_own_accept |
                   accept_of(alias) << binned::entry_alias_accept;
  };
  while (!poor.empty() && !rich.empty()) {
    const std::size_t slot = poor.back(), giver = rich.back();
    poor.pop_back();
    store(slot, left[slot], giver);
    left[giver] -= slot_capacity - left[slot];
    if (left[giver] < slot_capacity) {
      rich.pop_back();
      poor.push_back(giver);
    }
  }
  // The weights sum to exactly the capacity of all slots, so what remains is exactly full: its own alias.
  for (const std::size_t slot : rich) store(slot, 0, slot);
}

bool BinnedSampler::accept(std::uint32_t first_bits, const Bin& bin, bool is_tail, std::int64_t x,
                           RandomSource& random) const {
  // U = first_bits/2^16 + second/2^80 + third/2^144.
  const std::uint64_t second = random();
  const auto weight = static_cast<double>(bin.weight);
  const double known = std::ldexp(first_bits, -16) + std::ldexp(static_cast<double>(second), -80);
  const double wanted = scale_ * (is_tail ? tail_weight_.hi : law_->weight(x)) / weight;
  constexpr double safety_margin = 0x1.0p-36;
  if ((known + 0x1.0p-79) * (1 + safety_margin) < wanted) return true;
  if (known * (1 - safety_margin) > wanted) return false;

  const std::uint64_t third = random();
  DoubleDouble u = std::ldexp(first_bits, -16);
  u = u + DoubleDouble(std::ldexp(static_cast<double>(second >> 32), -48));
  u = u + DoubleDouble(std::ldexp(static_cast<double>(second & 0xffffffff), -80));
  u = u + DoubleDouble(std::ldexp(static_cast<double>(third >> 32), -112));
  u = u + DoubleDouble(std::ldexp(static_cast<double>(third & 0xffffffff), -144));
  // W has at most 60 bits: two exact halves.
  const DoubleDouble whole = DoubleDouble(std::ldexp(static_cast<double>(bin.weight >> 32), 32)) +
                             DoubleDouble(static_cast<double>(bin.weight & 0xffffffff));
  return u * whole < DoubleDouble(scale_) * (is_tail ? tail_weight_ : law_->precise_weight(x));
}

std::int32_t BinnedSampler::resolve(std::uint64_t word, RandomSource& random) const {
  const std::size_t tail = bins_.size() - 2;
  std::int64_t beyond_positive = 0;  // distance added by the tail, towards the sign of the final draw
  for (;; word = random()) {
    const std::size_t slot = word & binned::slot_bits_mask;
    const std::uint64_t entry = slots_[slot];
    const std::uint64_t bits = (word >> binned::threshold_at) & 0xffff;
    bool own = bits < (entry & 0xffff);
    if (bits == (entry & 0xffff)) own = static_cast<std::uint32_t>(random()) < threshold_low_[slot];
    const std::size_t index = own ? slot : (entry >> binned::entry_alias) & binned::slot_bits_mask;
    if (index > tail) continue;
    const Bin& bin = bins_[index];
    const auto first_bits = static_cast<std::uint32_t>((word >> binned::accept_at) & 0xffff);
    if (index == tail) {
      // Given the tail, what lies beyond ±L has the law itself: x = L + y for y >= 0, x = y - L for y < 0.
      if (accept(first_bits, bin, true, 0, random))
        beyond_positive += half_bins_ * (std::int64_t{1} << low_bits_);
      continue;
    }
    const std::int64_t x = offset_of(index) + static_cast<std::int64_t>((word >> 1) >> (63 - low_bits_));
    if (first_bits >= bin.quick_accept && !accept(first_bits, bin, false, x, random)) continue;
    const std::int64_t value = x >= 0 ? x + beyond_positive : x - beyond_positive;
    // 2^31 is more than a thousand scales away: never reached, but defined.
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, std::numeric_limits<std::int32_t>::min(),
                                                              std::numeric_limits<std::int32_t>::max()));
  }
}

void BinnedSampler::fill_chunk(std::span<std::int32_t> out, RandomSource& random) const {
  std::array<std::uint64_t, chunk_entries> words;
  std::array<std::uint16_t, chunk_entries + 1> undecided;
  std::array<std::int32_t, chunk_entries> values;
  const std::size_t padded = (out.size() + 7) / 8 * 8;
  random.fill(std::span(words).first(out.size()));
  std::fill(words.begin() + static_cast<std::ptrdiff_t>(out.size()),
            words.begin() + static_cast<std::ptrdiff_t>(padded), 0);
  const binned::Table table{slots_.data(), half_bins_, low_bits_};
  auto* kernel = kernel_ == SamplerKernel::avx512 ? binned::avx512
                 : kernel_ == SamplerKernel::avx2 ? binned::avx2
                                                  : binned::scalar;
  const std::size_t open = kernel(table, words.data(), padded, values.data(), undecided.data());
  for (std::size_t i = 0; i < open && undecided[i] < out.size(); ++i) {
    values[undecided[i]] = resolve(words[undecided[i]], random);
  }
  std::copy_n(values.begin(), out.size(), out.begin());
  explicit_bzero(words.data(), padded * sizeof words[0]);
  explicit_bzero(values.data(), padded * sizeof values[0]);
}

void BinnedSampler::fill(std::span<std::int32_t> out, RandomSource& random) const {
  for (; !out.empty(); out = out.subspan(std::min(chunk_entries, out.size()))) {
    fill_chunk(out.first(std::min(chunk_entries, out.size())), random);
  }
}

void BinnedSampler::fill(std::span<std::int64_t> out, RandomSource& random) const {
  std::array<std::int32_t, chunk_entries> narrow;
  for (; !out.empty(); out = out.subspan(std::min(chunk_entries, out.size()))) {
    const auto chunk = std::span(narrow).first(std::min(chunk_entries, out.size()));
    fill_chunk(chunk, random);
    std::copy(chunk.begin(), chunk.end(), out.begin());
  }
  explicit_bzero(narrow.data(), sizeof narrow);
}

}  // namespace sotto::privacy
