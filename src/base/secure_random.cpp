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

#include "base/random.h"

#ifdef SOTTO_HAVE_SODIUM
#include <sodium.h>
#endif

namespace sotto {

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
