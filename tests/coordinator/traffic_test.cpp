// What somebody who watches a device's line sees of it: how many requests, how large, when. None of it may
// depend on what the device was shown and what was clicked there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <numeric>

#include "device/rounds/round_calls.h"
#include "rounds/evaluation.h"
#include "rounds/round_messages.h"
#include "running_deployment.h"

namespace sotto::coordinator {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Seen {
  std::string what;
  std::size_t bytes = 0;  // of path, headers and body
  milliseconds time{0};   // since the device began
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual steady_clock::time_point now() = 0;
  virtual void pass(milliseconds time) = 0;  // work, or waiting
  virtual milliseconds passed() const = 0;   // since the device began
};

// A clock that work moves: a millisecond for every draw of training and every look, and as long as it waits.
// What the machine does meanwhile does not count.
class WorkClock final : public Clock {
 public:
  steady_clock::time_point now() override { return steady_clock::time_point(passed_ += milliseconds(1)); }
  void pass(milliseconds time) override { passed_ += time; }
  milliseconds passed() const override { return passed_; }

 private:
  milliseconds passed_{0};
};

// The machine's, in which work takes its time.
class RealClock final : public Clock {
 public:
  steady_clock::time_point now() override { return steady_clock::now(); }
  void pass(milliseconds time) override { std::this_thread::sleep_for(time); }
  milliseconds passed() const override {
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin_);
  }

 private:
  const steady_clock::time_point begin_ = steady_clock::now();
};

class Watched final : public WrappedTransport {
 public:
  Watched(device::Transport& real, Clock& clock) : WrappedTransport(real), clock_(clock) {}
  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    std::size_t bytes = call.path.size() + call.body.size();
    for (const auto& [name, value] : call.headers) bytes += name.size() + value.size();
    seen.push_back({std::string(purpose_of(call)), bytes, clock_.passed()});
    return real_.send(call);
  }
  std::vector<Seen> seen;

 private:
  Clock& clock_;
};

// Training takes as long as it draws: so much for every eighth number.
class SlowDraws final : public device::RoundDraws {
 public:
  SlowDraws(Clock& clock, milliseconds work) : examples_(clock, work) {}
  privacy::DeviceRandom noise(std::uint64_t) override { return privacy::DeviceRandom(noise_); }
  RandomSource& examples(std::uint64_t) override { return examples_; }
  privacy::DeviceRandom keys() override { return privacy::DeviceRandom(keys_); }

 private:
  class Slow final : public RandomSource {
   public:
    Slow(Clock& clock, milliseconds work) : clock_(clock), work_(work) {}
    void fill(std::span<std::uint64_t> out) override {
      clock_.pass(work_ * (out.size() / 8));
      secret_.fill(out);
    }

   private:
    SecureRandom secret_;
    Clock& clock_;
    milliseconds work_;
  };
  SecureRandom noise_, keys_;
  Slow examples_;
};

struct Watching {
  std::vector<Seen> seen;
  milliseconds trained{0};  // when it had nothing left to do but wait
};

// By their order alone, equal ones at the middle of their places: a device that the machine held up for a
// second does not outweigh all others.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [&](double other) { return other < value; });
    const auto equal = std::ranges::count(values, value);
    ranks.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
  }
  return ranks;
}

// The share of random assignments of the two labels for which the mean ranks lie as far apart as they do.
double permutation_test(const std::vector<double>& left, const std::vector<double>& right) {
  std::vector<double> all = left;
  all.insert(all.end(), right.begin(), right.end());
  all = ranks_of(all);
  const auto distance = [&](const std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(left.size());
    return std::abs(std::accumulate(values.begin(), middle, 0.0) / static_cast<double>(left.size()) -
                    std::accumulate(middle, values.end(), 0.0) / static_cast<double>(right.size()));
  };
  const double observed = distance(all);
  SeededRandom draws(1, Purpose::test);
  constexpr int times = 20'000;
  int as_far = 0;
  for (int i = 0; i < times; ++i) {
    std::shuffle(all.begin(), all.end(), draws);
    as_far += distance(all) >= observed * (1 - 1e-12) ? 1 : 0;
  }
  return static_cast<double>(as_far) / times;
}

