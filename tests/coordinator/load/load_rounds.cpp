// What one coordinator carries, measured on this machine: devices that wait, check-ins a second, and a round
// of many large updates while they do. The coordinator is a process of its own; everything else is the load,
// on the same cores.
//
//   load_rounds [WAITING [ROUND_DEVICES [ENTRIES [CHECK_INS_PER_SECOND [BYTES_UP]]]]]
//
// BYTES_UP: what the simulator says that a device sends in such a round.

#include <sys/resource.h>

#include <algorithm>
#include <barrier>
#include <map>

#include "base/interrupt.h"
#include "base/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/load/own_process.h"
#include "coordinator/load/round_device.h"
#include "coordinator/load/waiting_crowd.h"
#include "test_paths.h"

namespace sotto::coordinator {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

struct Load {
  std::uint64_t waiting = 10'000, devices = 1000, entries = 100'000;
  double check_ins = 2000;
  double simulated_up = 0;  // bytes; 0: nobody has simulated it
  static constexpr std::uint64_t group = 200, timed = 2000;
  std::uint64_t population() const { return waiting + devices + timed; }
};

UtcTime wall_now() { return std::chrono::time_point_cast<seconds>(std::chrono::system_clock::now()); }

std::string layout_of(std::uint64_t entries) { return fmt::format("numbers:{} ", entries); }

// Adds the mean of every round.
class LargeTrainer final : public Folding {
 public:
  explicit LargeTrainer(const rounds::Campaign& campaign)
      : plan_(campaign.plan(1).value()), numbers_(plan_.settings().dimension) {}
  Result<FoldedModel> begin(const std::string&) override {
    rounds::ItemTable table;
    table.ids = {"a"};
    return FoldedModel{layout_of(numbers_.size()), std::move(table)};
  }
  Result<FoldedRound> next() override {
    return FoldedRound{done_, 1, rounds::one_row(numbers_), {}, "", false};
  }
  Status give(const std::vector<GroupSum>& sums) override {
    secagg::SumDecoder decoder(plan_);
    for (const GroupSum& sum : sums) SOTTO_CHECK(decoder.add_group(sum.entries));
    SOTTO_TRY(const auto mean, decoder.decode());
    for (std::size_t i = 0; i < numbers_.size(); ++i) numbers_[i] -= static_cast<float>(mean.update[i]);
    ++done_;
    return {};
  }

