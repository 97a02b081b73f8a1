// Rounds over real HTTP among networks that lose, double and delay, and devices that lie: the sum is exactly
// that of those who are in it, or the group fails, and nobody honest is refused or named.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <set>

#include "base/chain_hash.h"
#include "device/rounds/round_calls.h"
#include "net/raw_socket.h"
#include "rounds/group_invitation.h"
#include "running_deployment.h"
#include "secagg/shared/messages.h"
#include "secagg/vectors/modular_sum.h"

namespace sotto::coordinator {
namespace {

using device::Participation;
using device::signed_call;
using ::testing::HasSubstr;
using Outcome = Participation::Outcome;

std::vector<std::uint32_t> sum_of(const RunningDeployment& deployment, const std::set<std::size_t>& devices) {
  std::vector<std::vector<std::uint32_t>> entries;
  for (const std::size_t device : devices) entries.push_back(deployment.entries_of(device));
  return secagg::modular_sum(entries, deployment.campaign.plan(1).value().modulus()).value();
}

// On a connection of its own.
Result<transport::HttpTransport> another_way(const std::string& url) {
  net::HttpClientSettings http;
  http.url = url;
  http.timeout = std::chrono::seconds(60);
  return transport::HttpTransport::create(http);
}

std::set<std::size_t> all_but(const std::set<std::size_t>& some) {
  std::set<std::size_t> rest;
  for (std::size_t i = 0; i < deployed_group; ++i)
    if (!some.contains(i)) rest.insert(i);
  return rest;
}

// Requests and answers are lost, requests come twice, at once and late.
class BadNetwork final : public WrappedTransport {
 public:
  BadNetwork(device::Transport& real, std::size_t number, const std::string& url)
      : WrappedTransport(real),
        chance_(17, Purpose::test, 0, static_cast<std::uint32_t>(number)),
        url_(url) {}
  ~BadNetwork() override {
    for (std::thread& copy : copies_) copy.join();
  }
  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    if (call.method == "GET") {
      if (one_in(4)) return failed("lost");
      return real_.send(call);
    }
    if (one_in(5)) return failed("the request is lost");
    const auto copy = [this, call] {
      auto other = another_way(url_);
      if (other) static_cast<void>(other->send(call));
    };
    if (one_in(4)) copies_.emplace_back(copy);
    if (!late_.empty() && one_in(2)) copies_.emplace_back(std::exchange(late_, {}).front());
    if (one_in(3)) late_ = {copy};
    auto answer = real_.send(call);
    if (one_in(5)) return failed("the answer is lost");
    return answer;
  }

 private:
  bool one_in(std::uint64_t n) { return chance_() % n == 0; }
  SeededRandom chance_;
  const std::string url_;
  std::vector<std::thread> copies_;
  std::vector<std::function<void()>> late_;
};

TEST(HostileRounds, SumTheSameWhenRequestsAreLostDoubledAndLate) {
  RunningDeployment deployment;
  ASSERT_TRUE(deployment.start());
  const auto parts = deployment.everybody([&](std::size_t number, DeployedDevice& device) {
    return std::make_unique<BadNetwork>(device.network(), number, deployment.running->url());
  });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // Whoever lost the very last answer knows that it paid, and not that it was the last.
    EXPECT_TRUE(parts[i].outcome == Outcome::took_part || parts[i].was_charged) << i << ": " << parts[i].why;
    EXPECT_EQ(deployment.devices[i]->charges(), 1U);
  }
  const auto sum = deployment.first_sum();
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->arrived, deployed_group);
  EXPECT_EQ(sum->entries, sum_of(deployment, all_but({})));
}

// Sends, of the message of one phase, something else, well signed.
class Liar final : public WrappedTransport {
 public:
  using Lie = std::function<std::string(std::string_view body)>;
  Liar(DeployedDevice& device, std::string phase, Lie lie)
      : WrappedTransport(device.network()), device_(device), phase_(std::move(phase)), lie_(std::move(lie)) {}
  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    if (purpose_of(call) == phase_)
      return real_.send(signed_call(call.path, lie_(call.body), device_.identity()));
    auto answer = real_.send(call);
    if (answer && answer->status == 200 && purpose_of(call) == "checkin") remember_place(answer->body);
    return answer;
  }
  std::optional<std::size_t> place;  // in its group

 private:
  void remember_place(const std::string& answer) {
    const auto group =
        rounds::decode_group_invitation(rounds::decode_group_place(answer).value().invitation).value();
    const auto found = std::find(group.members.begin(), group.members.end(), device_.identity().public_key());
    place = static_cast<std::size_t>(found - group.members.begin());
  }
  DeployedDevice& device_;
  const std::string phase_;
  const Lie lie_;
};

