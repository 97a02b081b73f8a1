#pragma once
// Randomness is always a parameter. SecureRandom is for devices and keys; SeededRandom is for simulation,
// where a draw is addressed by (seed, purpose, round, user, index) and therefore depends on neither threads
// nor batch order. Tests may implement RandomSource with a counting fake.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace sotto {

class RandomSource {
 public:
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  virtual ~RandomSource() = default;
  // Fills all of `out` with independent uniform 64-bit words.
  virtual void fill(std::span<std::uint64_t> out) = 0;

  // One word, served from a small buffer.
  std::uint64_t operator()() {
    if (next_ == buffer_.size()) {
      fill(buffer_);
      next_ = 0;
    }
    const std::uint64_t word = buffer_[next_];
    buffer_[next_++] = 0;  // a used word must not stay in memory
    return word;
  }

 protected:
  void discard_buffer();  // wipes it; the next word comes from fill()

 private:
  std::array<std::uint64_t, 32> buffer_{};
  std::size_t next_ = 32;
};

// ChaCha20 keyed by the kernel (libsodium), with key erasure: after every refill the key is replaced by fresh
// output, so a later compromise of memory does not reveal earlier draws. Rekeys itself after fork(). Without
// libsodium every refill reads the kernel's generator. Not thread-safe: one instance per thread.
class SecureRandom final : public RandomSource {
 public:
  SecureRandom();
  ~SecureRandom() override;
  SecureRandom(const SecureRandom&) = delete;
  SecureRandom& operator=(const SecureRandom&) = delete;
  void fill(std::span<std::uint64_t> out) override;

 private:
  struct Instances;  // all live generators, so that a forked child can wipe what it inherited

  std::array<unsigned char, 32> key_{};
  std::uint64_t nonce_ = 0;
  int owner_pid_ = 0;
};

// What a stream of draws is for. Streams of different purposes never overlap. Values are part of the format
// of resumable runs: append, never renumber.
enum class Purpose : std::uint32_t {
  test = 0,
  cohort_sampling = 1,
  negative_sampling = 2,
  batch_order = 3,
  dropout = 4,
  initialisation = 5,
  split = 6,
  newsroom_world = 7,
  newsroom_user = 8,
  newsroom_news = 9,
  padding = 10,
  noise = 11,
  impression_view = 12,
  rotation = 13,
};

// Philox4x32-10 (Salmon et al. 2011). Key: (seed, purpose) mixed; counter: (round, user, index).
class SeededRandom final : public RandomSource {
 public:
  SeededRandom(std::uint64_t seed, Purpose purpose, std::uint32_t round = 0, std::uint32_t user = 0);
  void fill(std::span<std::uint64_t> out) override;
  // The next fill() starts at this index (in 128-bit blocks).
  void seek(std::uint64_t block);

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t round_;
  std::uint32_t user_;
  std::uint64_t block_ = 0;
};

// The bare Philox4x32-10 function, for known-answer tests.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

}  // namespace sotto
