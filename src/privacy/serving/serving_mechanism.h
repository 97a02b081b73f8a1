#pragma once
// A way of telling a server about a reader: what a device draws, what the draw costs, how it goes over the
// wire and what the server makes of it. One file per mechanism and one table, which devices, servers, the
// audit and the experiments all read: one more mechanism is its file and its line in registry.cpp
// (docs/guides/add-a-mechanism.md).
//
// A query has one of the forms of the wire. By weights of basis vectors and numbers of prototypes a server
// ranks as they are; whatever else a mechanism says travels as its name and bytes of its own, which its
// `read` turns into one of these.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "privacy/accounting/event.h"
#include "privacy/mechanisms/choice_release.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "privacy/mechanisms/vector_release.h"
#include "privacy/noise/device_random.h"

namespace sotto::privacy {

// What everybody knows of a model: made from its items, or charged where it was made.
struct PublicVectors {
  std::size_t dimension = 0;
  std::vector<float> basis = {}, prototypes = {};  // rows of `dimension` numbers
  std::vector<float> average_user = {};
  std::size_t basis_rows() const { return basis.size() / dimension; }
  std::size_t prototype_rows() const { return prototypes.size() / dimension; }
};

using BasisWeights = std::vector<float>;              // non-negative, sum 1
using PrototypeNumbers = std::vector<std::uint32_t>;  // at least one
// Nothing about the reader: the public list of the average user.
struct PopularQuery {
  bool operator==(const PopularQuery&) const = default;
};
struct MechanismQuery {
  std::string mechanism;  // its name in the table
  std::string bytes;      // only its own `read` understands them
  bool operator==(const MechanismQuery&) const = default;
};

// As it leaves the device.
using ServingQuery = std::variant<BasisWeights, PrototypeNumbers, PopularQuery, MechanismQuery>;
// As the server ranks by it.
using ServerEstimate = std::variant<BasisWeights, PrototypeNumbers, PopularQuery>;

// What a person or the product decides. A mechanism reads what concerns it.
struct MechanismSettings {
  std::optional<double> epsilon;  // of one answer; none: exact answers, for what needs no protection
  double delta = 0;
  PrototypeRule rule = PrototypeRule::response;
  GuaranteeMode mode = GuaranteeMode::sound;
  NoiseKind noise = NoiseKind::laplace;
  double clip = 1;     // largest norm of weights
  double padding = 0;  // chance that a click is replaced by the anonymous item
};

// The device's side. Immutable, safe to share between threads. Fails for reasons that lie in settings and
// public vectors only, never because of what was clicked.
class ServingMechanism {
 public:
  struct Price {
    PrivacyEvent history;  // all clicks of a reader together
    PrivacyEvent click;    // one of them, for ledgers that count these; at most `history`
  };

  virtual ~ServingMechanism() = default;
  // Of one draw. None: it was made without ε and cannot draw.
  virtual std::optional<Price> price() const = 0;
  // 1 for every click that the anonymous item replaces before the user model reads them.
  virtual Result<std::vector<unsigned char>> pad(std::size_t clicks, DeviceRandom) const {
    return std::vector<unsigned char>(clicks);
  }
  // user: the user vector, `dimension` numbers.
  virtual Result<ServingQuery> draw(std::span<const float> user, DeviceRandom random) const = 0;
  // The same without noise.
  virtual Result<ServingQuery> exact(std::span<const float> user) const = 0;
  // How much of the average user a server should mix into the prototype it hears.
  virtual double average_share() const { return 0; }
};

// The two readers whom a mechanism tells apart most easily, for the audit.
struct WorstCase {
  MechanismSettings settings;
  PublicVectors vectors;
  std::array<std::vector<float>, 2> users;
};

// How many of which public vectors 'sotto experiment serving-epsilon' measures it with.
struct MeasuredSizes {
  enum class Of { prototypes, basis } of = Of::prototypes;
  std::vector<std::size_t> full, quick;
};

struct ServingMechanismEntry {
  std::string_view name, summary;
  Result<std::unique_ptr<const ServingMechanism>> (*make)(const MechanismSettings& settings,
                                                          std::shared_ptr<const PublicVectors> vectors);
  // The server's side: what it ranks by when it hears these bytes, which come from anywhere. Null: queries of
  // this mechanism are ranked by as they are.
  Result<ServerEstimate> (*read)(std::string_view bytes, const PublicVectors& vectors);
  WorstCase (*worst_case)();
  MeasuredSizes sizes;
};

using ServingMechanisms = std::span<const ServingMechanismEntry>;
// The one table.
ServingMechanisms serving_mechanisms();
// An unknown name suggests the nearest one.
Result<const ServingMechanismEntry*> find_mechanism(ServingMechanisms table, std::string_view name);

// What a server makes of a query.
Result<ServerEstimate> estimate(ServingMechanisms table, const ServingQuery& query,
                                const PublicVectors& vectors);
// The user vector that an estimate stands for; average_share as ServingMechanism has it. Several prototypes
// stand for no single vector and are refused, as are numbers and weights that do not fit the vectors.
Result<std::vector<float>> ranking_vector(const ServerEstimate& estimate, const PublicVectors& vectors,
                                          double average_share);

}  // namespace sotto::privacy
