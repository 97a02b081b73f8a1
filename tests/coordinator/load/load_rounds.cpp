// What one coordinator carries, measured on this machine: devices that wait, check-ins a second, and a round
// of many large updates while they do. The coordinator is a process of its own; everything else is the load,
// on the same cores.
//
//   load_rounds [WAITING [ROUND_DEVICES [ENTRIES [CHECK_INS_PER_SECOND]]]]

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <barrier>
#include <fstream>
#include <iostream>

#include "base/interrupt.h"
#include "base/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/load/waiting_crowd.h"
#include "device/rounds/round_session.h"
#include "rounds/small_campaign.h"
#include "test_paths.h"
#include "transport/http_transport.h"

namespace sotto::coordinator {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

struct Load {
  std::uint64_t waiting = 10'000, devices = 1000, entries = 100'000;
  double check_ins = 2000;
  static constexpr std::uint64_t group = 200;
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
  const std::uint64_t population = load.waiting + load.devices + 1000;
  const auto calibrated =
      secagg::calibrated_plan(
          {.epsilon = 8, .delta = 1e-6, .participations = 3, .dropping = 0.1, .corrupted = 0.1},
          {load.entries, population, load.devices, 3, Load::group})
          .value();
  rounds::Campaign campaign = rounds::small_campaign();
  campaign.layout = rounds::layout_hash(layout_of(load.entries));
  campaign.population = population;
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

rounds::Identity device_key(std::uint64_t number) {
  std::array<std::uint8_t, 32> seed{};
  for (std::size_t i = 0; i < 8; ++i) seed[i] = static_cast<std::uint8_t>(number >> (8 * i));
  seed[31] = 1;
  return rounds::Identity::from_seed(secagg::Key(seed));
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

// Of a process, from /proc.
struct Usage {
  double megabytes = 0, largest_megabytes = 0, seconds = 0;
};
Usage usage_of(pid_t process) {
  Usage usage;
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) usage.megabytes = std::stod(line.substr(6)) / 1024;
    if (line.starts_with("VmHWM:")) usage.largest_megabytes = std::stod(line.substr(6)) / 1024;
  }
  std::ifstream times(fmt::format("/proc/{}/stat", process));
  std::string all((std::istreambuf_iterator<char>(times)), {});
  std::istringstream rest(all.substr(all.rfind(')') + 2));
  std::string field;
  for (int i = 0; i < 11; ++i) rest >> field;
  double user = 0, system = 0;
  rest >> user >> system;
  usage.seconds = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return usage;
}

// A device of the round: accepted and trained before, so that the coordinator alone is measured.
class RoundDevice {
 public:
  RoundDevice(const fs::path& folder, std::uint64_t number, const std::string& url,
              const device::RoundOffer& offer, const rounds::Campaign& campaign)
      : identity_(device_key(number)),
        ledger_(privacy::Ledger::create(folder / std::to_string(number),
                                        {privacy::Unit::user,
                                         privacy::Adjacency::replace_one,
                                         privacy::RequestOrder::adaptive,
                                         privacy::SensitivitySettings::create({"news"}).value(),
                                         {{privacy::BudgetWindow::lifetime, std::nullopt, 100, 1e-4}}},
                                        privacy::read_system_clocks(), {.anchor = nullptr, .first_use = true})
                    .value()) {
    net::HttpClientSettings http;
    http.url = url;
    http.timeout = seconds(900);
    network_.emplace(transport::HttpTransport::create(http).value());
    const device::RoundKnowledge knows{
        .keys = rounds::OperatorKeys(rounds::operator_key().public_key()),
        .purpose = campaign.purpose,
        .policy = {.epsilon = 8,
                   .delta = 1e-6,
                   .group = Load::group,
                   .corrupted = 0.1,
                   .server = secagg::ServerModel::semi_honest,
                   .witnesses = 0,
                   .upload_bytes = campaign.max_upload_bytes,
                   .training_seconds = campaign.max_training_seconds},
        .trainable = {{campaign.recipe, campaign.layout}},
        .now = wall_now(),
        .log = {},
        .charged = [](const rounds::Digest&) { return std::vector<rounds::Digest>(); }};
    auto accepted = device::check_round_offer(offer, knows);
    if (!accepted) throw std::runtime_error(accepted.error().message);
    order_ = accepted->order.hash;
    std::vector<float> update(campaign.encoding.dimension, 0.001F);
    session_.emplace(*std::move(accepted), std::move(update),
                     device::SessionDevice{identity_, ledger_, privacy::read_system_clocks,
                                           [](const auto&) { return Status{}; }, keys_, noise_});
  }

