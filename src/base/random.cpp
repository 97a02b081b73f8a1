#include "base/random.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/isa.h"

#ifdef SOTTO_HAVE_SODIUM
#include <sodium.h>
#endif

namespace sotto {

namespace {

// Bijective on 64 bits (the finaliser of SplitMix64).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct WideProduct {
  std::uint32_t high, low;
};

WideProduct multiply(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t product = static_cast<std::uint64_t>(a) * b;
  return {static_cast<std::uint32_t>(product >> 32), static_cast<std::uint32_t>(product)};
}

// So many blocks at once fill the registers of every instruction set.
constexpr std::size_t blocks_at_once = 16;

// philox4x32 of the counters (first + j, round, user), two words per block.
SOTTO_MULTIVERSION void philox_blocks(std::uint64_t first, std::uint32_t round, std::uint32_t user,
                                      std::array<std::uint32_t, 2> key, std::uint64_t* out) {
  std::uint32_t a[blocks_at_once], b[blocks_at_once], c[blocks_at_once], d[blocks_at_once];
  for (std::size_t j = 0; j < blocks_at_once; ++j) {
    a[j] = static_cast<std::uint32_t>(first + j);
    b[j] = static_cast<std::uint32_t>((first + j) >> 32);
    c[j] = round;
    d[j] = user;
  }
  for (int i = 0; i < 10; ++i) {
    for (std::size_t j = 0; j < blocks_at_once; ++j) {
      const std::uint64_t x = std::uint64_t{0xD2511F53} * a[j], y = std::uint64_t{0xCD9E8D57} * c[j];
      a[j] = static_cast<std::uint32_t>(y >> 32) ^ b[j] ^ key[0];
      b[j] = static_cast<std::uint32_t>(y);
      c[j] = static_cast<std::uint32_t>(x >> 32) ^ d[j] ^ key[1];
      d[j] = static_cast<std::uint32_t>(x);
    }
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  for (std::size_t j = 0; j < blocks_at_once; ++j) {
    out[2 * j] = a[j] | static_cast<std::uint64_t>(b[j]) << 32;
    out[2 * j + 1] = c[j] | static_cast<std::uint64_t>(d[j]) << 32;
  }
}

}  // namespace

void RandomSource::discard_buffer() {
  next_ = buffer_.size();
  explicit_bzero(buffer_.data(), sizeof buffer_);
}

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const auto first = multiply(0xD2511F53, counter[0]);
    const auto second = multiply(0xCD9E8D57, counter[2]);
    counter = {second.high ^ counter[1] ^ key[0], second.low, first.high ^ counter[3] ^ key[1], first.low};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// For one seed the key is a bijection of the purpose, so purposes never share a stream; mixing the seed first
// keeps neighbouring seeds apart too.
SeededRandom::SeededRandom(std::uint64_t seed, Purpose purpose, std::uint32_t round, std::uint32_t user)
    : round_(round), user_(user) {
  const std::uint64_t key = mix(mix(seed) + static_cast<std::uint64_t>(purpose) * 0x9E3779B97F4A7C15);
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

void SeededRandom::seek(std::uint64_t block) {
  block_ = block;
  discard_buffer();
}

// Every fill starts at a whole block: after an odd number of words the other half of the last block is
// skipped.
void SeededRandom::fill(std::span<std::uint64_t> out) {
  for (; out.size() >= 2 * blocks_at_once; out = out.subspan(2 * blocks_at_once), block_ += blocks_at_once)
    philox_blocks(block_, round_, user_, key_, out.data());
  for (std::size_t i = 0; i < out.size(); i += 2, ++block_) {
    const auto words = philox4x32(
        {static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32), round_, user_}, key_);
    out[i] = words[0] | static_cast<std::uint64_t>(words[1]) << 32;
    if (i + 1 < out.size()) out[i + 1] = words[2] | static_cast<std::uint64_t>(words[3]) << 32;
  }
}

namespace {

// There is no safe way on without randomness, and no caller that could do better than stop.
[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "sotto: %s; refusing to continue without secure randomness\n", what);
  std::abort();
}

void read_kernel(std::span<unsigned char> out) {
  while (!out.empty()) {
    const ssize_t got = getrandom(out.data(), out.size(), 0);
    if (got > 0) {
      out = out.subspan(static_cast<std::size_t>(got));
    } else if (got < 0 && errno != EINTR) {
      stop("the kernel's random generator failed");
    }
  }
}

}  // namespace

// Every live generator of the process. A child of fork() must not repeat what its parent draws, and words
// already buffered are served without calling fill(), so the child wipes them all before fork() returns
// there.
struct SecureRandom::Instances {
  std::mutex mutex;
  std::vector<SecureRandom*> live;

  static Instances& get() {
    static auto* instances = new Instances;  // never destroyed: generators may outlive static destruction
    return *instances;
  }

  Instances() {
    pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                   [] {
                     for (SecureRandom* random : get().live) {
                       random->discard_buffer();
                       random->owner_pid_ = 0;
                     }
                     get().mutex.unlock();
                   });
  }
};

SecureRandom::SecureRandom() {
#ifdef SOTTO_HAVE_SODIUM
  static const bool ready = sodium_init() >= 0;
  if (!ready) stop("libsodium did not start");
#endif
  auto& instances = Instances::get();
  const std::lock_guard lock(instances.mutex);
  instances.live.push_back(this);
}

SecureRandom::~SecureRandom() {
  {
    auto& instances = Instances::get();
    const std::lock_guard lock(instances.mutex);
    std::erase(instances.live, this);
  }
  discard_buffer();
  explicit_bzero(key_.data(), key_.size());
}

void SecureRandom::fill(std::span<std::uint64_t> out) {
  if (out.empty()) return;
#ifdef SOTTO_HAVE_SODIUM
  static_assert(crypto_stream_chacha20_KEYBYTES == sizeof key_);
  static_assert(crypto_stream_chacha20_NONCEBYTES == sizeof nonce_);
  if (const int pid = getpid(); owner_pid_ != pid) {
    read_kernel(key_);
    nonce_ = 0;
    owner_pid_ = pid;
  }
  ++nonce_;
  std::array<unsigned char, sizeof nonce_> nonce;
  std::memcpy(nonce.data(), &nonce_, sizeof nonce_);

  // Block 0 of the key stream becomes the next key, the blocks behind it are the output.
  std::array<unsigned char, 64> next_key;
  crypto_stream_chacha20(next_key.data(), next_key.size(), nonce.data(), key_.data());
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  std::memset(bytes, 0, out.size_bytes());
  crypto_stream_chacha20_xor_ic(bytes, bytes, out.size_bytes(), nonce.data(), 1, key_.data());
  std::memcpy(key_.data(), next_key.data(), key_.size());
  sodium_memzero(next_key.data(), next_key.size());
#else
  read_kernel({reinterpret_cast<unsigned char*>(out.data()), out.size_bytes()});
#endif
}

}  // namespace sotto