// Ten devices with one history and ten with another, through every order of a campaign of three rounds; where
// versions are measured, the first four of them.
struct Timing {
  bool by_the_machine = false;
  milliseconds work{1};  // SlowDraws
  milliseconds step{0};  // of training, between two looks whether to go on
};

struct Histories {
  Histories(std::size_t left, std::size_t right, const rounds::Campaign& campaign = deployed_campaign(3),
            Timing how = {})
      : deployment(campaign), timing(how) {
    EXPECT_TRUE(deployment.start());
    deployment.devices.clear();
    for (std::uint8_t i = 0; i < deployed_group; ++i)
      deployment.devices.push_back(DeployedDevice::open(deployment.folder / ("watched" + std::to_string(i)),
                                                        static_cast<std::uint8_t>(100 + i),
                                                        deployment.running->url(), deployment.campaign,
                                                        is_left(i) ? left : right)
                                       .value());
    for (auto& device : deployment.devices) EXPECT_TRUE(device->enrol(device->network()));
    for (int order = 0; order < (campaign.evaluation ? 4 : 3); ++order) watch_order();
  }
  // Half of them, and half of those that any turns of two or four give: the server's threads take connections
  // by turns, and one of them may be the slower one.
  static bool is_left(std::size_t device) { return std::popcount(device) % 2 == 0; }

  // A device that has waited for an order to appear does not count the waiting: people are not at fault.
  rounds::RoundOrder next_order() {
    while (true) {
      const auto offered = deployment.devices[0]->network().send(device::offer_call()).value();
      if (offered.status == 200) {
        const auto offer = rounds::decode_offer(offered.body).value();
        const auto order = rounds::open_order(offer.order).value().order;
        if (last_order != order.round) {
          last_order = order.round;
          return order;
        }
      }
      std::this_thread::sleep_for(milliseconds(20));
    }
  }

