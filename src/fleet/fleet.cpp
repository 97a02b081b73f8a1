#include "fleet/fleet.h"

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/log.h"
#include "device/sdk/training.h"
#include "fleet/readers.h"
#include "privacy/ledger/ledger.h"
#include "rounds/enrolment.h"
#include "transport/http_rounds.h"

namespace sotto::fleet {

namespace {

using device::Participation;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_again{200};
constexpr std::chrono::days for_ever{365 * 200};

// What a person of the fleet lets training be: all that the operator's own campaign asks.
device::TrainingPolicy policy_of(const rounds::Campaign& campaign) {
  return {.epsilon = campaign.epsilon,
          .delta = campaign.delta,
          .group = campaign.encoding.devices,
          .corrupted = static_cast<double>(campaign.encoding.corrupted) /
                       static_cast<double>(campaign.encoding.devices),
          .server = campaign.server,
          .witnesses = campaign.witnesses_needed,
          .upload_bytes = campaign.max_upload_bytes,
          .training_seconds = campaign.max_training_seconds,
          .security_bits = campaign.security_bits};
}

// How the campaign stands, as everybody may ask.
struct Standing {
  std::uint64_t rounds_done = 0;
  std::string state;
};

class Fleet {
 public:
  Fleet(const FleetSettings& settings, const data::Dataset& dataset, const std::function<bool()>& cancelled)
      : settings_(settings),
        dataset_(dataset),
        cancelled_(cancelled),
        readers_(readers_of(dataset, settings.devices)) {}

  Result<FleetReport> run(const OnFleetRound& on_round) {
    if (readers_.size() < settings_.devices)
      return bad_input("{} has {} readers with something to learn from, and the fleet wants {}: take fewer",
                       dataset_.name(), readers_.size(), settings_.devices);
    SOTTO_TRY(auto client, net::HttpClient::create(settings_.server));
    SOTTO_TRY(const Standing begin, standing(client));
    const auto began = steady_clock::now();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < settings_.devices; ++i) threads.emplace_back([this, i] { live(i); });
    const Status watched = watch(client, begin.rounds_done, on_round);
    stopped_ = true;
    for (std::thread& thread : threads) thread.join();
    report_.seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
    if (!failure_.empty()) return failed("{}", failure_);
    SOTTO_CHECK(watched);
    return report_;
  }

 private:
  bool is_over() const { return stopped_ || cancelled_(); }

  static Result<Standing> standing(net::HttpClient& client) {
    SOTTO_TRY(const auto response, client.get("/v1/status"));
    const auto body = nlohmann::json::parse(response.body, nullptr, false);
    if (response.status != 200 || !body.is_object())
      return failed("the coordinator answers {} when it is asked how it stands", response.status);
    return Standing{body.value("rounds_done", std::uint64_t{0}), body.value("state", "")};
  }

  // Until the rounds are done, the campaign is over or nothing happens any more.
  Status watch(net::HttpClient& client, std::uint64_t begin, const OnFleetRound& on_round) {
    auto last_change = steady_clock::now();
    std::uint64_t done = begin;
    while (!is_over()) {
      SOTTO_TRY(const Standing now, standing(client));
      if (now.rounds_done > done) {
        done = now.rounds_done;
        last_change = steady_clock::now();
        on_round(done);
      }
      report_.rounds = done - begin;
      if (report_.rounds >= settings_.rounds || now.state == "finished") return {};
      if (steady_clock::now() - last_change > settings_.patience)
        return failed("no round was finished in {} s; {}", settings_.patience.count(), reasons());
      std::this_thread::sleep_for(look_again);
    }
    return {};
  }

  std::string reasons() {
    const std::lock_guard lock(mutex_);
    std::string text = "devices said:";
    for (const auto& [why, times] : report_.reasons) text += fmt::format(" {} times '{}'", times, why);
    return text;
  }

  void fail(const Error& error, std::size_t number) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = fmt::format("device {}: {}", number, error.message);
    stopped_ = true;
  }

  void live(std::size_t number) {
    if (const Status lived = try_to_live(number); !lived && !is_over()) fail(lived.error(), number);
  }

  Result<privacy::Ledger> ledger_in(const fs::path& folder, const privacy::ClockReading& now) const {
    const fs::path path = folder / privacy::ledger_file_name;
    if (fs::exists(path)) return privacy::Ledger::open(path, now);
    SOTTO_TRY(auto sensitivity, privacy::SensitivitySettings::create({"everything"}));
    return privacy::Ledger::create(
        path,
        {privacy::Unit::user,
         privacy::Adjacency::replace_one,
         privacy::RequestOrder::adaptive,
         std::move(sensitivity),
         {{privacy::BudgetWindow::lifetime, std::nullopt, settings_.lifetime_epsilon, 1e-4}}},
        now, {.anchor = nullptr, .first_use = true});
  }

