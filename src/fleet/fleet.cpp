#include "fleet/fleet.h"

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/log.h"
#include "device/device.h"
#include "device/rounds/round_calls.h"
#include "fleet/readers.h"
#include "local/lost_devices.h"
#include "privacy/ledger/ledger_clock.h"
#include "transport/http_transport.h"

namespace sotto::fleet {

namespace {

using device::Participation;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_again{200};
constexpr std::chrono::days for_ever{365 * 200};

// What a person of the fleet lets training be: all that the operator's own campaign asks.
device::DeviceSettings settings_for(const rounds::Campaign& campaign, double lifetime_epsilon) {
  device::DeviceSettings settings;
  settings.ranking = "local";
  settings.lifetime_epsilon = lifetime_epsilon;
  settings.budget_delta = 1e-4;
  settings.pages = settings.rows = 1'000'000;
  settings.keep_days = for_ever.count();
  settings.training = {.epsilon = campaign.total_epsilon(),
                       .delta = campaign.delta,
                       .least_group = static_cast<std::int64_t>(campaign.encoding.devices),
                       .least_corrupted = static_cast<double>(campaign.encoding.corrupted) /
                                          static_cast<double>(campaign.encoding.devices),
                       .server = campaign.server == secagg::ServerModel::active ? "active" : "semi-honest",
                       .security_bits = campaign.security_bits,
                       .least_witnesses = static_cast<std::int64_t>(campaign.witnesses_needed),
                       .most_upload_bytes = static_cast<std::int64_t>(campaign.max_upload_bytes),
                       .most_seconds = static_cast<std::int64_t>(campaign.max_training_seconds)};
  return settings;
}

// How the campaign stands, as everybody may ask.
struct Standing {
  std::uint64_t rounds_done = 0;
  std::string state;
  bool measures = false;  // devices are to measure the version that was made last
};

class Fleet {
 public:
  Fleet(const FleetSettings& settings, const data::Dataset& dataset, const std::function<bool()>& cancelled)
      : settings_(settings), dataset_(dataset), cancelled_(cancelled) {}

  Result<FleetReport> run(const OnFleetRound& on_round) {
    SOTTO_TRY(readers_, readers_of(dataset_, settings_.devices, settings_.split_seed()));
    if (readers_.size() < settings_.devices)
      return bad_input("{} has {} readers with something to learn from, and the fleet wants {}: take fewer",
                       dataset_.name(), readers_.size(), settings_.devices);
    SOTTO_TRY(auto client, net::HttpClient::create(settings_.server));
    SOTTO_TRY(const Standing begin, standing(client));
    const auto began = steady_clock::now();
    charges_.assign(settings_.devices, 0);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < settings_.devices; ++i) threads.emplace_back([this, i] { live(i); });
    const Status watched = watch(client, begin.rounds_done, on_round);
    stopped_ = true;
    for (std::thread& thread : threads) thread.join();
    report_.seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
    if (!failure_.empty()) return failed("{}", failure_);
    SOTTO_CHECK(watched);
    SOTTO_CHECK(read_ledger());
    return report_;
  }

 private:
  bool is_over() const { return stopped_ || cancelled_(); }

  static Result<Standing> standing(net::HttpClient& client) {
    SOTTO_TRY(const auto response, client.get("/v1/status"));
    const auto body = nlohmann::json::parse(response.body, nullptr, false);
    if (response.status != 200 || !body.is_object())
      return failed("the coordinator answers {} when it is asked how it stands", response.status);
    return Standing{body.value("rounds_done", std::uint64_t{0}), body.value("state", ""),
                    body.value("measures", false)};
  }

  // Until the rounds are done, the campaign is over or nothing happens any more.
  Status watch(net::HttpClient& client, std::uint64_t begin, const OnFleetRound& on_round) {
    auto last_change = steady_clock::now();
    std::uint64_t done = begin;
    while (!is_over()) {
      const auto asked = standing(client);
      if (!asked) SOTTO_CHECK(bear(asked.error()));
      const Standing now = asked.value_or(Standing{done, "", true});
      if (now.rounds_done > done) {
        done = now.rounds_done;
        last_change = steady_clock::now();
        on_round(done);
      }
      report_.rounds = done - begin;
      if ((report_.rounds >= settings_.rounds && !now.measures) || now.state == "finished") return {};
      if (steady_clock::now() - last_change > settings_.patience)
        return failed("no round was finished in {} s; {}", settings_.patience.count(), reasons());
      std::this_thread::sleep_for(look_again);
    }
    return {};
  }

  Status read_ledger() {
    const auto most = std::max_element(charges_.begin(), charges_.end());
    if (most == charges_.end() || *most == 0) return {};
    SOTTO_TRY(report_.ledger,
              privacy::read_statement(
                  folder_of(static_cast<std::size_t>(most - charges_.begin())) / privacy::ledger_file_name,
                  privacy::read_system_clocks()));
    return {};
  }

