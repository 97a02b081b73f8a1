#include "fl/efficient_source.h"

#include <algorithm>

#include "fl/received.h"
#include "fl/simulated_sum.h"
#include "secagg/item_union/sparse_union.h"
#include "secagg/vectors/modular_sum.h"

namespace sotto {

using torch::Tensor;

void EfficientSettings::bind(SettingsTable& table) {
  table.add("group", group, {2, 100000}, "Devices per round, whose items are united")
      .add("compress", compress, "8 bits per number down and `upload_bits` up instead of 32 both ways")
      .add("upload_bits", upload_bits, {9, 32},
           "Bits per coordinate of a compressed upload; each device more takes from them")
      .add("largest_update", largest_update, {1e-6, 1e9},
           "L2 norm that a device's update is cut to, so that it fits the integers of the secure sum");
}

Result<EfficientSource::Union> EfficientSource::items_of(std::uint32_t round,
                                                         const std::vector<UserId>& group) const {
  // Far behind the draws of the gradients' sum, which have the same address.
  constexpr std::uint64_t union_draws = std::uint64_t{1} << 40;
  constexpr std::uint64_t expected_of_one = 32, attempts = 8;
  std::uint64_t room = expected_of_one * group.size(), bytes = 0;
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt, room *= 2) {
    const std::uint64_t seed = SeededRandom(seed_ + attempt, Purpose::rotation, round)();
    SOTTO_TRY(const auto sketch, SparseUnion::create({catalogue_, std::min(room, catalogue_), seed}));
    std::vector<std::uint64_t> sum(sketch.entries(), 0);
    for (const UserId user : group) {
      SeededRandom draws(seed_, Purpose::noise, round, user);
      draws.seek(union_draws * (attempt + 1));
      SOTTO_TRY(const auto entries,
                sketch.encode(training_.items_of(round, user), DeviceRandom::simulated(draws)));
      SOTTO_CHECK(add_entries(std::span(sum), entries));
    }
    bytes += sketch.bytes_per_device();
    if (auto items = sketch.decode(sum)) return Union{std::move(*items), bytes};
  }
  return failed("round {}: the union of {} devices' items could not be found", round, group.size());
}

// A public rotation spreads an update evenly over its entries, so that 16 bits are enough.
Result<EncodingPlan> EfficientSource::plan_for(std::size_t devices, std::uint64_t dimension,
                                               std::uint32_t round) const {
  constexpr double rarely_cut = 1e-9;
  EncodingPlan::Settings plan;
  plan.dimension = dimension;
  plan.clip = settings_.largest_update;
  plan.denominator = 1;
  plan.devices = devices;
  if (settings_.compress) {
    plan.rotation_seed = SeededRandom(seed_, Purpose::rotation, round)();
    SOTTO_TRY(const auto rotation, RandomRotation::create(dimension, *plan.rotation_seed));
    plan.entry_clip = plan.clip * rotation.entry_quantile(rarely_cut);
  }
  SOTTO_TRY(plan.step,
            finest_step(plan, settings_.compress ? static_cast<unsigned>(settings_.upload_bits) : 32U));
  return EncodingPlan::create(plan);
}

Result<RoundUpdate> EfficientSource::round(std::uint32_t round) {
  const auto group = sampler_.sample(round);
  SOTTO_TRY(const Union shared, items_of(round, group));
  const auto& items = shared.items;
  const Tensor vectors = training_.infer(items), encoder = training_.user_encoder();
  const Received sent = settings_.compress ? sent_as_bytes(vectors) : sent_as_floats(vectors);
  const Received user = settings_.compress ? vector_sent_as_bytes(encoder) : sent_as_floats(encoder);

  SOTTO_TRY(auto plan, plan_for(group.size(), training_.dimension(items.size()), round));
  SimulatedSum sum(std::move(plan), seed_, round);
  RoundUpdate update;
  Tensor own_update = torch::empty({static_cast<std::int64_t>(training_.dimension(items.size()))});
  const auto add = [&](UserId device, const DeviceGradients& own) -> Status {
    write_device_update(own, items, own_update);
    update.loss += own.loss;
    update.samples += own.samples;
    return sum.add(device, own_update);
  };
  SOTTO_CHECK(training_.devices(round, group, items, sent.values, user.values, add));
  SOTTO_TRY(const Tensor total, sum.mean());
  update.direction = training_.whole_gradient(items, total / static_cast<double>(update.samples)).clone();
  update.loss /= static_cast<double>(update.samples);
  update.clients = group.size();
  update.bytes_down = sent.bytes + user.bytes + items.size() * sizeof(ItemId);
  update.bytes_up = sum.bytes_up() + shared.bytes_up + sizeof(std::uint64_t);
  return update;
}

}  // namespace sotto