  Status try_to_live(std::size_t number) {
    const fs::path folder = settings_.folder / fmt::format("device-{:06}", number);
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem) return failed("cannot create {}: {}", folder.string(), problem.message());
    const data::UserId reader = readers_[number];
    SeededRandom chance(settings_.seed, Purpose::noise, 0, reader);
    const std::int64_t width = settings_.clock_skew.count();
    const std::chrono::seconds skew(
        width == 0
            ? 0
            : static_cast<std::int64_t>(chance() % (2 * static_cast<std::uint64_t>(width) + 1)) - width);
    const auto clock = [skew] {
      privacy::ClockReading now = privacy::read_system_clocks();
      now.wall += skew;
      return now;
    };
    SOTTO_TRY(auto ledger, ledger_in(folder, clock()));
    SOTTO_TRY(auto training,
              device::DeviceTraining::open(folder, {.impressions = 1'000'000, .age = for_ever}));
    SOTTO_TRY(auto http, transport::HttpRounds::create(settings_.server));
    SOTTO_CHECK(enrol(training, http, number));
    if (training.impressions().impressions().empty())
      SOTTO_CHECK(training.impressions().add(shown_to(dataset_, reader), clock().wall));
    FaultyTransport network(http, *training.identity());
    device::SecretDraws secret;
    std::optional<device::SimulatedDraws> simulated;
    if (settings_.reproducible) simulated.emplace(*settings_.reproducible, reader);
    device::RoundDraws* draws = &secret;
    if (simulated) draws = &*simulated;
    std::optional<device::TrainingPolicy> policy;
    while (!is_over()) {
      network.set(fault_of(chance));
      if (!policy) {
        SOTTO_TRY(policy, offered_policy(http));
      }
      if (!policy) {
        stay_away(std::nullopt);
        continue;
      }
      SOTTO_TRY(const Participation done,
                training.take_part(
                    network, {ledger, clock, *policy, *draws, [this] { return is_over(); },
                              [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }}));
      count(done);
      if (done.refusal == device::RoundRefusalReason::policy) policy.reset();  // another campaign
      if (done.outcome != Participation::Outcome::took_part || done.come_back) stay_away(done.come_back);
    }
    return {};
  }

  // As long as the coordinator wants, or for a moment.
  void stay_away(std::optional<std::chrono::milliseconds> time) const {
    const auto until = steady_clock::now() + time.value_or(look_again);
    while (!is_over() && steady_clock::now() < until)
      std::this_thread::sleep_for(std::min<steady_clock::duration>(look_again, until - steady_clock::now()));
  }

  Status enrol(device::DeviceTraining& training, device::RoundTransport& network, std::size_t number) {
    if (training.consent()) return {};
    if (number >= settings_.tokens.size())
      return bad_input("there are {} tokens for {} devices: 'sotto campaign tokens' makes more",
                       settings_.tokens.size(), settings_.devices);
    SOTTO_TRY(const bool agreed,
              training.enrol(network, settings_.tokens[number], settings_.operator_key, settings_.server.url,
                             {.epsilon = 1,
                              .delta = 1,
                              .group = 2,
                              .corrupted = 0,
                              .server = secagg::ServerModel::semi_honest,
                              .witnesses = 0,
                              .upload_bytes = 0,
                              .training_seconds = 0},
                             privacy::read_system_clocks().wall,
                             [](const device::ConsentQuestion&) { return true; }));
    if (!agreed) return failed("nobody agreed");
    return {};
  }

  // None: no round is open.
  static Result<std::optional<device::TrainingPolicy>> offered_policy(device::RoundTransport& network) {
    SOTTO_TRY(const auto bytes, network.fetch_offer());
    if (!bytes) return std::optional<device::TrainingPolicy>();
    SOTTO_TRY(const auto offer, rounds::decode_offer(*bytes));
    SOTTO_TRY(const auto campaign, rounds::open_campaign(offer.campaign));
    return std::optional(policy_of(campaign.campaign));
  }

  Fault fault_of(RandomSource& chance) const {
    const auto share = [&] { return static_cast<double>(chance() >> 11) * 0x1p-53; };
    Fault fault;
    if (settings_.slowest.count() > 0)
      fault.delay = std::chrono::milliseconds(
          static_cast<std::int64_t>(share() * static_cast<double>(settings_.slowest.count())));
    if (const double dice = share(); dice < settings_.vanishing)
      fault.kind = Fault::Kind::vanishes, fault.phase = settings_.vanishing_phase;
    else if (dice < settings_.vanishing + settings_.lying)
      fault.kind = Fault::Kind::lies, fault.phase = "reveal";
    return fault;
  }

  void count(const Participation& done) {
    const std::lock_guard lock(mutex_);
    if (done.outcome == Participation::Outcome::no_round) return;
    report_.charged += done.was_charged ? 1 : 0;
    report_.bytes_up += done.bytes_up;
    report_.bytes_down += done.bytes_down;
    if (done.outcome == Participation::Outcome::took_part) {
      ++report_.participations;
      return;
    }
    ++(done.outcome == Participation::Outcome::refused ? report_.refused : report_.ended);
    ++report_.reasons[done.refusal ? std::string(device::name(*done.refusal)) : done.why];
  }

  const FleetSettings& settings_;
  const data::Dataset& dataset_;
  const std::function<bool()>& cancelled_;
  const std::vector<data::UserId> readers_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::string failure_;
  FleetReport report_;
};

}  // namespace

Result<FleetReport> run_fleet(const FleetSettings& settings, const data::Dataset& dataset,
                              const std::function<bool()>& cancelled, const OnFleetRound& on_round) {
  return Fleet(settings, dataset, cancelled).run(on_round);
}

}  // namespace sotto::fleet
