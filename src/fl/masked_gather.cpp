#ifdef SOTTO_HAVE_PROTOCOL
#include "fl/masked_gather.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "secagg/client/secagg_client.h"
#include "secagg/server/secagg_server.h"
#include "secagg/shared/field_hash.h"

namespace sotto::fl {
namespace {

using local::RoundPhase;

// One device of a group while the round lasts.
struct MaskedDevice {
  data::UserId user = 0;
  std::uint32_t index = 0;  // in the group
  std::optional<RoundPhase> lost;
  bool is_there(RoundPhase phase) const { return !lost || phase < *lost; }
  const secagg::Identity* identity = nullptr;
  SecureRandom random;
  std::optional<secagg::SecAggClient> client;
};

// What a device of this process agrees to: all that decides what its update becomes and costs.
secagg::Digest hash_of(const RoundOrder& order) {
  const secagg::EncodingPlan::Settings& plan = order.plan.settings();
  secagg::FieldHash hash("sotto round order in one process");
  for (const std::uint64_t field :
       {std::uint64_t{order.round}, plan.dimension, plan.devices, plan.dropped, plan.corrupted,
        plan.rotation_seed.value_or(0), std::uint64_t{plan.rotation_seed.has_value()},
        std::uint64_t{plan.nonnegative}, std::uint64_t{plan.products}, static_cast<std::uint64_t>(plan.noise),
        static_cast<std::uint64_t>(plan.adjacency), std::uint64_t{order.plan.modulus().bits()}})
    hash.number(field);
  for (const double field :
       {order.bound, plan.clip, plan.step, plan.entry_clip, plan.rounding_beta, plan.denominator,
        plan.noise_multiplier, plan.clip_bit_weight.value_or(0), plan.log2_wrap_probability})
    hash.number(std::bit_cast<std::uint64_t>(field));
  return hash.finish();
}

class MaskedGroup final : public GroupInProcess {
 public:
  MaskedGroup(secagg::SecAggServer server, const secagg::ClientPolicy& policy,
              secagg::GroupIdentities registry, std::vector<std::unique_ptr<MaskedDevice>> devices)
      : server_(std::move(server)),
        policy_(policy),
        registry_(std::move(registry)),
        devices_(std::move(devices)) {}

  // Keys and shares, up to where vectors are asked for.
  Status begin() {
    SOTTO_CHECK(exchange(RoundPhase::advertise,
                         [&](MaskedDevice& device, secagg::ByteView invitation) -> Result<secagg::Bytes> {
                           SOTTO_TRY(device.client,
                                     secagg::SecAggClient::join(invitation, policy_, *device.identity,
                                                                registry_, device.random));
                           return device.client->advertise();
                         }));
    return exchange(RoundPhase::share, [](MaskedDevice& device, secagg::ByteView roster) {
      return device.client->share_keys(roster);
    });
  }

  Status take(data::UserId user, std::span<const std::uint32_t> entries) override {
    const auto device =
        std::lower_bound(devices_.begin(), devices_.end(), user,
                         [](const auto& one, data::UserId wanted) { return one->user < wanted; });
    SOTTO_TRY(auto vector, secagg::RingVector::of(entries, policy_.vector.bits));
    SOTTO_TRY(const secagg::Bytes shares, message_for(**device));
    SOTTO_TRY(const secagg::Bytes masked, (*device)->client->upload(shares, std::move(vector)));
    SOTTO_CHECK(deliver(**device, masked));
    ++arrived_;
    return {};
  }

  Result<GroupSum> finish() override {
    SOTTO_CHECK(server_.close_phase());
    if (server_.phase() == secagg::ServerPhase::confirming)
      SOTTO_CHECK(exchange(RoundPhase::confirm, [](MaskedDevice& device, secagg::ByteView arrivals) {
        return device.client->confirm_arrivals(arrivals);
      }));
    SOTTO_CHECK(exchange(RoundPhase::reveal, [](MaskedDevice& device, secagg::ByteView request) {
      return device.client->reveal(request);
    }));
    if (server_.phase() != secagg::ServerPhase::done)
      return failed("the secure sum failed: {}", server_.failure());
    const std::vector<std::uint64_t> sum = server_.sum().entries();
    return GroupSum{{sum.begin(), sum.end()}, arrived_};
  }
  std::uint64_t bytes_up() const override { return bytes_up_ / devices_.size(); }
  std::uint64_t bytes_down() const override { return bytes_down_ / devices_.size(); }