std::string bend_middle(std::string_view body) {
  std::string bent(body);
  bent[bent.size() / 2] = static_cast<char>(bent[bent.size() / 2] ^ 1);
  return bent;
}

// What two liars of twenty do; the campaign's groups withstand as many.
struct Lying {
  const char* name;
  const char* phase;
  Liar::Lie lie;
};
void PrintTo(const Lying& lying, std::ostream* out) { *out << lying.name; }

class LyingDevices : public ::testing::TestWithParam<Lying> {};

TEST_P(LyingDevices, LeaveAnExactSumAndNobodyHonestIsRefused) {
  RunningDeployment deployment;
  ASSERT_TRUE(deployment.start());
  const std::set<std::size_t> liars = {4, 11};
  const auto parts = deployment.everybody(
      [&](std::size_t number, DeployedDevice& device) -> std::unique_ptr<device::Transport> {
        if (!liars.contains(number)) return nullptr;
        return std::make_unique<Liar>(device, GetParam().phase, GetParam().lie);
      });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (liars.contains(i)) continue;
    EXPECT_EQ(parts[i].outcome, Outcome::took_part) << i << ": " << parts[i].why;
    EXPECT_EQ(deployment.devices[i]->charges(), 1U);
  }
  const auto sum = deployment.first_sum();
  ASSERT_TRUE(sum) << deployment.status().dump();
  std::vector<std::set<std::size_t>> possible;
  for (const std::set<std::size_t>& missing : {std::set<std::size_t>{}, {4}, {11}, {4, 11}})
    if (deployed_group - missing.size() == sum->arrived) possible.push_back(all_but(missing));
  EXPECT_TRUE(std::any_of(possible.begin(), possible.end(), [&](const std::set<std::size_t>& devices) {
    return sum->entries == sum_of(deployment, devices);
  })) << sum->arrived;
  for (const std::size_t liar : liars)
    EXPECT_LE(deployment.devices[liar]->charges(), 1U) << "a liar too is charged once at most";
}

const std::vector<Lying> lies = {
    {"RevealOtherShares", "reveal", bend_middle},
    {"DealOtherShares", "share", bend_middle},
    {"AdvertiseOtherKeys", "advertise", bend_middle},
    {"SendShorterVectors", "upload",
     [](std::string_view body) { return std::string(body.substr(0, body.size() - 8)); }},
    {"SendLongerVectors", "upload",
     [](std::string_view body) { return std::string(body) + std::string(8, '\0'); }},
    {"SendNothing", "upload", [](std::string_view) { return std::string(); }},
    {"SendNoise", "share", [](std::string_view body) { return std::string(body.size(), 'x'); }},
};
INSTANTIATE_TEST_SUITE_P(Two, LyingDevices, ::testing::ValuesIn(lies),
                         [](const auto& each) { return each.param.name; });

// Says something else after its vector was taken: twice the same has one of both told to wait, and then other
// bytes, well signed, are a conflict. What was said in an earlier phase has the answer that it had.
class Wavering final : public WrappedTransport {
 public:
  Wavering(DeployedDevice& device, const std::string& url, std::latch& said)
      : WrappedTransport(device.network()), device_(device), said_(said), other_(another_way(url).value()) {}
  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    if (purpose_of(call) == "advertise") advertised_ = call.body;
    if (purpose_of(call) != "upload") return real_.send(call);
    std::array<Result<device::ServerAnswer>, 2> answers = {failed("none"), failed("none")};
    const auto ask = [&](std::size_t i, device::Transport& network) {
      answers[i] = network.send(call);
      if (!answers[i] || answers[i]->status != 202) return;
      conflict = network.send(signed_call(call.path, bend_middle(call.body), device_.identity()));
      early = network.send(signed_call(call.path, advertised_, device_.identity()));
      said_.count_down();
    };
    std::thread beside([&] { ask(1, other_); });
    ask(0, real_);
    beside.join();
    return answers[0] && answers[0]->status != 202 ? answers[0] : answers[1];
  }
  Result<device::ServerAnswer> conflict = failed("none"), early = failed("none");

 private:
  DeployedDevice& device_;
  std::latch& said_;
  transport::HttpTransport other_;
  std::string advertised_;
};

