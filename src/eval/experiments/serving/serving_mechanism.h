#pragma once
// The ways of telling a server about a reader that are compared. Every one is the mechanism of src/privacy
// that a device would run, followed by what the server makes of the answer: a vector in the ranking space.
//
// Server-side steps use public knowledge only. Mechanisms of our own put their answer through Bayes' rule
// over the simulated readers and mix it with the public average user; the weight is the one that ranks best
// for simulated readers. The papers' mechanisms do what the papers do.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "eval/experiments/serving/public_knowledge.h"

namespace sotto::private_serving {

enum class Family {
  average_user,          // nothing is told
  exact,                 // the true vector: no privacy
  vdp,                   // noisy user vector, as in the paper
  coefficients_paper,    // PrivateRec as printed
  coefficients_laplace,  // PrivateRec, sound sensitivity
  coefficients_gaussian,
  prototypes_response,    // k-ary randomised response
  prototypes_similarity,  // exponential mechanism
  prototypes_pack,        // randomised response with the prototypes of a pack, as it is served
  direction_laplace,      // few public dimensions
  direction_gaussian,
};
std::string_view name(Family family);      // for files: "prototypes-response"
std::string_view describe(Family family);  // for people

struct MechanismChoice {
  Family family = Family::average_user;
  std::size_t size = 0;  // prototypes, coefficients or dimensions; 0: has none
  double epsilon = 0;    // asked for one answer; infinity: no noise
};

// What holds for the whole history of a reader and one answer.
struct AnswerPrivacy {
  std::optional<double> epsilon;  // the true one; nothing: no differential privacy
  double delta = 0;
  double claimed = 0;  // what the paper prints; equal to epsilon for sound mechanisms
};

// Safe to share between threads. Draws are addressed by (seed, row): they do not depend on threads.
class ServingMechanism {
 public:
  virtual ~ServingMechanism() = default;
  virtual AnswerPrivacy privacy() const = 0;
  // One answer per reader, and what the server ranks by. user_vectors and readers are the same people, as the
  // model makes them and in the ranking space.
  virtual Result<Rows> serve(const Rows& user_vectors, const Rows& readers, std::uint64_t seed) const = 0;
};

// δ of Gaussian noise.
inline constexpr double gaussian_delta = 1e-6;

Result<std::unique_ptr<ServingMechanism>> make_mechanism(const MechanismChoice& choice,
                                                         const PublicKnowledge& known, std::uint64_t seed);

}  // namespace sotto::private_serving