  // One message and its answer; false: it is over.
  bool step() {
    const device::SessionStep step = session_->next();
    if (const auto* over = std::get_if<device::SessionDone>(&step)) {
      why = over->why;
      return false;
    }
    const auto* call = std::get_if<device::SessionCall>(&step);
    if (call == nullptr) return true;
    const bool checks_in = call->stage == device::SessionStage::check_in;
    const std::string path =
        checks_in ? "/v1/checkin" : fmt::format("/v1/rounds/{}/{}", to_hex(room_), name(call->stage));
    const std::string body = checks_in ? encode(rounds::CheckIn{order_}) : std::string(as_text(call->body));
    const auto answer = network_->send(device::signed_call(path, body, identity_));
    if (!answer || (answer->status != 200 && answer->status != 202)) {
      session_->end(answer ? answer->body : answer.error().message);
      return true;
    }
    if (answer->status == 202) {
      static_cast<void>(session_->received(call->stage, std::nullopt));
      return true;
    }
    if (!checks_in) up += body.size(), down += answer->body.size();
    std::string message = answer->body;
    if (checks_in) {
      const auto place = rounds::decode_group_place(message).value();
      room_ = place.room;
      message = place.invitation;
      is_in = true;
    }
    static_cast<void>(session_->received(call->stage, rounds::as_bytes(message)));
    return true;
  }

  bool is_in = false;
  std::string why;
  std::uint64_t up = 0, down = 0;

 private:
  rounds::Identity identity_;
  privacy::Ledger ledger_;
  SecureRandom keys_random_, noise_random_;
  privacy::DeviceRandom keys_{keys_random_}, noise_{noise_random_};
  std::optional<transport::HttpTransport> network_;
  std::optional<device::RoundSession> session_;
  rounds::Digest order_{}, room_{};
};

// Check-ins at a steady rate, whether or not the ones before were answered: for an order that is over, so
// that each is answered at once and has gone the whole way before.
std::vector<double> time_check_ins(std::int64_t port, const std::vector<std::string>& requests,
                                   double per_second, double for_seconds) {
  constexpr std::size_t connections = 64;
  std::vector<std::vector<double>> times(connections);
  std::vector<std::thread> threads;
  const auto begin = steady_clock::now() + milliseconds(100);
  for (std::size_t c = 0; c < connections; ++c)
    threads.emplace_back([&, c] {
      const int socket = connect_to(port);
      std::string answer;
      std::array<char, 4096> buffer{};
      const auto total = static_cast<std::size_t>(per_second * for_seconds);
      for (std::size_t i = c; i < total; i += connections) {
        const auto due = begin + std::chrono::duration_cast<steady_clock::duration>(
                                     duration<double>(static_cast<double>(i) / per_second));
        std::this_thread::sleep_until(due);
        const std::string& request = requests[i % requests.size()];
        if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) < 0) break;
        while (take_response(answer) == 0) {
          const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
          if (got <= 0) return;
          answer.append(buffer.data(), static_cast<std::size_t>(got));
        }
        // From when it was due: a queue before the server counts too.
        times[c].push_back(duration<double, std::milli>(steady_clock::now() - due).count());
      }
      ::close(socket);
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const auto& some : times) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  return all;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted.empty() ? -1
                        : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
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
  const std::uint64_t enrolled = load.waiting + load.devices;
  {
    const auto store =
        open_store((folder / "store").string(), rounds::coordinator_key().public_key()).value();
    const auto begin = steady_clock::now();
    for (std::uint64_t i = 0; i < enrolled; ++i) {
      Digest token{};
      std::memcpy(token.data(), &i, sizeof i);
      if (!store->enrol({device_key(i).public_key(), token, wall_now()})) return 1;
    }
    fmt::print("{} devices enrolled, {:.0f} a second\n", enrolled,
               static_cast<double>(enrolled) / duration<double>(steady_clock::now() - begin).count());
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return 1;
  std::string program = "load_rounds", role = "coordinator", where = folder.path().string();
  std::array<char*, 4> arguments = {program.data(), role.data(), where.data(), nullptr};
  posix_spawn_file_actions_t handed;
  posix_spawn_file_actions_init(&handed);
  posix_spawn_file_actions_adddup2(&handed, ends[1], 1);
  pid_t server = -1;
  if (::posix_spawn(&server, "/proc/self/exe", &handed, nullptr, arguments.data(), environ) != 0) return 1;
  posix_spawn_file_actions_destroy(&handed);
  ::close(ends[1]);
  std::string url;
  for (char letter = 0; ::read(ends[0], &letter, 1) == 1 && letter != '\n';) url += letter;
  const std::int64_t port = std::stoll(url.substr(url.rfind(':') + 1));
  const Usage idle = usage_of(server);

  net::HttpClientSettings http;
  http.url = url;
  auto network = transport::HttpTransport::create(http).value();
  device::ServerAnswer open;
  while (open.status != 200) {
    std::this_thread::sleep_for(milliseconds(50));
    open = network.send(device::offer_call()).value();
  }
  const auto message = rounds::decode_offer(open.body).value();
  const auto page = rounds::decode_log_page(network.send(device::log_call(0)).value().body).value();
  const device::RoundOffer offer{message.campaign,       message.order,      message.head, page.entries, {},
                                 message.campaign_entry, message.model_entry};
  const rounds::Digest order = rounds::open_order(message.order).value().hash;

  // The devices of the round check in and are grouped; then everybody else comes, and waits.
  std::vector<std::unique_ptr<RoundDevice>> devices(load.devices);
  std::barrier grouped(static_cast<std::ptrdiff_t>(load.devices) + 1),
      go(static_cast<std::ptrdiff_t>(load.devices) + 1);
  std::vector<std::thread> threads;
  fs::create_directories(folder / "ledgers");
  for (std::uint64_t i = 0; i < load.devices; ++i)
    threads.emplace_back([&, i] {
      devices[i] = std::make_unique<RoundDevice>(folder / "ledgers", i, url, offer, campaign);
      while (!devices[i]->is_in && devices[i]->step()) {
      }
      grouped.arrive_and_wait();
      go.arrive_and_wait();
      while (devices[i]->step()) {
      }
    });
  grouped.arrive_and_wait();
  fmt::print("{} devices are in {} groups\n", load.devices, load.devices / Load::group);
  std::fflush(stdout);
  std::vector<std::string> requests;
  for (std::uint64_t i = 0; i < load.waiting; ++i)
    requests.push_back(check_in_request(device_key(load.devices + i), order));
  const auto came = steady_clock::now();
  const Usage before_waiting = usage_of(server);
  WaitingCrowd crowd(port, std::move(requests));
  std::uint64_t waiting = 0;
  auto client = net::HttpClient::create(http).value();
  for (int i = 0; i < 600 && waiting < crowd.connected(); ++i) {
    std::this_thread::sleep_for(milliseconds(100));
    const auto status = client.get("/metrics").value();
    const std::size_t at = status.body.find("\nsotto_devices_waiting ");
    if (at != std::string::npos) waiting = static_cast<std::uint64_t>(std::stod(status.body.substr(at + 23)));
  }
  const Usage full = usage_of(server);
  fmt::print(
      "{} wait, {:.1f} s after the first; the coordinator has {:.0f} MB ({:.0f} before anybody came, {:.0f} "
      "before these)\n",
      waiting, duration<double>(steady_clock::now() - came).count(), full.megabytes, idle.megabytes,
      before_waiting.megabytes);
  std::fflush(stdout);

  rounds::Digest stale{};
  std::vector<std::string> stale_requests;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(enrolled, 2000); ++i)
    stale_requests.push_back(check_in_request(device_key(i), stale));
  const Usage before = usage_of(server);
  constexpr double for_seconds = 10;
  const auto timed = time_check_ins(port, stale_requests, load.check_ins, for_seconds);
  const Usage after = usage_of(server);
  fmt::print("{} check-ins at {:.0f} a second: p50 {:.2f} ms, p99 {:.2f} ms, most {:.2f} ms; {:.2f} cores\n",
             timed.size(), load.check_ins, quantile(timed, 0.5), quantile(timed, 0.99), quantile(timed, 1),
             (after.seconds - before.seconds) / for_seconds);
  std::fflush(stdout);

