#pragma once
// A user is told to the server as one of K public prototypes of interest.
//
// By response: the most similar prototype goes through k-ary randomised response over K. By similarity: the
// exponential mechanism over cosine similarities, which lie in [-1, 1] whatever the history, sensitivity 2.
// Both protect the whole history of one query with the stated ε. The prototypes must be public, or charged
// where they were made.
//
// Immutable after creation, safe to share between threads.

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "privacy/mechanisms/exponential_mechanism.h"
#include "privacy/mechanisms/kary_response.h"

namespace sotto {

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

}  // namespace sotto
