#pragma once
// The ways of telling a server about a reader that are compared: a device's draw, followed by what the server
// makes of the answer, a vector in the ranking space.
//
// Every mechanism of the table that devices and servers share is measured as it is served ("NAME-pack"): its
// own draw, its own wire form, its own estimate, over public vectors as a pack has them. Beside these stand
// variations that only an experiment has: prototypes and basis vectors of the ranking space, a server that
// puts answers through Bayes' rule over the simulated readers and mixes them with the average user by the
// weight that ranks best for these, and the papers' mechanisms as the papers have them. Server-side steps use
// public knowledge only.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "eval/experiments/serving/serving_quality.h"
#include "eval/experiments/serving/serving_scene.h"
#include "eval/served_vectors.h"
#include "privacy/serving/serving_mechanism.h"

namespace sotto::eval::private_serving {

struct MechanismChoice {
  std::string mechanism;  // a name of compared_mechanisms()
  std::size_t size = 0;   // prototypes, coefficients or dimensions; 0: has none
  double epsilon = 0;     // asked for one answer; infinity: no noise
};

// What holds for the whole history of a reader and one answer.
struct AnswerPrivacy {
  std::optional<double> epsilon;  // the true one; nothing: no differential privacy
  double delta = 0;
  double claimed = 0;  // what the paper prints; equal to epsilon for sound mechanisms
};

// Safe to share between threads. Draws are addressed by (seed, row): they do not depend on threads.
class ComparedMechanism {
 public:
  virtual ~ComparedMechanism() = default;
  virtual AnswerPrivacy privacy() const = 0;
  // One answer per reader, and what the server ranks by. user_vectors and readers are the same people, as the
  // model makes them and in the ranking space.
  virtual Result<Rows> serve(const Rows& user_vectors, const Rows& readers, std::uint64_t seed) const = 0;
  // Of mechanisms whose server ranks by no vector but returns parts of the pool: one list per reader. All
  // others return nothing here, and this one serves nobody by a vector.
  virtual Result<std::vector<ReturnedItems>> returned(const Rows&) const {
    return std::vector<ReturnedItems>();
  }
};

// δ of Gaussian noise.
inline constexpr double gaussian_delta = 1e-6;

struct ComparedEntry {
  std::string name;                      // for files: "prototypes-response"
  std::string description;               // for people
  std::vector<std::size_t> full, quick;  // sizes that the table holds
  std::function<Result<std::unique_ptr<ComparedMechanism>>(const MechanismChoice& choice,
                                                           const PublicKnowledge& known, std::uint64_t seed)>
      make;
  bool is_noisy = true;       // its answers are drawn
  bool reads_demand = true;   // built from the simulated readers, who follow the released demand
  bool is_encrypted = false;  // the server learns nothing: one row per size, at ε = 0
};

// In the order of the table. served: the mechanisms that devices and servers share.
std::vector<ComparedEntry> compared_mechanisms(
    privacy::ServingMechanisms served = privacy::serving_mechanisms());
Result<const ComparedEntry*> find_compared(const std::vector<ComparedEntry>& table, std::string_view name);
// For people; a name that is not in the table stands for itself.
std::string description_of(const std::string& mechanism);
// One of compared_mechanisms().
Result<std::unique_ptr<ComparedMechanism>> make_mechanism(const MechanismChoice& choice,
                                                          const PublicKnowledge& known, std::uint64_t seed);

// ---- for the files that make them

// What an event says in the numbers of a table; asked for `claimed`. Gaussian noise is given at
// gaussian_delta.
Result<AnswerPrivacy> privacy_of(const std::optional<privacy::PrivacyEvent>& event, double claimed);

// Settings with this ε; infinity: none, and answers are exact.
privacy::MechanismSettings settings_for(double epsilon);

// Answers that a server mixes with the public average user, by the weight that ranks best for held-out
// simulated readers.
class BelievedAnswers : public ComparedMechanism {
 public:
  AnswerPrivacy privacy() const override { return privacy_; }
  Result<Rows> serve(const Rows& user_vectors, const Rows& readers, std::uint64_t seed) const override;

 protected:
  explicit BelievedAnswers(const PublicKnowledge& known) : known_(known) {}
  virtual Result<Rows> answers(const Rows& readers, std::uint64_t seed) const = 0;
  // Once answers can be drawn.
  Status choose_weight(std::uint64_t seed);

  const PublicKnowledge& known_;
  AnswerPrivacy privacy_;

 private:
  double weight_ = 1;
};

// One of K prototypes of the ranking space, the server by Bayes' rule (prototype_posterior.cpp).
Result<std::unique_ptr<ComparedMechanism>> make_prototype_posterior(privacy::PrototypeRule rule,
                                                                    const MechanismChoice& choice,
                                                                    const PublicKnowledge& known,
                                                                    std::uint64_t seed);
// Encrypted questions about as many clusters as the choice's size (blind_lists.cpp).
Result<std::unique_ptr<ComparedMechanism>> make_blind_lists(const MechanismChoice& choice,
                                                            const PublicKnowledge& known);
// A reader's departure from the average user in few dimensions (noisy_direction.cpp).
Result<std::unique_ptr<ComparedMechanism>> make_noisy_direction(privacy::NoiseKind noise,
                                                                const MechanismChoice& choice,
                                                                const PublicKnowledge& known,
                                                                std::uint64_t seed);

}  // namespace sotto::eval::private_serving