 private:
  using Step = std::function<Result<secagg::Bytes>(MaskedDevice& device, secagg::ByteView message)>;

  // One phase: every device that takes part and is still there answers once.
  Status exchange(RoundPhase phase, const Step& step) {
    for (const auto& device : devices_) {
      if (!server_.takes_part(device->index) || !device->is_there(phase)) continue;
      SOTTO_TRY(const secagg::Bytes message, message_for(*device));
      SOTTO_TRY(const secagg::Bytes answer, step(*device, message));
      SOTTO_CHECK(deliver(*device, answer));
    }
    return server_.close_phase();
  }

  Result<secagg::Bytes> message_for(const MaskedDevice& device) {
    const std::lock_guard lock(server_mutex_);
    SOTTO_TRY(secagg::Bytes message, server_.message_for(device.index));
    bytes_down_ += message.size();
    return message;
  }
  Status deliver(const MaskedDevice& device, secagg::ByteView answer) {
    const std::lock_guard lock(server_mutex_);
    bytes_up_ += answer.size();
    SOTTO_CHECK(server_.receive(device.index, answer));
    return {};
  }

  std::mutex server_mutex_;
  secagg::SecAggServer server_;
  secagg::ClientPolicy policy_;
  secagg::GroupIdentities registry_;
  std::vector<std::unique_ptr<MaskedDevice>> devices_;  // those who come, ascending by user
  std::atomic<std::uint64_t> arrived_ = 0;              // in the sum
  std::uint64_t bytes_up_ = 0, bytes_down_ = 0;         // of all devices
};

}  // namespace

Result<std::unique_ptr<GroupInProcess>> MaskedGather::open(const RoundOrder& order,
                                                           std::span<const data::UserId> group,
                                                           std::span<const data::UserId> present) {
  const secagg::EncodingPlan::Settings& plan = order.plan.settings();
  const auto devices = static_cast<double>(plan.devices);
  const secagg::ThreatModel threat{.clients = static_cast<std::uint32_t>(plan.devices),
                                   .corrupted = static_cast<double>(plan.corrupted) / devices,
                                   .dropping = static_cast<double>(plan.dropped) / devices,
                                   .server = server_};
  SOTTO_TRY(const secagg::GroupParameters parameters, secagg::find_parameters(threat));
  const secagg::VectorShape shape{order.plan.entries(), order.plan.modulus().bits()};
  const secagg::Digest order_hash = hash_of(order);
  SecureRandom random;
  auto registry = std::make_shared<std::vector<secagg::IdentityKey>>();
  std::vector<std::unique_ptr<MaskedDevice>> coming;
  for (std::uint32_t index = 0; index < group.size(); ++index) {
    const data::UserId user = group[index];
    auto identity = identities_.find(user);
    if (identity == identities_.end())
      identity = identities_.emplace(user, secagg::Identity::create(random)).first;
    registry->push_back(identity->second.public_key());
    const bool is_lost = std::binary_search(lost().begin(), lost().end(), user);
    if (!is_lost && !std::binary_search(present.begin(), present.end(), user)) continue;
    coming.push_back(std::make_unique<MaskedDevice>());
    coming.back()->user = user;
    coming.back()->index = index;
    coming.back()->identity = &identity->second;
    if (is_lost) coming.back()->lost = this->devices().lost.phase;
  }
  SOTTO_TRY(auto server, secagg::SecAggServer::create(parameters, shape, order_hash, registry, random));
  const secagg::ClientPolicy policy{.server = threat.server,
                                    .corrupted = threat.corrupted,
                                    .dropped = threat.dropping,
                                    .minimum_alive = parameters.minimum_alive,
                                    .order_hash = order_hash,
                                    .vector = shape};
  auto sum = std::make_unique<MaskedGroup>(std::move(server), policy, std::move(registry), std::move(coming));
  SOTTO_CHECK(sum->begin());
  return sum;
}

}  // namespace sotto::fl
#endif
