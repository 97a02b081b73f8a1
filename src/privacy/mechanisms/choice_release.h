#pragma once
// Releases that choose: one of n candidates by score, one of k values about the truth, a prototype near a
// user.

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "privacy/accounting/event.h"
#include "privacy/noise/device_random.h"

namespace sotto::privacy {

// One of n candidates, with probability proportional to exp(ε·score/(2Δ)) (McSherry, Talwar 2007).
//
// Scores are rounded to 2^-30 of the sensitivity Δ, which is charged, and ε to a multiple of 2^-20 below.
// Then a uniform candidate is proposed and kept with probability exp(-ε(best − score)/(2Δ)), a rational
// exponent decided exactly by coin flips: pure ε-DP without floating-point caveats. Expected time grows with
// n/Σ exp(...), at most n.
//
// Immutable after creation, safe to share between threads.
class ExponentialMechanism {
 public:
  struct Settings {
    double epsilon = 0;
    double sensitivity = 0;  // how far one neighbour can move any one score
    Adjacency adjacency = Adjacency::replace_one;
    Unit unit = Unit::user;
  };
  static Result<ExponentialMechanism> create(const Settings& settings);

  Result<std::size_t> choose(std::span<const double> scores, DeviceRandom random) const;
  PrivacyEvent event() const;

 private:
  explicit ExponentialMechanism(const Settings& settings) : settings_(settings) {}
  Settings settings_;
};

// k-ary randomised response: one of `categories` values, kept with probability e^ε/(e^ε + categories − 1),
// else one of the others uniformly. The keeping probability is rounded down to a multiple of 2^-64, so the
// true ε never exceeds the stated one. The number of categories and the fact that an answer is given are
// public.
//
// Immutable after creation, copyable, safe to share between threads.
class KaryResponse {
 public:
  static Result<KaryResponse> create(double epsilon, std::uint64_t categories, Unit unit = Unit::user);

  Result<std::uint64_t> respond(std::uint64_t value, DeviceRandom random) const;
  PrivacyEvent event() const;

 private:
  KaryResponse(double epsilon, std::uint64_t categories, Unit unit, std::uint64_t keep_below)
      : epsilon_(epsilon), categories_(categories), unit_(unit), keep_below_(keep_below) {}
  double epsilon_;
  std::uint64_t categories_;
  Unit unit_;
  std::uint64_t keep_below_;
};

// A user is told to the server as one of K public prototypes of interest.
//
// By response: the most similar prototype goes through k-ary randomised response over K. By similarity: the
// exponential mechanism over cosine similarities, which lie in [-1, 1] whatever the history, sensitivity 2.
// Both protect the whole history of one query with the stated ε. The prototypes must be public, or charged
// where they were made.
//
// Immutable after creation, safe to share between threads.
enum class PrototypeRule { response, similarity };

class PrototypeSelection {
 public:
  static Result<PrototypeSelection> create(PrototypeRule rule, double epsilon, std::uint64_t prototypes);

  // similarities: one per prototype, in [-1, 1]; cosine_similarities() makes them.
  Result<std::uint64_t> choose(std::span<const double> similarities, DeviceRandom random) const;
  PrivacyEvent event() const;

 private:
  using Choice = std::variant<KaryResponse, ExponentialMechanism>;
  PrototypeSelection(std::uint64_t prototypes, Choice choice) : prototypes_(prototypes), choice_(choice) {}
  std::uint64_t prototypes_;
  Choice choice_;
};

// The share of what a server hears by response that tells nothing: an answer was changed, or would have been
// the same for anybody. What is left, weighted with the average user by this share, is what Bayes' rule makes
// of an answer when all prototypes are equally likely: K / (e^ε + K − 1).
double share_that_tells_nothing(double epsilon, std::uint64_t prototypes);
// How much of the average user a server mixes into the prototype it hears: that share. All of it where less
// than a quarter of an answer would be believed: wrong answers take more from the top of a list there than
// true ones bring.
double share_of_average_user(double epsilon, std::uint64_t prototypes);

// prototypes: K rows of user.size() numbers. A zero or non-finite vector has similarity 0 with everything.
Result<std::vector<double>> cosine_similarities(std::span<const float> prototypes,
                                                std::span<const float> user);

}  // namespace sotto::privacy