// Lets somebody else finish before it uploads.
class Patient final : public WrappedTransport {
 public:
  Patient(device::Transport& real, std::latch& others) : WrappedTransport(real), others_(others) {}
  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    if (purpose_of(call) == "upload") others_.wait();
    return real_.send(call);
  }

 private:
  std::latch& others_;
};

TEST(HostileRounds, TakeTheFirstMessageOfAPhaseAndNoOther) {
  RunningDeployment deployment;
  ASSERT_TRUE(deployment.start());
  std::latch said(1);
  Wavering wavering(*deployment.devices[7], deployment.running->url(), said);
  const auto parts = deployment.everybody(
      [&](std::size_t number, DeployedDevice& device) -> std::unique_ptr<device::Transport> {
        if (number != 7) return std::make_unique<Patient>(device.network(), said);
        return std::make_unique<WrappedTransport>(wavering);
      });
  for (const auto& part : parts) EXPECT_EQ(part.outcome, Outcome::took_part) << part.why;
  ASSERT_TRUE(wavering.conflict && wavering.early);
  EXPECT_EQ(wavering.conflict->status, 409);
  EXPECT_THAT(wavering.conflict->body, HasSubstr("another message was taken"));
  EXPECT_EQ(wavering.early->status, 200);
  const auto sum = deployment.first_sum();
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->entries, sum_of(deployment, all_but({})));
}

// It promises another seed than it deals shares of: nobody could have noticed before. It is named to the
// operator, and spoils no second group, not of a coordinator that was started again either.
TEST(HostileRounds, NameADealerWhoseSharesDoNotOpenAndSumWithoutItThen) {
  RunningDeployment deployment;
  ASSERT_TRUE(deployment.start());
  constexpr std::size_t dealer = 9;
  Liar lying(*deployment.devices[dealer], "share", [](std::string_view body) {
    auto dealt = secagg::decode_dealt_shares(rounds::as_bytes(body), deployed_group).value();
    dealt.self_seed_commitment[3] ^= 1;
    return std::string(as_text(secagg::encode(dealt)));
  });
  ::testing::internal::CaptureStderr();
  const auto parts =
      deployment.everybody([&](std::size_t number, DeployedDevice&) -> std::unique_ptr<device::Transport> {
        if (number != dealer) return nullptr;
        return std::make_unique<WrappedTransport>(lying);
      });
  const std::string log = ::testing::internal::GetCapturedStderr();
  const auto now = deployment.status()["now"];
  EXPECT_EQ(now["groups_failed"], 1) << now.dump();
  EXPECT_EQ(now["groups_summed"], 0);
  EXPECT_EQ(now["left_out"], 1);
  EXPECT_THAT(now["last_failure"].get<std::string>(), HasSubstr("dealt shares that do not open"));
  const std::string key = to_hex(deployment.devices[dealer]->identity().public_key());
  EXPECT_THAT(deployment.status().dump(), ::testing::Not(HasSubstr(key))) << "anybody may read that";
  EXPECT_THAT(log, HasSubstr("1 of a group dealt shares"));
  EXPECT_THAT(log, ::testing::Not(HasSubstr(key))) << "nothing of a person stands in a log";
  const auto named = deployment.get("/v1/admin/left-out")["left_out"];
  ASSERT_EQ(named.size(), 1U) << named.dump();
  EXPECT_EQ(named[0]["device"], key);
  for (std::size_t i = 0; i < parts.size(); ++i)
    EXPECT_EQ(deployment.devices[i]->charges(), 1U) << "what was sent is paid for";

  deployment.running.reset();
  ASSERT_TRUE(deployment.start());
  ASSERT_TRUE(deployment.open_devices(deployment.running->url(), deployed_group + 1));
  const auto again = deployment.everybody();
  for (std::size_t i = 0; i < again.size(); ++i)
    EXPECT_EQ(again[i].outcome, i == dealer ? Outcome::ended : Outcome::took_part)
        << i << ": " << again[i].why;
  EXPECT_THAT(again[dealer].why, HasSubstr("left out of this campaign"));
  EXPECT_EQ(deployment.devices[dealer]->charges(), 1U);
  const auto sum = deployment.first_sum();
  ASSERT_TRUE(sum) << deployment.status().dump();
  std::set<std::size_t> honest = all_but({dealer});
  honest.insert(deployed_group);
  EXPECT_EQ(sum->entries, sum_of(deployment, honest));
  ASSERT_TRUE(deployment.running->tick()) << "gauges are brought up to date";
  EXPECT_NE(deployment.text("/metrics").find("sotto_devices_left_out 1"), std::string::npos);
}

