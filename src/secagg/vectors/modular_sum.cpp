#include "secagg/vectors/modular_sum.h"

#include "base/thread_pool.h"
#include "secagg/vectors/modular_kernels.h"

namespace sotto::secagg {

namespace {

template <class Word>
Status add(std::span<Word> sum, std::span<const Word> entries) {
  if (sum.size() != entries.size()) {
    return bad_input("a vector of {} entries cannot be added to a sum of {}", entries.size(), sum.size());
  }
  add_words(sum.data(), entries.data(), sum.size());
  return {};
}

template <class Word>
void reduce(std::span<Word> entries, Modulus modulus) {
  const auto mask = static_cast<Word>(modulus.mask());
  for (Word& entry : entries) entry &= mask;
}

template <class Word>
Result<std::vector<Word>> sum_of(std::span<const std::vector<Word>> devices, Modulus modulus) {
  if (devices.empty()) return bad_input("a sum over no device");
  if (modulus.bits() > 8 * sizeof(Word)) {
    return bad_input("entries of {} bits cannot be summed modulo 2^{}", 8 * sizeof(Word), modulus.bits());
  }
  const std::size_t length = devices.front().size();
  for (const auto& device : devices) {
    if (device.size() != length) {
      return bad_input("vectors of {} and {} entries cannot be summed", length, device.size());
    }
  }
  std::vector<Word> sum(length);
  constexpr std::size_t chunk = std::size_t{1} << 13;  // stays in the first cache while the devices pass by
  parallel_for(length, chunk, [&](std::size_t begin, std::size_t end) {
    const auto part = std::span(sum).subspan(begin, end - begin);
    for (const auto& device : devices) add_words(part.data(), &device[begin], part.size());
    reduce(part, modulus);
  });
  return sum;
}

}  // namespace

Status add_entries(std::span<std::uint8_t> sum, std::span<const std::uint8_t> entries) {
  return add(sum, entries);
}
Status add_entries(std::span<std::uint16_t> sum, std::span<const std::uint16_t> entries) {
  return add(sum, entries);
}
Status add_entries(std::span<std::uint32_t> sum, std::span<const std::uint32_t> entries) {
  return add(sum, entries);
}
Status add_entries(std::span<std::uint64_t> sum, std::span<const std::uint64_t> entries) {
  return add(sum, entries);
}

void reduce_entries(std::span<std::uint8_t> entries, Modulus modulus) { reduce(entries, modulus); }
void reduce_entries(std::span<std::uint16_t> entries, Modulus modulus) { reduce(entries, modulus); }
void reduce_entries(std::span<std::uint32_t> entries, Modulus modulus) { reduce(entries, modulus); }
void reduce_entries(std::span<std::uint64_t> entries, Modulus modulus) { reduce(entries, modulus); }

Result<std::vector<std::uint32_t>> modular_sum(std::span<const std::vector<std::uint32_t>> devices,
                                               Modulus modulus) {
  return sum_of(devices, modulus);
}
Result<std::vector<std::uint64_t>> modular_sum(std::span<const std::vector<std::uint64_t>> devices,
                                               Modulus modulus) {
  return sum_of(devices, modulus);
}

}  // namespace sotto::secagg