 private:
  secagg::EncodingPlan plan_;
  std::vector<float> numbers_;
  std::uint64_t done_ = 0;
};

rounds::Campaign large_campaign(const Load& load) {
  const auto calibrated =
      secagg::calibrated_plan(
          {.epsilon = 8, .delta = 1e-6, .participations = 3, .dropping = 0.1, .corrupted = 0.1},
          {load.entries, load.population(), load.devices, 3, Load::group})
          .value();
  rounds::Campaign campaign = rounds::small_campaign();
  campaign.layout = rounds::layout_hash(layout_of(load.entries));
  campaign.population = load.population();
  campaign.cohort = load.devices;
  campaign.rounds = campaign.participations = 3;
  campaign.epsilon = 8;
  campaign.encoding = calibrated.plan.settings();
  campaign.bits = calibrated.plan.modulus().bits();
  campaign.max_upload_bytes = 16 << 20;
  campaign.shortest_phase_seconds = campaign.longest_phase_seconds = 600;  // the load is slow, not the server
  campaign.valid_from = wall_now() - std::chrono::hours(1);
  campaign.valid_until = wall_now() + std::chrono::hours(24);
  campaign.witnesses.clear();
  campaign.witnesses_needed = 0;
  return campaign;
}

// In a process of its own; says its address on its standard output.
int coordinate(const fs::path& folder) {
  install_interrupt_handler();
  CoordinatorSettings settings;
  settings.campaign = read_file(folder / "campaign").value();
  settings.operator_key = rounds::operator_key().public_key();
  settings.store = (folder / "store").string();
  settings.run.order_time = seconds(3600);
  settings.http.max_connections = 20'000;
  settings.http.max_connections_per_address = 0;
  settings.http.max_buffered_bytes = std::int64_t{1} << 30;
  LargeTrainer trainer(rounds::open_campaign(settings.campaign).value().campaign);
  auto running = Coordinator::start(settings, rounds::coordinator_key(), trainer);
  if (!running) {
    error("{}", running.error().message);
    return 1;
  }
  fmt::print("{}\n", (*running)->url());
  std::fflush(stdout);
  while (!interrupted()) {
    if (const Status well = (*running)->tick(); !well) return 1;
    std::this_thread::sleep_for(milliseconds(200));
  }
  (*running)->stop();
  return 0;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted.empty() ? -1
                        : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// The devices of the round, a thread each: they check in at a steady rate and are grouped, and wait for a
// sign to go on.
class RoundDevices {
 public:
  RoundDevices(const Load& load, const fs::path& ledgers, const std::string& url,
               const device::RoundOffer& offer, const rounds::Campaign& campaign)
      : devices_(load.devices), answered_(load.devices), every_(1 / load.check_ins) {
    for (std::size_t i = 0; i < devices_.size(); ++i)
      threads_.emplace_back([&, i, ledgers, url, offer, campaign] {
        devices_[i] = std::make_unique<RoundDevice>(ledgers, i, url, offer, campaign);
        ready_.arrive_and_wait();
        std::this_thread::sleep_until(due(i));
        const bool has_place = devices_[i]->check_in();
        answered_[i] = steady_clock::now();
        grouped_.arrive_and_wait();
        go_.arrive_and_wait();
        if (has_place) devices_[i]->take_part();
      });
  }

  // From when the last device of a group was due until each of them has its place.
  std::vector<double> check_in() {
    begin_ = steady_clock::now() + milliseconds(200);
    ready_.arrive_and_wait();
    grouped_.arrive_and_wait();
    std::map<rounds::Digest, std::size_t> last;
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (devices_[i]->why.empty()) last[devices_[i]->room()] = i;
    std::vector<double> times;
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (devices_[i]->why.empty())
        times.push_back(duration<double, std::milli>(answered_[i] - due(last[devices_[i]->room()])).count());
    std::sort(times.begin(), times.end());
    return times;
  }

  const std::vector<std::unique_ptr<RoundDevice>>& take_part() {
    go_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
    return devices_;
  }

 private:
  steady_clock::time_point due(std::size_t number) const {
    return begin_ + std::chrono::duration_cast<steady_clock::duration>(static_cast<double>(number) * every_);
  }

  std::vector<std::unique_ptr<RoundDevice>> devices_;
  std::vector<steady_clock::time_point> answered_;
  const duration<double> every_;
  steady_clock::time_point begin_;
  const std::ptrdiff_t all_ = static_cast<std::ptrdiff_t>(devices_.size()) + 1;  // and the one who leads them
  std::barrier<> ready_{all_}, grouped_{all_}, go_{all_};
  std::vector<std::thread> threads_;
};

void say_times(std::string_view what, const std::vector<double>& times, double per_second) {
  fmt::print("{} {} at {:.0f} a second: p50 {:.2f} ms, p99 {:.2f} ms, most {:.2f} ms\n", times.size(), what,
             per_second, quantile(times, 0.5), quantile(times, 0.99), quantile(times, 1));
  std::fflush(stdout);
}

// As /metrics says.
std::uint64_t devices_waiting(net::HttpClient& client) {
  const auto page = client.get("/metrics");
  const std::size_t at = page ? page->body.find("\nsotto_devices_waiting ") : std::string::npos;
  return at == std::string::npos ? 0 : static_cast<std::uint64_t>(std::stod(page->body.substr(at + 23)));
}

// So many devices from this number on, in the store of a coordinator that has not begun.
Status enrol(const fs::path& folder, std::uint64_t count) {
  SOTTO_TRY(const auto store,
            open_store((folder / "store").string(), rounds::coordinator_key().public_key()));
  const auto begin = steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    Digest token{};
    std::memcpy(token.data(), &i, sizeof i);
    SOTTO_CHECK(store->enrol({device_key(i).public_key(), token, wall_now()}));
  }
  fmt::print("{} devices enrolled, {:.0f} a second\n", count,
             static_cast<double>(count) / duration<double>(steady_clock::now() - begin).count());
  return {};
}

std::vector<std::string> check_ins(std::uint64_t first, std::uint64_t count, const rounds::Digest& order) {
  std::vector<std::string> requests;
  for (std::uint64_t i = 0; i < count; ++i)
    requests.push_back(check_in_request(device_key(first + i), order));
  return requests;
}

int run(const Load& load) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const TempFolder folder;
  const rounds::Campaign campaign = large_campaign(load);
  const std::string document = sign_document(rounds::campaign_kind, encode(campaign), rounds::operator_key());
  if (!write_file_atomically(folder / "campaign", document)) return 1;
  if (const Status enrolled = enrol(folder.path(), load.population()); !enrolled) return 1;
  OwnProcess server("coordinator", folder.path().string());
  const std::string& url = server.line();
  if (url.empty()) return 1;
  const std::int64_t port = std::stoll(url.substr(url.rfind(':') + 1));
  const Usage idle = usage_of(server.pid());

  net::HttpClientSettings http;
  http.url = url;
  auto network = transport::HttpTransport::create(http).value();
  auto client = net::HttpClient::create(http).value();
  const device::RoundOffer offer = fetch_offer(network);
  const rounds::Digest order = rounds::open_order(offer.order).value().hash;

