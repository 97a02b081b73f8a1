#include "secagg/shared/masks.h"

#include <sodium.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "bench/benchmarks.h"

namespace sotto::bench {

namespace {

constexpr std::size_t vector_entries = std::size_t{1} << 20;
constexpr std::size_t mask_count = 16;

// The stream of one mask, all of it.
template <class Word>
std::vector<Word> whole_stream(const secagg::Key& key) {
  std::vector<Word> words(vector_entries);
  secagg::read_stream(key, 0, {reinterpret_cast<std::uint8_t*>(words.data()), vector_entries * sizeof(Word)});
  return words;
}

template <class Word>
Status check_against_plain_loop(const std::vector<secagg::Mask>& masks) {
  std::vector<Word> fused(vector_entries), plain(vector_entries);
  SOTTO_CHECK(secagg::apply_masks(masks, 0, std::span(fused)));
  for (const secagg::Mask& mask : masks) {
    const auto stream = whole_stream<Word>(mask.key);
    for (std::size_t i = 0; i < vector_entries; ++i) {
      plain[i] = static_cast<Word>(mask.subtract ? plain[i] - stream[i] : plain[i] + stream[i]);
    }
  }
  if (fused != plain) return failed("masking differs from the plain loop");
  return {};
}

// Bytes per second: pass() handles `bytes` of stream each time.
template <class Pass>
Result<double> rate(double seconds, double bytes, Pass pass) {
  SOTTO_CHECK(pass());  // first touch
  double done = 0, elapsed = 0;
  const double start = thread_seconds();
  while (elapsed < seconds) {
    SOTTO_CHECK(pass());
    done += bytes;
    elapsed = thread_seconds() - start;
  }
  return done / elapsed;
}

Result<double> raw_rate(const secagg::Key& key, double seconds) {
  constexpr std::array<std::uint8_t, crypto_stream_chacha20_ietf_NONCEBYTES> nonce{};
  std::array<std::uint8_t, 8192> block;
  constexpr int blocks = 512;
  return rate(seconds, double{blocks} * block.size(), [&]() -> Status {
    for (int i = 0; i < blocks; ++i) {
      crypto_stream_chacha20_ietf(block.data(), block.size(), nonce.data(), key.data());
    }
    return {};
  });
}

template <class Word>
Result<BenchRow> row(const std::vector<secagg::Mask>& masks, double seconds) {
  SOTTO_CHECK(check_against_plain_loop<Word>(masks));
  std::vector<Word> vector(vector_entries);
  // In turns, so that whatever else the machine does falls on both.
  double ours = 0, raw = 0;
  constexpr int turns = 4;
  for (int turn = 0; turn < turns; ++turn) {
    SOTTO_TRY(const double masked,
              rate(seconds / 2 / turns, double{mask_count} * vector_entries * sizeof(Word),
                   [&] { return secagg::apply_masks(masks, 0, std::span(vector)); }));
    SOTTO_TRY(const double bare, raw_rate(masks[0].key, seconds / 2 / turns));
    ours = std::max(ours, masked);
    raw = std::max(raw, bare);
  }
  return BenchRow{.name = fmt::format("masks, {}-bit words", 8 * sizeof(Word)),
                  .ours = ours / 1e9,
                  .baseline = raw / 1e9,
                  .ratio = ours / raw,
                  .unit = "GB/s/core",
                  .against = "libsodium's bare ChaCha20"};
}

}  // namespace

Result<std::vector<BenchRow>> bench_masks(double seconds) {
  SecureRandom random;
  std::vector<secagg::Mask> masks;
  for (std::size_t i = 0; i < mask_count; ++i) masks.push_back({secagg::Key::random(random), i % 2 == 1});
  std::vector<BenchRow> rows;
  SOTTO_TRY(rows.emplace_back(), row<std::uint8_t>(masks, seconds));
  SOTTO_TRY(rows.emplace_back(), row<std::uint16_t>(masks, seconds));
  SOTTO_TRY(rows.emplace_back(), row<std::uint32_t>(masks, seconds));
  SOTTO_TRY(rows.emplace_back(), row<std::uint64_t>(masks, seconds));
  return rows;
}

}  // namespace sotto::bench
