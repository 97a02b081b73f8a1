#pragma once
// One-time keys of blind questions. One secret serves for one ciphertext: two under the same secret differ by
// nothing but the two user vectors. Types say so: a KeyPart and an Opening are moved, never copied, and using
// one takes it away.
//
// What needs the secret is done beforehand, when nothing is known of the question: the ciphertext of zero and
// what must be taken off the answer. The secret itself is gone when prepare() returns. Encrypting adds the
// question to the prepared words, in a time and with memory accesses that do not depend on it, and leaves
// nothing from which the words could be made again.
//
// Lives in memory only, and not in a child of fork(): neither a restart nor a restored folder brings a key
// back. Wiped on destruction. Without threads. Not thread-safe.

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "blind/parameters.h"
#include "privacy/accounting/event.h"
#include "privacy/noise/device_random.h"

namespace sotto::device {

// Wiped when they are destroyed or assigned to.
class SecretWords {
 public:
  explicit SecretWords(std::size_t count = 0) : words_(count) {}
  ~SecretWords() { wipe(); }
  SecretWords(SecretWords&& other) noexcept : words_(std::move(other.words_)) { other.words_.clear(); }
  SecretWords& operator=(SecretWords&& other) noexcept {
    wipe();
    words_ = std::move(other.words_);
    other.words_.clear();
    return *this;
  }
  SecretWords(const SecretWords&) = delete;
  SecretWords& operator=(const SecretWords&) = delete;
  void wipe();
  std::span<std::uint32_t> words() { return words_; }
  std::span<const std::uint32_t> words() const { return words_; }

 private:
  std::vector<std::uint32_t> words_;
};

// Takes the answer to one ciphertext apart, once.
class Opening {
 public:
  // The M products. answer: M words, from anywhere: whatever they are, so many numbers come out. Empty when
  // it was used before.
  std::vector<std::int32_t> open(std::span<const std::uint32_t> answer) &&;

 private:
  friend class KeyPart;
  Opening(SecretWords masks, unsigned step_bits) : masks_(std::move(masks)), step_bits_(step_bits) {}
  SecretWords masks_;  // hint · secret
  unsigned step_bits_;
};

struct SealedProbe {
  std::vector<std::uint32_t> words;  // d·C, to be sent
  Opening opening;
};

class KeyPart {
 public:
  // So many keys for a database, whose parameters its guide has checked. hint: M × 1024.
  static Result<std::vector<KeyPart>> prepare(const blind::Parameters& parameters,
                                              std::span<const std::uint32_t> hint, std::size_t count,
                                              privacy::DeviceRandom random);

  // The user vector in the block of `cluster`, zero in all others. Refused after fork() and when it was used
  // before.
  Result<SealedProbe> seal(std::span<const std::int32_t> user, std::uint32_t cluster) &&;

 private:
  KeyPart(const blind::Parameters& parameters, SecretWords zero, SecretWords masks);
  blind::Parameters parameters_;
  SecretWords zero_;   // an encryption of zero
  SecretWords masks_;  // hint · secret
  pid_t owner_;
};

// What a server learns from the probes of a refresh: ε = 0 against whoever cannot break ring learning with
// errors at 128 bits. δ is the share of attackers' luck that is left, and the distance of the error's
// sampler.
privacy::PrivacyEvent blind_event(const blind::Shape& shape);

}  // namespace sotto::device
