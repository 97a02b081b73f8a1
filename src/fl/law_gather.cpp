#include "fl/law_gather.h"

#include <algorithm>
#include <mutex>

#include "base/thread_pool.h"
#include "fl/process_group.h"
#include "fl/tensor_encoding.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "secagg/vectors/bit_packing.h"
#include "secagg/vectors/modular_sum.h"

namespace sotto::fl {

using torch::Tensor;

namespace {

// Reproducible draws of a round have addresses (noise, round, user). A device's rounding is the beginning of
// its stream, as on the device itself; far behind lie what belongs to a group (its first user's stream) and
// to a chunk on a card.
constexpr std::uint64_t group_noise_blocks = std::uint64_t{1} << 52, piece_blocks = std::uint64_t{1} << 36;
constexpr std::uint64_t chunk_key_block = std::uint64_t{1} << 51;
// Entries whose noise one stream draws: the same whatever the number of threads is.
constexpr std::size_t noise_piece = std::size_t{1} << 14;

std::uint64_t rounding_key(const privacy::NoiseOrigin& noise) {
  if (const auto seed = noise.seed()) return *seed;
  SecureRandom secure;
  return secure();
}

// The whole numbers of one group's updates, added as they come.
class WholeNumberSum {
 public:
  WholeNumberSum(const RoundOrder& order, std::uint64_t key)
      : order_(order), device_(order.plan), key_(key), sum_(order.plan.entries(), 0) {}

  Status add(const UpdateBlock& block) {
    Tensor rows = block.directions.detach().to(torch::kFloat32).contiguous();
    if (order_.plan.settings().products) rows = rows.to(torch::kCPU);  // rounded one by one
    SOTTO_CHECK(privacy::require_length(static_cast<std::size_t>(rows.size(1)),
                                        order_.plan.settings().dimension, "the update"));
    arrived_ += block.users.size();
    return rows.is_cpu() ? add_on_threads(block.users, rows) : add_as_tensors(block.users, rows);
  }

  std::uint64_t arrived() const { return arrived_; }
  // Modulo 2^32. Once, after all.
  std::vector<std::uint32_t> take() {
    if (on_card_.defined()) {
      const Tensor own = on_card_.to(torch::kCPU);
      const auto* values = own.data_ptr<std::int64_t>();
      for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += static_cast<std::uint32_t>(values[i]);
    }
    return std::move(sum_);
  }

 private:
  Status add_on_threads(std::span<const data::UserId> users, const Tensor& rows) {
    const auto dimension = static_cast<std::size_t>(rows.size(1));
    const auto unit = static_cast<float>(order_.bound);
    const float* first = rows.data_ptr<float>();
    // Few sums to bring together, and yet something left for a thread that is done early.
    const std::size_t parts = 4 * static_cast<std::size_t>(thread_count());
    std::vector<Status> outcomes(users.size());
    parallel_for(users.size(), (users.size() + parts - 1) / parts, [&](std::size_t begin, std::size_t end) {
      std::vector<float> update(dimension);
      std::vector<std::int32_t> whole(sum_.size());
      std::vector<std::uint32_t> own(sum_.size(), 0);
      for (std::size_t i = begin; i < end; ++i) {
        const float* row = first + i * dimension;
        for (std::size_t j = 0; j < dimension; ++j) update[j] = row[j] / unit;
        SeededRandom draws(key_, Purpose::noise, order_.round, users[i]);
        outcomes[i] = device_.round(update, draws, whole);
        for (std::size_t j = 0; j < own.size(); ++j) own[j] += static_cast<std::uint32_t>(whole[j]);
      }
      const std::lock_guard lock(adding_);
      (void)secagg::add_entries(std::span(sum_), own);  // of equal length
    });
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (!outcomes[i])
        return refused_update(std::move(outcomes[i]).error(), {first + i * dimension, dimension},
                              order_.round);
    return {};
  }