  const auto begin = steady_clock::now();
  go.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  const double took = duration<double>(steady_clock::now() - begin).count();
  const Usage end = usage_of(server);
  std::uint64_t up = 0, down = 0, well = 0;
  std::string why;
  for (const auto& device : devices) {
    well += device->why.empty() ? 1 : 0;
    if (!device->why.empty()) why = device->why;
    up += device->up, down += device->down;
  }
  const rounds::RoundBytes stated = rounds::terms_of(campaign).value().bytes;
  const auto share = static_cast<double>(load.devices);
  const double bytes_up = static_cast<double>(up) / share;
  fmt::print(
      "a round of {} devices and {} entries of {} bits: {} took part, {:.1f} s, {:.1f} s of the "
      "coordinator's "
      "cores, at most {:.0f} MB{}{}\n",
      load.devices, load.entries, campaign.bits, well, took, end.seconds - after.seconds,
      end.largest_megabytes, why.empty() ? "" : "; one said: ", why);
  fmt::print("bytes of a device: {:.0f} up, {:.0f} predicted ({:+.2f} %); {:.0f} down\n", bytes_up,
             static_cast<double>(stated.up), 100 * (bytes_up / static_cast<double>(stated.up) - 1),
             static_cast<double>(down) / share);
  fmt::print("meanwhile {} of {} waited, asked again {} times, {} failed\n", crowd.connected(), load.waiting,
             crowd.asked_again(), crowd.failed());
  ::kill(server, SIGTERM);
  int status = 0;
  ::waitpid(server, &status, 0);
  const bool is_good = well == load.devices && waiting >= load.waiting && crowd.failed() == 0 &&
                       std::abs(bytes_up / static_cast<double>(stated.up) - 1) < 0.05;
  fmt::print("{}\n", is_good ? "complete" : "NOT complete");
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
  return sotto::coordinator::run(load);
}