TEST(HostileRounds, ThrowASumAwayThatNoHonestDevicesCouldGive) {
  RunningDeployment deployment;
  ASSERT_TRUE(deployment.start());
  const auto plan = deployment.campaign.plan(1).value();
  const secagg::VectorShape shape{plan.entries(), plan.modulus().bits()};
  const auto parts = deployment.everybody(
      [&](std::size_t number, DeployedDevice& device) -> std::unique_ptr<device::Transport> {
        if (number != 3) return nullptr;
        return std::make_unique<Liar>(device, "upload", [shape](std::string_view body) {
          const auto masked = secagg::decode_masked_vector(rounds::as_bytes(body), shape).value();
          SeededRandom random(1, Purpose::test);
          std::vector<std::uint32_t> numbers(shape.entries);
          for (std::uint32_t& one : numbers) one = static_cast<std::uint32_t>(random() >> (64 - shape.bits));
          const auto vector = secagg::RingVector::of(numbers, shape.bits).value();
          return std::string(as_text(secagg::encode_masked(masked.transcript, vector, std::nullopt).value()));
        });
      });
  const auto now = deployment.status()["now"];
  EXPECT_EQ(now["groups_implausible"], 1) << now.dump();
  EXPECT_EQ(now["groups_summed"], 0);
  EXPECT_THAT(now["last_failure"].get<std::string>(), HasSubstr("energy"));
  EXPECT_TRUE(deployment.trainer->given().empty());
}

// Half of the devices are shown another log. The server that does this puts them into one group all the
// same, and the group cannot sum: those who were shown the other log do not join.
class Forked final : public WrappedTransport {
 public:
  explicit Forked(DeployedDevice& device) : WrappedTransport(device.network()), device_(device) {}
  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    if (purpose_of(call) == "order") return forked_offer(call);
    if (purpose_of(call) == "log") {
      const std::uint64_t from = std::stoull(call.path.substr(call.path.find('=') + 1));
      const auto begin = page_.entries.begin() + static_cast<std::ptrdiff_t>(from);
      return device::ServerAnswer{200, encode(rounds::LogPage{from, {begin, page_.entries.end()}})};
    }
    if (purpose_of(call) != "checkin") return real_.send(call);
    return real_.send(signed_call(call.path, encode(rounds::CheckIn{real_order_}), device_.identity()));
  }

 private:
  Result<device::ServerAnswer> forked_offer(const device::ServerCall& call) {
    SOTTO_TRY(auto answer, real_.send(call));
    if (answer.status != 200) return answer;
    SOTTO_TRY(auto offer, rounds::decode_offer(answer.body));
    SOTTO_TRY(auto opened, rounds::open_order(offer.order));
    real_order_ = opened.hash;
    SOTTO_TRY(const auto log, real_.send(device::log_call(0)));
    SOTTO_TRY(page_, rounds::decode_log_page(log.body));
    page_.entries.push_back({rounds::LeafKind::pack, rounds::model_hash()});  // for these alone
    rounds::MerkleTree tree;
    for (const auto& leaf : page_.entries) tree.append(rounds::leaf_hash(leaf));
    offer.head.head = {tree.size(), tree.root(), offer.head.head.time};
    offer.head.signature = rounds::sign_head(offer.head.head, rounds::coordinator_key());
    offer.campaign_entry.path = tree.inclusion(offer.campaign_entry.index, tree.size());
    offer.model_entry.path = tree.inclusion(offer.model_entry.index, tree.size());
    opened.order.head = offer.head.head;
    offer.order = sign_document(rounds::order_kind, encode(opened.order), rounds::coordinator_key());
    answer.body = encode(offer);
    return answer;
  }
  DeployedDevice& device_;
  rounds::Digest real_order_{};
  rounds::LogPage page_;
};

