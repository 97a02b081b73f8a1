#include "fl/split_fold.h"

#include <algorithm>
#include <numeric>

#include "secagg/item_union/sparse_union.h"
#include "secagg/vectors/modular_sum.h"

namespace sotto::fl {

using torch::Tensor;

std::uint64_t SplitFold::send(std::vector<data::ItemId> items, bool compressed) {
  items_ = std::move(items);
  const Tensor vectors = training_.infer(items_), encoder = training_.user_encoder();
  vectors_ = compressed ? sent_as_bytes(vectors) : sent_as_floats(vectors);
  user_ = compressed ? vector_sent_as_bytes(encoder) : sent_as_floats(encoder);
  return vectors_.bytes + user_.bytes;
}

Status SplitFold::each_update(std::uint32_t round, std::span<const data::UserId> users,
                              const std::function<Status(const UserUpdate&)>& take) {
  // What devices computing together keep of the user encoder, one row each.
  const std::int64_t budget = std::int64_t{vectors_.values.is_cuda() ? 8 : 1} << 30;
  const auto at_once = static_cast<std::size_t>(std::max<std::int64_t>(
      1, budget /
             (static_cast<std::int64_t>(sizeof(float)) * std::max<std::int64_t>(1, training_.user_size()))));
  UserUpdate update;
  update.direction = torch::empty({static_cast<std::int64_t>(training_.dimension(items_.size()))},
                                  vectors_.values.options().requires_grad(false));
  const auto add = [&](data::UserId device, const DeviceGradients& own) -> Status {
    write_device_update(own, items_, update.direction);
    update.user = device;
    update.loss = own.loss;
    update.samples = own.samples;
    return take(update);
  };
  while (!users.empty()) {
    const auto together = users.first(std::min(at_once, users.size()));
    users = users.subspan(together.size());
    SOTTO_CHECK(training_.devices(round, together, items_, vectors_.values, user_.values, add));
  }
  return {};
}

CatalogueFold::CatalogueFold(secagg::EncodingPlan plan, SplitTraining& training, std::uint64_t catalogue)
    : SplitFold(training), plan_(std::move(plan)), catalogue_(catalogue) {
  std::iota(catalogue_.begin(), catalogue_.end(), data::ItemId{0});
}

void CatalogueFold::publish() {
  send(catalogue_, true);
  fetched_ = {user(), vectors()};
}

Result<RoundTask> CatalogueFold::open(std::uint32_t) {
  publish();
  return RoundTask{plan_, fetched_.bytes()};
}

Result<Tensor> CatalogueFold::fold(std::uint32_t, const Tensor& mean, const Gathered&) {
  return training().whole_gradient(items(), mean).clone();
}

void EfficientSettings::bind(SettingsTable& table) {
  table.add("group", group, {2, 100000}, "Devices per round, whose items are united")
      .add("compress", compress, "8 bits per number down and `upload_bits` up instead of 32 both ways")
      .add("upload_bits", upload_bits, {9, 32},
           "Bits per coordinate of a compressed upload; each device more takes from them")
      .add("largest_update", largest_update, {1e-6, 1e9},
           "L2 norm that a device's update is cut to, so that it fits the integers of the secure sum");
}

Result<UnionFold::Union> UnionFold::items_of(std::uint32_t round, const std::vector<data::UserId>& group) {
  // Far behind the draws of the gradients' sum, which have the same address.
  constexpr std::uint64_t union_draws = std::uint64_t{1} << 40;
  constexpr std::uint64_t expected_of_one = 32, attempts = 8;
  std::uint64_t room = expected_of_one * group.size(), bytes = 0;
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt, room *= 2) {
    const std::uint64_t seed = SeededRandom(seed_ + attempt, Purpose::rotation, round)();
    SOTTO_TRY(const auto sketch, secagg::SparseUnion::create({catalogue_, std::min(room, catalogue_), seed}));
    std::vector<std::uint64_t> sum(sketch.entries(), 0);
    for (const data::UserId user : group) {
      SeededRandom draws(seed_, Purpose::noise, round, user);
      draws.seek(union_draws * (attempt + 1));
      SOTTO_TRY(const auto entries,
                sketch.encode(training().items_of(round, user), privacy::DeviceRandom::simulated(draws)));
      SOTTO_CHECK(secagg::add_entries(std::span(sum), entries));
    }
    bytes += sketch.bytes_per_device();
    if (auto items = sketch.decode(sum)) return Union{std::move(*items), bytes};
  }
  return failed("round {}: the union of {} devices' items could not be found", round, group.size());
}

// A public rotation spreads an update evenly over its entries, so that 16 bits are enough.
Result<secagg::EncodingPlan> UnionFold::plan_for(std::size_t devices, std::uint64_t dimension,
                                                 std::uint32_t round) const {
  constexpr double rarely_cut = 1e-9;
  secagg::EncodingPlan::Settings plan;
  plan.dimension = dimension;
  plan.clip = settings_.largest_update;
  plan.denominator = 1;
  plan.devices = devices;
  if (settings_.compress) {
    plan.rotation_seed = SeededRandom(seed_, Purpose::rotation, round)();
    SOTTO_TRY(const auto rotation, secagg::RandomRotation::create(dimension, *plan.rotation_seed));
    plan.entry_clip = plan.clip * rotation.entry_quantile(rarely_cut);
  }
  SOTTO_TRY(plan.step, secagg::finest_step(
                           plan, settings_.compress ? static_cast<unsigned>(settings_.upload_bits) : 32U));
  return secagg::EncodingPlan::create(plan);
}

Result<RoundTask> UnionFold::open(std::uint32_t round) {
  const auto group = sampler_.sample(round);
  SOTTO_TRY(Union shared, items_of(round, group));
  std::uint64_t bytes_down = shared.items.size() * sizeof(data::ItemId);
  bytes_down += send(std::move(shared.items), settings_.compress);
  SOTTO_TRY(const auto plan, plan_for(group.size(), training().dimension(items().size()), round));
  return RoundTask{plan, bytes_down, shared.bytes_up + sizeof(std::uint64_t)};
}

Result<Tensor> UnionFold::fold(std::uint32_t, const Tensor& mean, const Gathered& gathered) {
  return training().whole_gradient(items(), mean / static_cast<double>(gathered.samples)).clone();
}

}  // namespace sotto::fl