  // The devices of the round are grouped; then everybody else comes, and waits.
  fs::create_directories(folder / "ledgers");
  RoundDevices members(load, folder / "ledgers", url, offer, campaign);
  const std::vector<double> grouped = members.check_in();
  say_times("check-ins that are grouped", grouped, load.check_ins);
  const auto came = steady_clock::now();
  const Usage before_waiting = usage_of(server.pid());
  WaitingCrowd crowd(port, check_ins(load.devices, load.waiting, order));
  std::uint64_t waiting = 0;
  for (int i = 0; i < 600 && waiting < load.waiting && crowd.failed() == 0; ++i) {
    std::this_thread::sleep_for(milliseconds(100));
    waiting = devices_waiting(client);
  }
  const Usage full = usage_of(server.pid());
  fmt::print(
      "{} wait, {:.1f} s after the first; the coordinator has {:.0f} MB ({:.0f} before anybody came, {:.0f} "
      "before these)\n",
      waiting, duration<double>(steady_clock::now() - came).count(), full.megabytes, idle.megabytes,
      before_waiting.megabytes);
  std::fflush(stdout);

  constexpr double for_seconds = 10;
  TimedCheckIns also(port, check_ins(load.devices + load.waiting, load.timed, order));
  const Usage before = usage_of(server.pid());
  const auto timed = also.run(load.check_ins, for_seconds);
  const Usage after = usage_of(server.pid());
  say_times("check-ins beside those who wait", timed, load.check_ins);
  const double cores = (after.seconds - before.seconds) / for_seconds;
  fmt::print("these take {:.2f} cores of the coordinator, {:.0f} us each\n", cores,
             1e6 * cores / load.check_ins);
  std::fflush(stdout);

  const auto begin = steady_clock::now();
  const auto& devices = members.take_part();
  const double took = duration<double>(steady_clock::now() - begin).count();
  const Usage end = usage_of(server.pid());
  std::uint64_t up = 0, down = 0, well = 0;
  std::string why;
  for (const auto& device : devices) {
    well += device->why.empty() ? 1 : 0;
    if (!device->why.empty()) why = device->why;
    up += device->up, down += device->down;
  }
  const rounds::RoundBytes stated = rounds::terms_of(campaign).value().bytes;
  const auto share = static_cast<double>(load.devices);
  const double bytes_up = static_cast<double>(up) / share, bytes_down = static_cast<double>(down) / share;
  const double predicted_up = load.simulated_up > 0 ? load.simulated_up : static_cast<double>(stated.up);
  fmt::print(
      "a round of {} devices and {} entries of {} bits: {} took part, {:.1f} s, {:.1f} s of the "
      "coordinator's "
      "cores, at most {:.0f} MB{}{}\n",
      load.devices, load.entries, campaign.bits, well, took, end.seconds - after.seconds,
      end.largest_megabytes, why.empty() ? "" : "; one said: ", why);
  fmt::print(
      "bytes of a device: {:.0f} up, {} by the campaign's terms, {:.0f} predicted by {} ({:+.2f} %); {:.0f} "
      "down, {} predicted\n",
      bytes_up, stated.up, predicted_up, load.simulated_up > 0 ? "the simulator" : "the terms",
      100 * (bytes_up / predicted_up - 1), bytes_down, stated.down);
  // The round is complete, and everybody hears of it.
  for (int i = 0; i < 300 && crowd.let_go() + crowd.failed() < load.waiting; ++i)
    std::this_thread::sleep_for(milliseconds(100));
  fmt::print(
      "who waited asked again {} times; {} were let go when the round was complete, {} lost or refused "
      "before\n",
      crowd.asked_again(), crowd.let_go(), crowd.failed());
  // What the project promises of a machine with two cores that does nothing else.
  const auto every = static_cast<std::size_t>(load.check_ins * for_seconds) - load.timed;
  const struct {
    const char* what;
    bool holds;
  } promises[] = {
      {"everybody took part, and whoever waits waited until the round was complete",
       well == load.devices && waiting >= load.waiting && crowd.failed() == 0 &&
           crowd.let_go() == load.waiting},
      {"at most 2 GB", end.largest_megabytes <= 2048},
      {"p99 of check-ins that are grouped below 100 ms",
       grouped.size() == load.devices && quantile(grouped, 0.99) < 100},
      {"p99 of check-ins beside those who wait below 100 ms",
       timed.size() == every && also.failed() == 0 && quantile(timed, 0.99) < 100},
      {"bytes up within 5 % of the prediction", std::abs(bytes_up / predicted_up - 1) < 0.05},
      {"bytes down within 5 % of the prediction",
       std::abs(bytes_down / static_cast<double>(stated.down) - 1) < 0.05},
  };
  bool is_good = true;
  for (const auto& promise : promises) {
    fmt::print("{}: {}\n", promise.holds ? "holds" : "DOES NOT HOLD", promise.what);
    is_good = is_good && promise.holds;
  }
  return is_good ? 0 : 1;
}

}  // namespace
}  // namespace sotto::coordinator

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "coordinator")
    return sotto::coordinator::coordinate(words[2]);
  sotto::coordinator::Load load;
  if (count > 1) load.waiting = std::stoull(words[1]);
  if (count > 2) load.devices = std::stoull(words[2]);
  if (count > 3) load.entries = std::stoull(words[3]);
  if (count > 4) load.check_ins = std::stod(words[4]);
  if (count > 5) load.simulated_up = std::stod(words[5]);
  return sotto::coordinator::run(load);
}