  fs::path folder_of(std::size_t number) const {
    return settings_.folder / fmt::format("device-{:06}", number);
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

  Status try_to_live(std::size_t number) {
    const data::UserId reader = readers_[number];
    SeededRandom chance(settings_.seed, Purpose::noise, 0, reader);
    SOTTO_TRY(auto http, transport::HttpTransport::create(settings_.server));
    SOTTO_TRY(const auto campaign, carry(device::fetch_campaign(), http, device::no_pause));
    std::optional<device::SimulatedDraws> simulated;
    if (settings_.reproducible) simulated.emplace(*settings_.reproducible, reader);
    device::DeviceEnvironment host;
    host.clock = clock_with(skew_of(chance));
    host.first_use = true;
    host.round_draws = simulated ? &*simulated : nullptr;
    SOTTO_TRY(auto device,
              device::Device::open(folder_of(number),
                                   settings_for(campaign.campaign, settings_.lifetime_epsilon), host));
    SOTTO_CHECK(device.agree(
        device.terms(settings_.server.url, campaign.campaign.purpose, {.training = true, .asking = false})));
    SOTTO_CHECK(enrol(device, http, number));
    if (device.pages().empty() && device.rows().rows.empty()) {
      Memory memory = memory_of(dataset_, reader);
      SOTTO_CHECK(device.add_pages(std::move(memory.impressions)));
      SOTTO_CHECK(device.set_profile(std::move(memory.rows.profile)));
      SOTTO_CHECK(device.add_rows(std::move(memory.rows.rows)));
    }
    FaultyTransport network(http, *device.identity());
    network.set([this, reader](std::uint64_t round) { return fault_of(reader, round); });
    const device::RoundHooks hooks{[this] { return is_over(); },
                                   [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }};
    while (!is_over()) {
      const auto done = device.take_part(network, hooks);
      if (!done) {
        SOTTO_CHECK(bear(done.error()));
        stay_away(std::nullopt);
        continue;
      }
      count(*done, number);
      if (done->outcome != Participation::Outcome::took_part || done->come_back) stay_away(done->come_back);
    }
    return {};
  }

  std::chrono::seconds skew_of(RandomSource& chance) const {
    const std::int64_t width = settings_.clock_skew.count();
    if (width == 0) return std::chrono::seconds(0);
    const auto choices = 2 * static_cast<std::uint64_t>(width) + 1;
    return std::chrono::seconds(static_cast<std::int64_t>(chance() % choices) - width);
  }

  static std::function<privacy::ClockReading()> clock_with(std::chrono::seconds skew) {
    return [skew] {
      privacy::ClockReading now = privacy::read_system_clocks();
      now.wall += skew;
      return now;
    };
  }

  // A coordinator that cannot be reached may come back, or another in its place: the fleet's patience
  // decides.
  Status bear(const Error& error) {
    if (error.kind != ErrorKind::failed) return tl::unexpected(error);
    const std::lock_guard lock(mutex_);
    ++report_.reasons[error.message];
    return {};
  }

  // As long as the coordinator wants, or for a moment.
  void stay_away(std::optional<std::chrono::milliseconds> time) const {
    const auto until = steady_clock::now() + time.value_or(look_again);
    while (!is_over() && steady_clock::now() < until)
      std::this_thread::sleep_for(std::min<steady_clock::duration>(look_again, until - steady_clock::now()));
  }

  Status enrol(device::Device& device, device::Transport& network, std::size_t number) {
    if (device.enrolled_with()) return {};
    if (number >= settings_.tokens.size())
      return bad_input("there are {} tokens for {} devices: 'sotto campaign tokens' makes more",
                       settings_.tokens.size(), settings_.devices);
    return device.enrol(network, settings_.tokens[number], rounds::OperatorKeys(settings_.operator_key));
  }

  // Of one reader's device in one round. A fleet and a simulation of the same seed lose the same devices.
  Fault fault_of(data::UserId reader, std::uint64_t round) const {
    const auto place = static_cast<std::uint32_t>(round - 1);
    SeededRandom chance(settings_.split_seed(), Purpose::noise, place, reader);
    const auto share = [&] { return static_cast<double>(chance() >> 11) * 0x1p-53; };
    Fault fault;
    if (settings_.slowest.count() > 0)
      fault.delay = std::chrono::milliseconds(
          static_cast<std::int64_t>(share() * static_cast<double>(settings_.slowest.count())));
    if (local::is_lost(settings_.vanishing, settings_.split_seed(), place, reader))
      fault.kind = Fault::Kind::vanishes, fault.phase = settings_.vanishing_phase;
    else if (share() < settings_.lying)
      fault.kind = Fault::Kind::lies, fault.phase = "reveal";
    return fault;
  }

  void count(const Participation& done, std::size_t number) {
    const std::lock_guard lock(mutex_);
    if (done.outcome == Participation::Outcome::no_round) return;
    charges_[number] += done.was_charged ? 1 : 0;
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
  std::vector<data::UserId> readers_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::string failure_;
  std::vector<std::uint64_t> charges_;  // by device
  FleetReport report_;
};

}  // namespace

Result<FleetReport> run_fleet(const FleetSettings& settings, const data::Dataset& dataset,
                              const std::function<bool()>& cancelled, const OnFleetRound& on_round) {
  return Fleet(settings, dataset, cancelled).run(on_round);
}

}  // namespace sotto::fleet