// A coordinator that gives a device another group than the campaign's, and whose invitation agrees with it.
struct Bent {
  rounds::IdentityKey own{};
  rounds::GroupInvitation group;
  secagg::Round round;
};

class BentGroup final : public WrappedTransport {
 public:
  using Bend = std::function<void(Bent&)>;
  BentGroup(DeployedDevice& device, Bend bend)
      : WrappedTransport(device.network()), own_(device.identity().public_key()), bend_(std::move(bend)) {}
  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    auto answer = real_.send(call);
    if (!answer || answer->status != 200 || purpose_of(call) != "checkin") return answer;
    auto place = rounds::decode_group_place(answer->body).value();
    Bent bent{own_, rounds::decode_group_invitation(place.invitation).value(), {}};
    bent.round = secagg::decode_invitation(rounds::as_bytes(bent.group.invitation)).value().round;
    bend_(bent);
    bent.group.invitation = std::string(as_text(
        secagg::encode(secagg::Invitation{bent.round, secagg::hash_of_identities(bent.group.members)})));
    place.invitation = encode(bent.group);
    answer->body = encode(place);
    return answer;
  }

 private:
  const rounds::IdentityKey own_;
  const Bend bend_;
};

TEST(HostileRounds, AreLeftWithoutAChargeByWhoeverIsGivenAnotherGroupThanTheCampaigns) {
  const auto not_own = [](const Bent& bent, std::size_t from) {
    return bent.group.members.at(from) == bent.own ? from + 1 : from;
  };
  const std::vector<std::pair<BentGroup::Bend, std::string_view>> groups = {
      {[&](Bent& bent) { bent.group.members[not_own(bent, 0)] = bent.own; }, "stands twice"},
      {[&](Bent& bent) { bent.group.members[not_own(bent, 0)] = bent.group.members[not_own(bent, 4)]; },
       "stands twice"},
      {[](Bent& bent) { std::ranges::replace(bent.group.members, bent.own, rounds::IdentityKey{}); },
       "not in the group"},
      // A cohort that shrank, said and unsaid.
      {[](Bent& bent) {
         std::ranges::partition(bent.group.members, [&](const auto& key) { return key == bent.own; });
         bent.group.members.resize(3);
         bent.round.group.clients = 3;
       },
       "a sum of one hides nothing"},
      {[](Bent& bent) {
         std::ranges::partition(bent.group.members, [&](const auto& key) { return key == bent.own; });
         bent.group.members.resize(3);
       },
       "3 identity keys for a group of 20"},
      {[](Bent& bent) { bent.round.group.threshold = 1; }, "1 shares of 6 open a secret"},
      {[](Bent& bent) { bent.round.group.corrupted = 0; }, "is not the campaign's"},
      {[](Bent& bent) { bent.round.group.minimum_alive = 1; }, "need 18 alive, not 1"},
      {[](Bent& bent) { bent.round.vector.bits += 1; }, "is not the campaign's"},
      {[](Bent& bent) { bent.round.vector.entries -= 1; }, "is not the campaign's"},
      {[](Bent& bent) { bent.round.order_hash[0] ^= 1; }, "another order"}};
  rounds::Campaign campaign = deployed_campaign(3);
  campaign.longest_phase_seconds = 3;  // who does not join is not waited for any longer
  RunningDeployment deployment(campaign);
  ASSERT_TRUE(deployment.start());
  const auto parts = deployment.everybody(
      [&](std::size_t number, DeployedDevice& device) -> std::unique_ptr<device::Transport> {
        if (number >= groups.size()) return nullptr;
        return std::make_unique<BentGroup>(device, groups[number].first);
      });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].outcome, Outcome::ended) << i << ": " << parts[i].why;
    EXPECT_EQ(deployment.devices[i]->charges(), 0U) << i << ": " << parts[i].why;
    if (i < groups.size()) {
      EXPECT_THAT(parts[i].why, HasSubstr(std::string(groups[i].second))) << i;
    }
  }
}