  Status add_as_tensors(std::span<const data::UserId> users, const Tensor& rows) {
    if (!tensors_) {
      tensors_.emplace(order_.plan, rows.device());
      on_card_ = torch::zeros({static_cast<std::int64_t>(sum_.size())}, rows.options().dtype(torch::kInt64));
    }
    const std::int64_t at_once = tensors_->rows_within(LawGather::chunk_bytes);
    for (std::int64_t begin = 0; begin < rows.size(0); begin += at_once) {
      const std::int64_t count = std::min(at_once, rows.size(0) - begin);
      SeededRandom key(key_, Purpose::noise, order_.round, users[static_cast<std::size_t>(begin)]);
      key.seek(chunk_key_block);
      const Tensor chunk = rows.narrow(0, begin, count);
      if (Status added = tensors_->add(chunk, order_.bound, key(), on_card_); !added) {
        const Tensor own = chunk.to(torch::kCPU).contiguous();
        return refused_update(std::move(added).error(),
                              {own.data_ptr<float>(), static_cast<std::size_t>(own.numel())}, order_.round);
      }
    }
    return {};
  }

  const RoundOrder& order_;
  secagg::UpdateEncoder device_;
  std::uint64_t key_;
  std::vector<std::uint32_t> sum_;
  std::mutex adding_;
  std::optional<TensorEncoder> tensors_;
  Tensor on_card_;  // [entries] int64
  std::uint64_t arrived_ = 0;
};

// Reproducible noise has the address of the group's first user.
void add_noise(std::span<std::uint32_t> sum, const privacy::SummedNoise& noise,
               const privacy::NoiseOrigin& origin, std::uint32_t round, data::UserId first_user) {
  parallel_for(sum.size(), noise_piece, [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> values(end - begin, 0);
    if (const auto seed = origin.seed()) {
      SeededRandom draws(*seed, Purpose::noise, round, first_user);
      draws.seek(group_noise_blocks + begin / noise_piece * piece_blocks);
      noise.add_to(values, privacy::DeviceRandom::simulated(draws));
    } else {
      SecureRandom secure;
      noise.add_to(values, secure);
    }
    for (std::size_t i = begin; i < end; ++i) sum[i] += static_cast<std::uint32_t>(values[i - begin]);
  });
}

}  // namespace

Result<const privacy::SummedNoise*> LawGather::noise_of(const privacy::NoiseShare& share,
                                                        std::uint64_t arrived) {
  if (!known_ || known_->kind != share.kind() || known_->share_variance != share.share_variance() ||
      known_->arrived != arrived) {
    SOTTO_TRY(auto noise, privacy::SummedNoise::create(share, arrived));
    known_.emplace(KnownNoise{share.kind(), share.share_variance(), arrived, std::move(noise)});
  }
  return &known_->noise;
}

Status LawGather::add_group(const RoundOrder& order, std::span<const data::UserId> group,
                            std::span<const data::UserId> present, Gathered& gathered) {
  const privacy::NoiseOrigin& origin = devices().noise;
  WholeNumberSum whole(order, rounding_key(origin));
  Tally share;
  const auto add_block = [&](const UpdateBlock& block) -> Status {
    for (const double loss : block.losses) {
      if (Status number = check_loss(loss, order.round); !number) return number;
      share.loss += loss;
    }
    for (const std::uint64_t samples : block.samples) share.samples += samples;
    return whole.add(block);
  };
  SOTTO_CHECK(
      processes().agree(devices().updates.each_block(order.round, processes().share_of(present), add_block)));
  share.arrived = whole.arrived();
  share.add_up(processes());
  gathered.loss += share.loss;
  gathered.samples += share.samples;
  std::vector<std::uint32_t> sum = whole.take();
  processes().add(std::span(sum));
  // Drawn once, by the leader, from its secure generator.
  Status noised;
  if (processes().leads() && order.plan.noise_share() && share.arrived > 0) {
    const auto noise = noise_of(*order.plan.noise_share(), share.arrived);
    if (noise)
      add_noise(sum, **noise, origin, order.round, group.front());
    else
      noised = tl::unexpected(noise.error());
  }
  SOTTO_CHECK(processes().agree(std::move(noised)));
  processes().from_leader(sum);
  secagg::reduce_entries(std::span(sum), order.plan.modulus());
  gathered.groups.push_back({std::move(sum), share.arrived});
  // What each device would send.
  gathered.bytes_up = secagg::packed_bytes(order.plan.entries(), order.plan.modulus().bits());
  return {};
}

}  // namespace sotto::fl
