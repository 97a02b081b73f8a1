#include "eval/experiments/serving/serving_mechanism.h"

#include "eval/experiments/serving/mechanism_parts.h"

namespace sotto::private_serving {

std::string_view name(Family family) {
  switch (family) {
    case Family::average_user:
      return "average-user";
    case Family::exact:
      return "non-private";
    case Family::vdp:
      return "vdp-paper";
    case Family::coefficients_paper:
      return "coefficients-paper";
    case Family::coefficients_laplace:
      return "coefficients-laplace";
    case Family::coefficients_gaussian:
      return "coefficients-gaussian";
    case Family::prototypes_response:
      return "prototypes-response";
    case Family::prototypes_similarity:
      return "prototypes-similarity";
    case Family::prototypes_pack:
      return "prototypes-pack";
    case Family::direction_laplace:
      return "direction-laplace";
    case Family::direction_gaussian:
      return "direction-gaussian";
  }
  return "";
}

std::string_view describe(Family family) {
  switch (family) {
    case Family::average_user:
      return "public average user";
    case Family::exact:
      return "true user vector";
    case Family::vdp:
      return "noisy user vector (VDP)";
    case Family::coefficients_paper:
      return "PrivateRec as printed";
    case Family::coefficients_laplace:
      return "PrivateRec, sound Laplace";
    case Family::coefficients_gaussian:
      return "PrivateRec, sound Gaussian";
    case Family::prototypes_response:
      return "prototypes, randomised response";
    case Family::prototypes_similarity:
      return "prototypes, exponential mechanism";
    case Family::prototypes_pack:
      return "prototypes as served";
    case Family::direction_laplace:
      return "direction, Laplace";
    case Family::direction_gaussian:
      return "direction, Gaussian";
  }
  return "";
}

Result<std::unique_ptr<ServingMechanism>> make_mechanism(const MechanismChoice& choice,
                                                         const PublicKnowledge& known, std::uint64_t seed) {
  switch (choice.family) {
    case Family::average_user:
    case Family::exact:
    case Family::vdp:
      return make_vector_mechanism(choice, known);
    case Family::coefficients_paper:
    case Family::coefficients_laplace:
    case Family::coefficients_gaussian:
      return make_coefficient_mechanism(choice, known, seed);
    case Family::prototypes_response:
    case Family::prototypes_similarity:
      return make_prototype_mechanism(choice, known, seed);
    case Family::prototypes_pack:
      return make_pack_mechanism(choice, known, seed);
    case Family::direction_laplace:
    case Family::direction_gaussian:
      return make_direction_mechanism(choice, known, seed);
  }
  return failed("unknown mechanism");
}

}  // namespace sotto::private_serving