TEST(HostileRounds, FailWithoutAChargeAmongDevicesThatWereShownDifferentLogs) {
  rounds::Campaign campaign = deployed_campaign(3);
  campaign.longest_phase_seconds = 3;  // who does not join is not waited for any longer
  RunningDeployment deployment(campaign);
  ASSERT_TRUE(deployment.start());
  const auto parts = deployment.everybody(
      [&](std::size_t number, DeployedDevice& device) -> std::unique_ptr<device::Transport> {
        if (number % 2 == 0) return nullptr;
        return std::make_unique<Forked>(device);
      });
  EXPECT_FALSE(deployment.status()["now"]["groups_failed"] == 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].outcome, Outcome::ended) << parts[i].why;
    if (i % 2 == 1) {
      EXPECT_THAT(parts[i].why, HasSubstr("another order"));
    }
    EXPECT_EQ(deployment.devices[i]->charges(), 0U) << "nobody was charged";
  }
}

TEST(HostileRounds, AreChargedOnceHoweverOftenADeviceIsStartedAgain) {
  RunningDeployment deployment;
  ASSERT_TRUE(deployment.start());
  // The coordinator offers the first order for ever.
  std::mutex mutex;
  std::optional<device::ServerAnswer> first;
  class Replaying final : public WrappedTransport {
   public:
    Replaying(device::Transport& real, std::mutex& mutex, std::optional<device::ServerAnswer>& first)
        : WrappedTransport(real), mutex_(mutex), first_(first) {}
    Result<device::ServerAnswer> send(const device::ServerCall& call) override {
      auto answer = real_.send(call);
      if (purpose_of(call) != "order") return answer;
      const std::lock_guard lock(mutex_);
      if (!first_ && answer && answer->status == 200) first_ = *answer;
      if (first_) return *first_;
      return answer;
    }

   private:
    std::mutex& mutex_;
    std::optional<device::ServerAnswer>& first_;
  };
  const RunningDeployment::Wrap replaying = [&](std::size_t, DeployedDevice& device) {
    return std::make_unique<Replaying>(device.network(), mutex, first);
  };
  for (const auto& part : deployment.everybody(replaying))
    EXPECT_EQ(part.outcome, Outcome::took_part) << part.why;
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(deployment.open_devices(deployment.running->url())) << "started again";
    for (const auto& part : deployment.everybody(replaying)) {
      EXPECT_EQ(part.outcome, Outcome::refused) << part.why;
      EXPECT_EQ(part.refusal, device::RoundRefusalReason::charged_before);
    }
  }
  for (const auto& device : deployment.devices) EXPECT_EQ(device->charges(), 1U);
}

TEST(HostileRounds, WhoeverClosedItsConnectionIsNotGrouped) {
  RunningDeployment deployment;
  ASSERT_TRUE(deployment.start());
  ASSERT_TRUE(deployment.open_devices(deployment.running->url(), deployed_group + 1));
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return deployment.status()["state"] == "gathering"; }));
  auto network = another_way(deployment.running->url());
  const auto offer = rounds::decode_offer(network->send(device::offer_call())->body).value();
  const std::string order = encode(rounds::CheckIn{rounds::open_order(offer.order)->hash});
  const auto call = signed_call("/v1/checkin", order, deployment.devices.back()->identity());
  std::string request =
      fmt::format("POST {} HTTP/1.1\r\nHost: here\r\nContent-Length: {}\r\n", call.path, call.body.size());
  for (const auto& [name, value] : call.headers) request += fmt::format("{}: {}\r\n", name, value);
  const auto waiting = [&] { return deployment.status()["now"]["waiting"].get<int>(); };
  {
    const std::string url = deployment.running->url();
    net::RawSocket gone(static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1))));
    gone.send(request + "\r\n" + call.body);
    ASSERT_TRUE(RunningDeployment::comes_true([&] { return waiting() == 1; }));
  }
  deployment.devices.pop_back();
  for (const auto& part : deployment.everybody()) EXPECT_EQ(part.outcome, Outcome::took_part) << part.why;
  const auto round = deployment.get("/v1/rounds")["rounds"][0];
  EXPECT_EQ(round["groups_failed"], 0);
  EXPECT_EQ(round["summed"], deployed_group);
}

}  // namespace
}  // namespace sotto::coordinator
