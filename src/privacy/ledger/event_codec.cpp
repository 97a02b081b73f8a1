#include "privacy/ledger/event_codec.h"

#include <cmath>

namespace sotto {
namespace {

// The numbers are part of the file format: append, never renumber.
enum class Tag : std::uint8_t {
  gaussian = 1,
  laplace = 2,
  randomised_response = 3,
  discrete_gaussian = 4,
  skellam = 5,
  pure = 6,
  approximate = 7,
  concentrated = 8,
};

struct MechanismWriter {
  ByteWriter& out;
  void tag(Tag tag) const { out.number(static_cast<std::uint8_t>(tag)); }
  void operator()(const GaussianNoise& m) const {
    tag(Tag::gaussian);
    out.real(m.noise_multiplier);
  }
  void operator()(const LaplaceNoise& m) const {
    tag(Tag::laplace);
    out.real(m.scale);
  }
  void operator()(const RandomisedResponse& m) const {
    tag(Tag::randomised_response);
    out.real(m.epsilon);
    out.number(m.categories);
  }
  void operator()(const DiscreteGaussianNoise& m) const {
    tag(Tag::discrete_gaussian);
    out.real(m.sigma);
    out.number(m.summands);
    out.number(m.dimension);
    out.real(m.l1_sensitivity);
    out.real(m.l2_sensitivity);
  }
  void operator()(const SkellamNoise& m) const {
    tag(Tag::skellam);
    out.real(m.variance);
    out.real(m.l1_sensitivity);
    out.real(m.l2_sensitivity);
  }
  void operator()(const PureDp& m) const {
    tag(Tag::pure);
    out.real(m.epsilon);
  }
  void operator()(const ApproximateDp& m) const {
    tag(Tag::approximate);
    out.real(m.epsilon);
    out.real(m.delta);
  }
  void operator()(const ConcentratedDp& m) const {
    tag(Tag::concentrated);
    out.real(m.rho);
  }
};

// Braces evaluate from left to right.
Result<Mechanism> read_mechanism(ByteReader& in) {
  const auto tag = in.number<std::uint8_t>();
  switch (static_cast<Tag>(tag)) {
    case Tag::gaussian:
      return GaussianNoise{in.real()};
    case Tag::laplace:
      return LaplaceNoise{in.real()};
    case Tag::randomised_response:
      return RandomisedResponse{in.real(), in.number<std::uint64_t>()};
    case Tag::discrete_gaussian:
      return DiscreteGaussianNoise{in.real(), in.number<std::uint64_t>(), in.number<std::uint64_t>(),
                                   in.real(), in.real()};
    case Tag::skellam:
      return SkellamNoise{in.real(), in.real(), in.real()};
    case Tag::pure:
      return PureDp{in.real()};
    case Tag::approximate:
      return ApproximateDp{in.real(), in.real()};
    case Tag::concentrated:
      return ConcentratedDp{in.real()};
  }
  return bad_input("unknown mechanism number {}", tag);
}

}  // namespace

void write_event(ByteWriter& out, const PrivacyEvent& event) {
  std::visit(MechanismWriter{out}, event.mechanism);
  out.number(static_cast<std::uint8_t>(event.adjacency));
  out.number(static_cast<std::uint8_t>(event.unit));
  out.number(event.count);
  out.real(event.total_variation);
}

Result<PrivacyEvent> read_event(ByteReader& in) {
  SOTTO_TRY(Mechanism mechanism, read_mechanism(in));
  const auto adjacency = in.number<std::uint8_t>();
  const auto unit = in.number<std::uint8_t>();
  if (adjacency > static_cast<std::uint8_t>(Adjacency::replace_one)) {
    return bad_input("unknown adjacency number {}", adjacency);
  }
  if (unit > static_cast<std::uint8_t>(Unit::user)) return bad_input("unknown unit number {}", unit);
  PrivacyEvent event{mechanism, static_cast<Adjacency>(adjacency), static_cast<Unit>(unit)};
  event.count = in.number<std::uint64_t>();
  event.total_variation = in.real();
  SOTTO_CHECK(validate(event));
  // −0.0 would pass as a second spelling of 0.
  if (std::signbit(event.total_variation)) return bad_input("the total variation slack is negative zero");
  return event;
}

}  // namespace sotto
