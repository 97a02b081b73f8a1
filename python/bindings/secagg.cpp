// sotto.secagg: from updates to private sums, and the protocol that adds them up unseen.
#include <nlohmann/json.hpp>

#include "bindings/bindings.h"
#include "privacy/accounting/account.h"
#include "privacy/noise/noise_origin.h"
#include "secagg/client/secagg_client.h"
#include "secagg/server/secagg_server.h"
#include "secagg/vectors/calibrated_plan.h"
#include "secagg/vectors/modular_sum.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::python {

using namespace nb::literals;

namespace {

using secagg::EncodingPlan;

using Decoder = Guarded<secagg::SumDecoder>;

std::vector<std::uint32_t> encode(const EncodingPlan& plan, std::span<const float> update,
                                  std::optional<std::uint64_t> seed) {
  privacy::NoiseStream stream(
      seed ? privacy::NoiseOrigin::reproducible(*seed) : privacy::NoiseOrigin::secret(), Purpose::noise);
  return value_of(secagg::UpdateEncoder(plan).encode(update, stream.random()));
}

privacy::Adversary adversary_of(const std::string& word) {
  for (const auto adversary : {privacy::Adversary::server, privacy::Adversary::published})
    if (word == privacy::name(adversary)) return adversary;
  throw InputError(fmt::format("against is '{}', must be server or published", word));
}

void bind_plans(nb::module_& module) {
  nb::class_<EncodingPlan>(module, "Plan",
                           "What devices and server agree on before a round: clip, rotate, round to a grid, "
                           "add a noise share, modulo 2^b.")
      .def(
          "__init__",
          [](EncodingPlan* made, std::uint64_t dimension, double clip, std::uint64_t devices, unsigned bits,
             double multiplier, double denominator, std::uint64_t dropped, std::uint64_t corrupted) {
            EncodingPlan::Settings settings;
            settings.dimension = dimension;
            settings.clip = clip;
            settings.devices = devices;
            settings.noise_multiplier = multiplier;
            settings.denominator = denominator > 0 ? denominator : static_cast<double>(devices);
            settings.dropped = dropped;
            settings.corrupted = corrupted;
            settings.adjacency = privacy::Adjacency::replace_one;
            new (made) EncodingPlan(unlocked([&] {
              settings.step = value_of(secagg::finest_step(settings, bits));
              return value_of(EncodingPlan::create(settings));
            }));
          },
          nb::kw_only(), "dimension"_a, "clip"_a, "devices"_a, "bits"_a = 18, "noise_multiplier"_a,
          "denominator"_a = 0.0, "dropped"_a = 0, "corrupted"_a = 0,
          "The finest grid that fits into `bits`. denominator: fixed and public, the number of devices by "
          "default.")
      .def_prop_ro("entries", &EncodingPlan::entries, "Numbers on the wire.")
      .def_prop_ro("bits", [](const EncodingPlan& plan) { return plan.modulus().bits(); })
      .def_prop_ro("dimension", [](const EncodingPlan& plan) { return plan.settings().dimension; })
      .def_prop_ro("devices", [](const EncodingPlan& plan) { return plan.settings().devices; })
      .def_prop_ro("clip", [](const EncodingPlan& plan) { return plan.settings().clip; })
      .def_prop_ro("noise_multiplier",
                   [](const EncodingPlan& plan) { return plan.settings().noise_multiplier; })
      .def_prop_ro("sigma_of_mean", &EncodingPlan::sigma_of_mean,
                   "Promised noise of each decoded coordinate.")
      .def(
          "epsilon",
          [](const EncodingPlan& plan, double delta, std::uint64_t rounds) -> std::optional<double> {
            auto event = plan.event();
            if (!event) return std::nullopt;
            event->count = rounds;
            return unlocked([&] {
              return value_of(privacy::account_best({&*event, 1}, delta, privacy::Adversary::server)).epsilon;
            });
          },
          "delta"_a, "rounds"_a = 1,
          "What so many sums with one device in them cost it, against the server; None without noise.")
      .def(
          "encode",
          [](const EncodingPlan& plan, const GivenArray& given, std::optional<std::uint64_t> seed) {
            const Column<float> update(given, "update");
            return array_of(unlocked([&] { return encode(plan, update.values(), seed); }));
          },
          "update"_a, nb::kw_only(), "simulation_seed"_a = nb::none(),
          "What a device sends: clipped, rounded, with its share of the noise, modulo 2^bits. Encoding an "
          "update twice "
          "releases it twice. Noise comes from the secure generator unless a seed is named.");
  nb::class_<Decoder>(module, "Decoder",
                      "From sums of groups, modulo 2^bits, to the mean update. Decodes once.")
      .def(
          "__init__",
          [](Decoder* made, const EncodingPlan& plan) { new (made) Decoder(secagg::SumDecoder(plan)); },
          "plan"_a)
      .def(
          "add_group",
          [](Decoder& decoder, const GivenArray& given) {
            const Column<std::uint32_t> sum(given, "sum");
            decoder.use([&](secagg::SumDecoder& sums) { check(sums.add_group(sum.values())); });
          },
          "sum"_a)
      .def("decode", [](Decoder& decoder) {
        return array_of(
            decoder.use([](secagg::SumDecoder& sums) { return std::move(value_of(sums.decode()).update); }));
      });
  nb::class_<secagg::CalibratedPlan>(module, "CalibratedPlan",
                                     "A plan that meets a budget, and what then holds.")
      .def_prop_ro("plan", [](const secagg::CalibratedPlan& made) { return made.plan; })
      .def_prop_ro(
          "server", [](const secagg::CalibratedPlan& made) { return made.guarantee.server; },
          "Against the server, which sees the cohorts.")
      .def_prop_ro(
          "published", [](const secagg::CalibratedPlan& made) { return made.guarantee.published; },
          "Against everybody else.")
      .def_prop_ro(
          "participations", [](const secagg::CalibratedPlan& made) { return made.accounted.participations; },
          "How often one user may take part. Whoever samples cohorts must keep to it.");
  module.def(
      "calibrated_plan",
      [](double epsilon, double delta, std::uint64_t dimension, std::uint64_t population,
         std::uint64_t cohort, std::uint64_t rounds, double clip, const std::string& against,
         std::uint64_t participations, unsigned bits, double dropping, double corrupted) {
        const secagg::TrainingBudget budget{.epsilon = epsilon,
                                            .delta = delta,
                                            .against = adversary_of(against),
                                            .participations = participations,
                                            .bits = bits,
                                            .dropping = dropping,
                                            .corrupted = corrupted,
                                            .clip = clip};
        const secagg::TrainingShape shape{dimension, population, cohort, rounds};
        return unlocked([&] { return value_of(secagg::calibrated_plan(budget, shape)); });
      },
      nb::kw_only(), "epsilon"_a, "delta"_a, "dimension"_a, "population"_a, "cohort"_a, "rounds"_a,
      "clip"_a = 1.0, "against"_a = "server", "participations"_a = 0, "bits"_a = 18, "dropping"_a = 0.0,
      "corrupted"_a = 0.0,
      "From a budget to the plan of every round: the least noise with which epsilon holds against the "
      "adversary named.");
  module.def(
      "modular_sum",
      [](const std::vector<GivenArray>& given, unsigned bits) {
        const auto modulus = value_of(secagg::Modulus::of_bits(bits));
        if (given.empty()) throw InputError("a sum needs at least one vector");
        std::vector<Column<std::uint32_t>> devices;
        for (const GivenArray& device : given)
          devices.emplace_back(device, "entries of a device", 1, NaN::refused, Memory::shared);
        std::vector<std::uint32_t> sum(devices.front().size());
        unlocked([&] {
          for (const auto& device : devices) check(secagg::add_entries(sum, device.values()));
          secagg::reduce_entries(sum, modulus);
        });
        return array_of(std::move(sum));
      },
      "devices"_a, "bits"_a,
      nb::sig("def modular_sum(devices: collections.abc.Sequence[numpy.typing.NDArray[typing.Any]], bits: "
              "int) -> "
              "numpy.typing.NDArray[numpy.uint32]"),
      "What the protocol computes, for simulation: the sum of the devices' entries modulo 2^bits.");
}

nb::bytes bytes_of(const secagg::Bytes& bytes) { return nb::bytes(bytes.data(), bytes.size()); }
secagg::ByteView view_of_bytes(const nb::bytes& bytes) {
  return {static_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

secagg::Digest digest_of(const nb::bytes& bytes, const char* what) {
  secagg::Digest digest{};
  if (bytes.size() != digest.size())
    throw InputError(fmt::format("{} has {} bytes, must have {}", what, bytes.size(), digest.size()));
  std::copy_n(static_cast<const std::uint8_t*>(bytes.data()), digest.size(), digest.begin());
  return digest;
}

secagg::ServerModel server_model_of(const std::string& word) {
  if (word == "semi-honest") return secagg::ServerModel::semi_honest;
  if (word == "active") return secagg::ServerModel::active;
  throw InputError(fmt::format("server_model is '{}', must be semi-honest or active", word));
}

nb::bytes no_order() { return nb::bytes(secagg::Digest{}.data(), secagg::Digest{}.size()); }

secagg::GroupIdentities identities_of(const std::vector<nb::bytes>& keys) {
  auto made = std::make_shared<std::vector<secagg::IdentityKey>>();
  for (const auto& key : keys) made->push_back(digest_of(key, "an identity key"));
  return made;
}

// One member of a group, with its generator.
struct Member {
  std::unique_ptr<SecureRandom> random;
  secagg::SecAggClient machine;
};
using Client = Guarded<Member>;
using Server = Guarded<secagg::SecAggServer>;

using Step = Result<secagg::Bytes> (secagg::SecAggClient::*)(secagg::ByteView);
nb::bytes take(Client& client, const nb::bytes& message, Step step) {
  const secagg::Bytes copy(view_of_bytes(message).begin(), view_of_bytes(message).end());
  return bytes_of(client.use([&](Member& member) { return value_of((member.machine.*step)(copy)); }));
}

// Of the server's members, or not at all.
void check_client(const secagg::SecAggServer& server, std::uint32_t client) {
  if (client >= server.round().group.clients)
    throw InputError(fmt::format("client is {}, must be below {}", client, server.round().group.clients));
}

void bind_protocol(nb::module_& module) {
  nb::class_<secagg::Identity>(module, "Identity", "The signing key of one device.")
      .def("__init__",
           [](secagg::Identity* made) {
             SecureRandom random;
             new (made) secagg::Identity(secagg::Identity::create(random));
           })
      .def_prop_ro("public_key", [](const secagg::Identity& identity) {
        return nb::bytes(identity.public_key().data(), identity.public_key().size());
      });
  using secagg::SecAggServer;
  nb::class_<Server>(module, "Server", "The server's side of one round for one group: bytes in, bytes out.")
      .def(
          "__init__",
          [](Server* made, const std::vector<nb::bytes>& identities, std::uint64_t entries, unsigned bits,
             double corrupted, double dropping, const std::string& model, const nb::bytes& order) {
            if (identities.size() > secagg::max_group_clients)
              throw InputError(fmt::format("{} identities: a group has {} at most", identities.size(),
                                           secagg::max_group_clients));
            const secagg::ThreatModel threat{.clients = static_cast<std::uint32_t>(identities.size()),
                                             .corrupted = corrupted,
                                             .dropping = dropping,
                                             .server = server_model_of(model)};
            const auto keys = identities_of(identities);
            const auto hash = digest_of(order, "the hash of the order");
            new (made) Server(unlocked([&] {
              SecureRandom random;
              const auto group = value_of(secagg::find_parameters(threat));
              return value_of(SecAggServer::create(group, {entries, bits}, hash, keys, random));
            }));
          },
          nb::kw_only(), "identities"_a, "entries"_a, "bits"_a, "corrupted"_a, "dropping"_a,
          "server_model"_a = "semi-honest", "order"_a = no_order())
      .def_prop_ro(
          "phase",
          [](Server& server) {
            return server.use([](SecAggServer& machine) { return std::string(name_of(machine.phase())); });
          })
      .def_prop_ro(
          "minimum_alive",
          [](Server& server) {
            return server.use([](SecAggServer& machine) { return machine.round().group.minimum_alive; });
          })
      .def(
          "takes_part",
          [](Server& server, std::uint32_t client) {
            return server.use([&](SecAggServer& machine) {
              check_client(machine, client);
              return machine.takes_part(client);
            });
          },
          "client"_a, "Whether this phase hears from a client.")
      .def(
          "message_for",
          [](Server& server, std::uint32_t client) {
            return bytes_of(server.use([&](SecAggServer& machine) {
              check_client(machine, client);
              return value_of(machine.message_for(client));
            }));
          },
          "client"_a, "What to send to a client that takes part in this phase.")
      .def(
          "receive",
          [](Server& server, std::uint32_t client, const nb::bytes& message) {
            const secagg::Bytes copy(view_of_bytes(message).begin(), view_of_bytes(message).end());
            server.use([&](SecAggServer& machine) {
              check_client(machine, client);
              value_of(machine.receive(client, copy));
            });
          },
          "client"_a, "message"_a, "What a client sent. A wrong message removes its sender and nobody else.")
      .def(
          "close_phase",
          [](Server& server) { server.use([](SecAggServer& machine) { check(machine.close_phase()); }); },
          "On to the next phase. An error means that the round has failed.")
      .def(
          "sum",
          [](Server& server) {
            return array_of(server.use([](SecAggServer& machine) {
              if (machine.phase() != secagg::ServerPhase::done)
                throw InputError(
                    fmt::format("the round is {}: there is a sum when it is done", name_of(machine.phase())));
              return machine.sum().entries();
            }));
          },
          "The sum modulo 2^bits, when the round is done.");
  nb::class_<Client>(module, "Client",
                     "One device in one round of secure aggregation: bytes in, bytes out, every step once.")
      .def(
          "__init__",
          [](Client* made, const nb::bytes& invitation, const secagg::Identity& identity,
             const std::vector<nb::bytes>& identities, std::uint64_t entries, unsigned bits, double corrupted,
             double dropping, std::uint32_t minimum_alive, const std::string& model, const nb::bytes& order) {
            const secagg::ClientPolicy policy{.server = server_model_of(model),
                                              .corrupted = corrupted,
                                              .dropped = dropping,
                                              .minimum_alive = minimum_alive,
                                              .order_hash = digest_of(order, "the hash of the order"),
                                              .vector = {entries, bits}};
            auto random = std::make_unique<SecureRandom>();
            auto machine = value_of(secagg::SecAggClient::join(view_of_bytes(invitation), policy, identity,
                                                               identities_of(identities), *random));
            new (made) Client(Member{std::move(random), std::move(machine)});
          },
          "invitation"_a, "identity"_a, nb::kw_only(), "identities"_a, "entries"_a, "bits"_a, "corrupted"_a,
          "dropping"_a, "minimum_alive"_a, "server_model"_a = "semi-honest", "order"_a = no_order(),
          nb::keep_alive<1, 3>())
      .def("advertise",
           [](Client& client) {
             return bytes_of(client.use([](Member& member) { return value_of(member.machine.advertise()); }));
           })
      .def(
          "share_keys",
          [](Client& client, const nb::bytes& roster) {
            return take(client, roster, &secagg::SecAggClient::share_keys);
          },
          "roster"_a)
      .def(
          "upload",
          [](Client& client, const nb::bytes& shares, const GivenArray& given) {
            const Column<std::uint32_t> entries(given, "entries");
            const secagg::Bytes copy(view_of_bytes(shares).begin(), view_of_bytes(shares).end());
            return bytes_of(client.use([&](Member& member) {
              auto vector =
                  value_of(secagg::RingVector::of(entries.values(), member.machine.round().vector.bits));
              return value_of(member.machine.upload(copy, std::move(vector)));
            }));
          },
          "delivered_shares"_a, "entries"_a, "Masks the entries and gives them up.")
      .def(
          "confirm_arrivals",
          [](Client& client, const nb::bytes& arrivals) {
            return take(client, arrivals, &secagg::SecAggClient::confirm_arrivals);
          },
          "arrivals"_a, "Against an active server only.")
      .def(
          "reveal",
          [](Client& client, const nb::bytes& request) {
            return take(client, request, &secagg::SecAggClient::reveal);
          },
          "unmask_request"_a)
      .def_prop_ro("stage", [](Client& client) {
        return client.use([](Member& member) { return std::string(name_of(member.machine.stage())); });
      });
}

}  // namespace

void bind_secagg(nb::module_& module) {
  bind_plans(module);
  bind_protocol(module);
}

}  // namespace sotto::python
