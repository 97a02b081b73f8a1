#pragma once
// k-ary randomised response: one of `categories` values, kept with probability e^ε/(e^ε + categories − 1),
// else one of the others uniformly. The keeping probability is rounded down to a multiple of 2^-64, so the
// true ε never exceeds the stated one. The number of categories and the fact that an answer is given are
// public.
//
// Immutable after creation, copyable, safe to share between threads.

#include <cstdint>

#include "privacy/accounting/event.h"
#include "privacy/noise/device_random.h"

namespace sotto {

class KaryResponse {
 public:
  static Result<KaryResponse> create(double epsilon, std::uint64_t categories, Unit unit = Unit::user);

  Result<std::uint64_t> respond(std::uint64_t value, DeviceRandom random) const;
  double keep_probability() const;
  PrivacyEvent event() const;

 private:
  KaryResponse(double epsilon, std::uint64_t categories, Unit unit, std::uint64_t keep_below)
      : epsilon_(epsilon), categories_(categories), unit_(unit), keep_below_(keep_below) {}
  double epsilon_;
  std::uint64_t categories_;
  Unit unit_;
  std::uint64_t keep_below_;
};

}  // namespace sotto
