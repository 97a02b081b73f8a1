// Processes that train together: what each of them gets is the same, whole numbers are those of one process
// to the last bit, every user of a cohort is computed once, and noise and cohort are the leader's alone.
// Threads stand for processes here; tests/cli/processes_test.sh starts real ones.

#include "fl/process_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <mutex>
#include <numeric>
#include <thread>

#include "fl/gather.h"
#include "fl/law_gather.h"

namespace sotto::fl {
namespace {

using torch::Tensor;

// body in so many threads, each of which is a process of one group.
void together(int size, const std::function<void(const ProcessGroup&)>& body) {
  static int meetings = 0;
  const fs::path file =
      fs::temp_directory_path() / fmt::format("sotto-meeting-{}-{}", ::getpid(), ++meetings);
  std::vector<std::thread> members;
  for (int rank = 0; rank < size; ++rank)
    members.emplace_back([&, rank] {
      ProcessGroup::Watch watch;
      watch.lost = [](const std::string& why) { throw std::runtime_error(why); };
      auto group = ProcessGroup::join({rank, size, file}, watch);
      ASSERT_TRUE(group) << group.error().message;
      const TrainsTogether scope(*group);
      body(*group);
    });
  for (std::thread& member : members) member.join();
  std::error_code gone_already;
  fs::remove(file, gone_already);
}

TEST(ProcessGroup, AddsWholeNumbersExactlyAndLetsAllHaveWhatTheLeaderHas) {
  for (const int size : {1, 2, 3, 4}) {
    together(size, [&](const ProcessGroup& group) {
      const auto rank = static_cast<std::uint32_t>(group.rank());
      std::vector<std::uint32_t> whole = {0xFFFFFFFF, 1, rank};
      group.add(std::span(whole));
      const auto count = static_cast<std::uint32_t>(size);
      EXPECT_EQ(whole, (std::vector<std::uint32_t>{0U - count, count, count * (count - 1) / 2}));
      std::vector<std::uint32_t> list;
      if (group.leads()) list = {4000000000U, 7};
      group.from_leader(list);
      EXPECT_EQ(list, (std::vector<std::uint32_t>{4000000000U, 7}));
      Tensor values = torch::full({3}, 1.0F + static_cast<float>(rank));
      group.from_leader(values);
      EXPECT_TRUE(torch::equal(values, torch::ones({3})));
      EXPECT_TRUE(group.any(group.rank() == size - 1));
      EXPECT_FALSE(group.any(false));
    });
  }
}

TEST(ProcessGroup, EveryThingIsInOneShareInOrder) {
  for (const int size : {1, 3, 4})
    together(size, [&](const ProcessGroup& group) {
      for (const std::size_t n : {std::size_t{0}, std::size_t{2}, std::size_t{10}, std::size_t{1001}}) {
        std::vector<std::uint32_t> seen(n, 0);
        const auto own = group.part_of(n);
        for (std::size_t i = own.begin; i < own.end; ++i) seen[i] = 1;
        group.add(std::span(seen));
        EXPECT_EQ(seen, std::vector<std::uint32_t>(n, 1));
      }
    });
}

TEST(ProcessGroup, AFailureOfOneIsTheFailureOfAll) {
  together(3, [](const ProcessGroup& group) {
    EXPECT_TRUE(group.agree({}));
    const Status failed_there =
        group.agree(group.rank() == 1 ? Status(bad_input("no such {}", "item")) : Status());
    ASSERT_FALSE(failed_there);
    EXPECT_EQ(failed_there.error().message, "no such item");
    EXPECT_EQ(failed_there.error().kind, ErrorKind::bad_input);
    const Status both = group.agree(group.rank() > 0 ? Status(failed("rank {}", group.rank())) : Status());
    ASSERT_FALSE(both);
    EXPECT_EQ(both.error().message, "rank 1");
  });
}

TEST(ProcessGroup, RefusesAPlaceThatThereIsNot) {
  const auto refused = ProcessGroup::join({2, 2, "nowhere"}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
}

TEST(ProcessGroup, SaysWhoDidNotCome) {
  ProcessGroup::Watch watch;
  watch.patience = std::chrono::seconds(1);
  const fs::path file = fs::temp_directory_path() / fmt::format("sotto-lonely-{}", ::getpid());
  const auto alone = ProcessGroup::join({0, 2, file}, watch);
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("rank 1 of 2 did not come"), std::string::npos)
      << alone.error().message;
  fs::remove(file);
}

// User i always sends the same vector; remembers who was asked.
class KnownUpdates final : public UserUpdates {
 public:
  KnownUpdates(std::size_t count, std::int64_t dimension) : dimension_(dimension), asked(count, 0) {}
  Status each_update(std::uint32_t, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override {
    for (const data::UserId user : users) {
      ++asked[user];
      const Tensor update =
          torch::sin(torch::arange(dimension_, torch::kFloat32) * (0.3F + 0.01F * static_cast<float>(user)));
      SOTTO_CHECK(take({user, update / std::sqrt(static_cast<float>(dimension_)), 0.25, 3}));
    }
    return {};
  }

 private:
  std::int64_t dimension_;

 public:
  std::vector<std::uint32_t> asked;
};

constexpr std::size_t population = 90;
constexpr std::int64_t cohort = 64, dimension = 257;

secagg::EncodingPlan plan_of_devices(double noise_multiplier) {
  secagg::EncodingPlan::Settings settings;
  settings.dimension = dimension;
  settings.clip = 1;
  settings.clip_bit_weight = 0.5;
  settings.denominator = static_cast<double>(cohort);
  settings.devices = 32;  // two groups
  settings.dropped = 16;
  settings.noise_multiplier = noise_multiplier;
  settings.adjacency = privacy::Adjacency::replace_one;
  settings.step = secagg::finest_step(settings, 24).value();
  return secagg::EncodingPlan::create(settings).value();
}

SimulatedDevices devices_of(KnownUpdates& updates, const privacy::NoiseOrigin& noise) {
  std::vector<data::UserId> users(population);
  std::iota(users.begin(), users.end(), data::UserId{0});
  return {{CohortSampler::create(users, cohort, noise).value(), 2},
          updates,
          noise,
          {},
          {.share = 0.1, .seed = 3}};
}

struct Rounds {
  std::vector<std::vector<std::uint32_t>> entries;
  std::vector<std::uint64_t> arrived, samples;
  std::vector<double> losses;
  bool operator==(const Rounds&) const = default;
};

// Two rounds, in so many processes; every one of them must see the same.
template <class Kind>
Rounds rounds_in(int size, const privacy::NoiseOrigin& noise, std::vector<std::uint32_t>* asked = nullptr) {
  std::mutex comparing;
  std::optional<Rounds> first;
  together(size, [&](const ProcessGroup& group) {
    KnownUpdates updates(population, dimension);
    Kind gather(devices_of(updates, noise));
    Rounds own;
    for (const std::uint32_t round : {0U, 1U}) {
      const auto gathered = gather.sum({round, plan_of_devices(1), 1.5});
      ASSERT_TRUE(gathered) << gathered.error().message;
      for (const GroupSum& sum : gathered->groups) {
        own.entries.push_back(sum.entries);
        own.arrived.push_back(sum.arrived);
      }
      own.samples.push_back(gathered->samples);
      own.losses.push_back(gathered->loss);
    }
    group.add(std::span(updates.asked));
    const std::lock_guard lock(comparing);
    if (asked != nullptr) *asked = updates.asked;
    if (!first) first = own;
    EXPECT_EQ(own, *first) << "rank " << group.rank() << " of " << size;
  });
  return first.value_or(Rounds());
}

TEST(ProcessGroup, SumsByTheirLawAreTheSameBitsForAnyNumberOfProcesses) {
  const auto noise = privacy::NoiseOrigin::reproducible(11);
  const Rounds one = rounds_in<LawGather>(1, noise);
  ASSERT_EQ(one.entries.size(), 4U);
  EXPECT_NE(one.entries[0], one.entries[1]);
  for (const int size : {2, 4}) EXPECT_EQ(rounds_in<LawGather>(size, noise), one) << size << " processes";
}

TEST(ProcessGroup, SimulatedSumsAreTheSameBitsForAnyNumberOfProcesses) {
  const auto noise = privacy::NoiseOrigin::reproducible(12);
  const Rounds one = rounds_in<SimulatedGather>(1, noise);
  for (const int size : {2, 4})
    EXPECT_EQ(rounds_in<SimulatedGather>(size, noise), one) << size << " processes";
}

TEST(ProcessGroup, SecretCohortsAndNoiseAreTheLeadersAndEveryUserIsComputedOnce) {
  std::vector<std::uint32_t> asked;
  const Rounds secret = rounds_in<LawGather>(4, privacy::NoiseOrigin::secret(), &asked);
  const std::uint64_t arrived =
      std::accumulate(secret.arrived.begin(), secret.arrived.end(), std::uint64_t{0});
  EXPECT_EQ(std::accumulate(asked.begin(), asked.end(), std::uint64_t{0}), arrived);
  EXPECT_LE(*std::max_element(asked.begin(), asked.end()), 2U);  // once in each of two rounds
  EXPECT_NE(rounds_in<LawGather>(4, privacy::NoiseOrigin::secret()).entries, secret.entries);
}

TEST(ProcessGroup, ASumOfFloatsIsTheSameUpToTheOrderOfAddition) {
  std::vector<Tensor> updates;
  for (int i = 0; i < 40; ++i)
    updates.push_back(torch::sin(torch::arange(100, torch::kFloat32) * (0.1F * static_cast<float>(i + 1))));
  const auto mean_in = [&](int size) {
    Tensor mean;
    together(size, [&](const ProcessGroup& group) {
      Tensor sum = torch::zeros({100});
      for (const Tensor& update : group.share_of(std::span<const Tensor>(updates))) sum.add_(update);
      group.add(sum);
      if (group.leads()) mean = sum / 40;
    });
    return mean;
  };
  const Tensor one = mean_in(1);
  for (const int size : {2, 4}) EXPECT_LT((mean_in(size) - one).abs().max().item<float>(), 1e-6F) << size;
}

TEST(ProcessGroup, MaskedSumsAreRefusedWithAdvice) {
  together(2, [](const ProcessGroup&) {
    KnownUpdates updates(population, dimension);
    const auto refused =
        SumSettings{.sums = "masked"}.gather(devices_of(updates, privacy::NoiseOrigin::secret()));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("sums=law"), std::string::npos);
  });
}

}  // namespace
}  // namespace sotto::fl