  void watch_order() {
    evaluations += next_order().evaluates ? 1 : 0;
    std::vector<std::thread> threads;
    const std::size_t first = watched.size();
    watched.resize(first + deployed_group);
    for (std::size_t i = 0; i < deployed_group; ++i)
      threads.emplace_back([this, i, &out = watched[first + i]] {
        WorkClock work;
        RealClock machine;
        Clock& clock = timing.by_the_machine ? static_cast<Clock&>(machine) : work;
        SlowDraws draws(clock, timing.work);
        Watched network(deployment.devices[i]->network(), clock);
        const auto wait = [&](milliseconds time) {
          if (out.trained.count() == 0) out.trained = clock.passed();
          clock.pass(time);
        };
        const auto looks = [&] {
          if (out.trained.count() == 0) clock.pass(timing.step);
          return false;
        };
        const auto part =
            deployment.devices[i]->take_part(network, draws, {looks, wait}, [&] { return clock.now(); });
        EXPECT_TRUE(part && part->outcome == device::Participation::Outcome::took_part)
            << (part ? part->why : part.error().message);
        out.seen = network.seen;
      });
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<double> values(bool left, const std::function<double(const Watching&)>& of) const {
    std::vector<double> found;
    for (std::size_t i = 0; i < watched.size(); ++i)
      if (is_left(i % deployed_group) == left) found.push_back(of(watched[i]));
    return found;
  }
  double p_value(const std::function<double(const Watching&)>& of) const {
    return permutation_test(values(true, of), values(false, of));
  }

  RunningDeployment deployment;
  Timing timing;
  std::optional<rounds::Digest> last_order;
  int evaluations = 0;            // of the orders
  std::vector<Watching> watched;  // by order, then device
};

// Six values are compared in each test, of thirty devices with thirty.
constexpr double improbable = 1e-4;

void expect_same_traffic(const Histories& histories) {
  const auto& first = histories.watched.front().seen;
  ASSERT_FALSE(histories.watched.empty());
  for (std::size_t i = 0; i < histories.watched.size(); ++i) {
    const auto& seen = histories.watched[i].seen;
    // A table that was fetched before is not fetched again: compare within a round.
    const auto& same_round = histories.watched[i - i % deployed_group].seen;
    ASSERT_EQ(seen.size(), same_round.size());
    for (std::size_t k = 0; k < seen.size(); ++k) {
      EXPECT_EQ(seen[k].what, same_round[k].what);
      EXPECT_EQ(seen[k].bytes, same_round[k].bytes) << seen[k].what;
    }
  }
  EXPECT_GE(first.size(), 8U);
  const auto total = [](const Watching& one) {
    double bytes = 0;
    for (const Seen& request : one.seen) bytes += static_cast<double>(request.bytes);
    return bytes;
  };
  EXPECT_GT(histories.p_value(total), improbable);
  for (const char* phase : {"checkin", "advertise", "share", "upload", "reveal"})
    EXPECT_GT(histories.p_value([&](const Watching& one) {
      for (const Seen& request : one.seen)
        if (request.what == phase) return static_cast<double>(request.time.count());
      return -1.0;
    }),
              improbable)
        << phase;
}

double trained_at(const Watching& one) { return static_cast<double>(one.trained.count()); }

TEST(Traffic, IsTheSameForADeviceWithoutAHistoryAndOneWithTwoHundredClicks) {
  const Histories histories(0, 200);
  expect_same_traffic(histories);
  // The test can tell: when training ended shows at once who had something to learn from.
  EXPECT_LT(histories.p_value(trained_at), improbable);
}

// The step that is under way when time is up has its end before the device joins.
TEST(Traffic, IsTheSameForADeviceThatHasMoreToComputeThanTime) {
  const auto campaign =
      rounds::with_evaluation(deployed_campaign(3), {.every = 1, .held_out = 2, .pages = 30, .epsilon = 4});
  ASSERT_TRUE(campaign) << campaign.error().message;
  const Histories histories(0, 200, *campaign, {.step = milliseconds(40)});
  expect_same_traffic(histories);
  EXPECT_LT(histories.p_value(trained_at), improbable);
}

// One that is late nevertheless, by 0.3 or by 0.6 s, joins when whole turns have passed.
TEST(Traffic, DoesNotSayByHowMuchADeviceIsLate) {
  const Histories histories(100, 200, deployed_campaign(3), {.work = milliseconds(32)});
  for (const Watching& one : histories.watched) {
    const auto joined = std::ranges::find(one.seen, "checkin", &Seen::what);
    ASSERT_NE(joined, one.seen.end());
    EXPECT_GT(joined->time, milliseconds(1999));
    EXPECT_LT(joined->time % 1000, milliseconds(50)) << joined->time.count();
  }
}

// Not what the code asks a clock, but when its requests are sent: half a minute, of which training has four
// seconds in each round, so that a machine that does other work too is in time. Asked for:
// SOTTO_REAL_CLOCK=1.
TEST(Traffic, IsTheSameByTheClockOfTheMachine) {
  if (std::getenv("SOTTO_REAL_CLOCK") == nullptr)
    GTEST_SKIP() << "takes half a minute by the machine's clock: set SOTTO_REAL_CLOCK=1";
  auto campaign = deployed_campaign(3);
  campaign.max_training_seconds = 4;
  const Histories histories(0, 200, campaign, {.by_the_machine = true, .work = milliseconds(8)});
  expect_same_traffic(histories);
  EXPECT_LT(histories.p_value(trained_at), improbable);
}

// A device without a page that it keeps out of training, and one with many of them.
TEST(Traffic, IsTheSameWhereVersionsAreMeasured) {
  const auto campaign =
      rounds::with_evaluation(deployed_campaign(3), {.every = 1, .held_out = 2, .pages = 2, .epsilon = 4});
  ASSERT_TRUE(campaign) << campaign.error().message;
  const Histories histories(0, 200, *campaign);
  EXPECT_EQ(histories.evaluations, 2);
  expect_same_traffic(histories);
}

TEST(Traffic, IsTheSameForHistoriesThatDifferByOneClick) {
  const Histories histories(20, 21);
  expect_same_traffic(histories);
}

}  // namespace
}  // namespace sotto::coordinator
