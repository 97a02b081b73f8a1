// A coordinator and its devices, each a process, killed with SIGKILL again and again while rounds go on: at
// every point before and after which something is written, and at moments that a seed chooses. Demanded at
// the end: every version that anybody was offered is there, in the log and whole; no device was charged twice
// for a round, and none sent an upload that it was not charged for; the coordinator has counted every round,
// to train and to measure, that any device was charged for; no sum has more uploads than were sent; who was
// revoked stays so; and after every kill the coordinator was serving again within two seconds. Meanwhile a
// person pauses, rolls back and revokes, and a witness cosigns.
//
//   crash_rounds [SEED [KILLS_OF_COORDINATOR [KILLS_OF_DEVICES [MILLISECONDS_TO_SERVE]]]]

#include <fstream>
#include <iostream>
#include <random>
#include <set>
#include <thread>

#include "base/interrupt.h"
#include "base/log.h"
#include "coordinator/crash/faults.h"
#include "coordinator/crash/life.h"
#include "rounds/evaluation.h"
#include "test_paths.h"

namespace sotto::coordinator {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t rounds_at_most = 3000;
// Heard among twenty devices that all kept two pages or more out of training: a real campaign has thousands.
// Devices may take part in more measurements than a run of a hundred kills comes by.
constexpr std::size_t some_pages = 8;
constexpr rounds::EvaluationWish measuring{
    .every = 20, .held_out = 2, .pages = 2, .participations = 120, .epsilon = 4000};
constexpr std::string_view operator_token = "a token of the operator";
rounds::Identity witness() { return rounds::test_key(61); }
constexpr std::size_t first_devices = 24;
constexpr seconds patience{10};  // for a process to come by its point; then it is killed where it is

// -- The coordinator's process

int coordinate(const fs::path& folder, std::int64_t port, DeathPoint& death) {
  install_interrupt_handler();
  CoordinatorSettings settings;
  settings.campaign = read_file(folder / "campaign").value();
  settings.operator_key = rounds::operator_key().public_key();
  settings.operator_token = operator_token;
  settings.http.port = port;
  settings.run.order_time = seconds(10);
  settings.run.retry_time = seconds(0);
  const auto campaign = rounds::open_campaign(settings.campaign).value().campaign;
  auto store = open_store((folder / "store").string(), rounds::coordinator_key().public_key());
  if (!store) {
    error("{}", store.error().message);
    return 1;
  }
  MeanTrainer trainer(campaign);
  MortalTrainer mortal(trainer, death);
  auto running =
      Coordinator::start(settings, std::make_unique<MortalStore>(std::move(*store), death, folder / "sums"),
                         rounds::coordinator_key(), mortal);
  if (!running) {
    error("{}", running.error().message);
    return 1;
  }
  while (!interrupted()) {
    Status well = (*running)->tick();
    if (const auto ended = (*running)->outcome(); well && ended) well = *ended;
    if (!well) {
      error("{}", well.error().message);
      return 1;
    }
    nap(milliseconds(100));
  }
  (*running)->stop();
  return 0;
}

// -- A device's process

int be_a_device(const fs::path& folder, std::uint8_t number, const std::string& url, DeathPoint& death) {
  install_interrupt_handler();
  const auto campaign = rounds::open_campaign(read_file(folder / "campaign").value()).value().campaign;
  const fs::path own = folder / fmt::format("device-{}", number);
  auto device = DeployedDevice::open(own, number, url, campaign, some_pages + number % 4);
  if (!device) {
    error("{}", device.error().message);
    return 1;
  }
  MortalTransport network((*device)->network(), death, own);
  device::SecretDraws draws;
  // Its clock stands still while it trains and ranks, however busy the machine is, and runs fast while it
  // waits.
  milliseconds passed{0};
  const auto hurried = [&] { return steady_clock::time_point(passed); };
  const auto wait = [&](milliseconds time) {
    passed += time;
    nap(std::max(time / 10, milliseconds(1)));
  };
  while (!interrupted() && !(*device)->enrol(network)) nap(milliseconds(50));
  while (!interrupted()) {
    const auto part = (*device)->take_part(network, draws, {interrupted, wait}, hurried);
    // Without an answer it tries again; with a wrong one it says so.
    if (part && part->refusal && *part->refusal != device::RoundRefusalReason::charged_before &&
        *part->refusal != device::RoundRefusalReason::order_time &&
        *part->refusal != device::RoundRefusalReason::participations) {
      error("device {} refuses ({}): {}", number, name(*part->refusal), part->why);
      return 1;
    }
    if (!part || part->outcome != device::Participation::Outcome::took_part) nap(milliseconds(30));
  }
  return 0;
}

// -- Whoever starts and kills them

// Where a process is to die: at a point, or, without a name, after some time.
struct Fate {
  std::string point;
  int passes = 1;
  milliseconds time = patience;
};

class CrashTest {
 public:
  CrashTest(std::uint64_t seed, std::size_t coordinator_kills, std::size_t device_kills,
            milliseconds to_serve)
      : chance_(seed),
        wanted_coordinator_(coordinator_kills),
        wanted_devices_(device_kills),
        to_serve_(to_serve) {
    for (const char* what :
         {"open_order", "begin_unmasking", "keep_sum", "seal_sums", "give", "next", "keep_blob",
          "publish_version", "abandon_order", "acquire", "add_campaign", "renew", "enrol", "keep_evaluation",
          "roll_back", "append_to_log", "set_state", "revoke"})
      for (const char* when : {"before ", "after "}) coordinator_points_.push_back(when + std::string(what));
    for (const char* what : {"upload", "reveal", "share", "advertise", "checkin", "blob", "order"})
      for (const char* when : {"before ", "after "}) device_points_.push_back(when + std::string(what));
  }

  bool run() {
    auto measured = rounds::with_evaluation(deployed_campaign(rounds_at_most, 60), measuring);
    if (!measured) return wrong(measured.error().message);
    rounds::Campaign campaign = *std::move(measured);
    campaign.longest_phase_seconds = 2;
    campaign.witnesses = {witness().public_key()};
    const std::string document =
        sign_document(rounds::campaign_kind, encode(campaign), rounds::operator_key());
    if (!write_file_atomically(folder_ / "campaign", document)) return wrong("cannot write the campaign");
    campaign_ = rounds::open_campaign(document).value().hash;
    url_ = fmt::format("http://127.0.0.1:{}", port_);
    begin_coordinator();
    for (std::size_t i = 0; i < first_devices; ++i) begin_device(devices_.emplace_back(), i);
    kill_device_at_ = steady_clock::now() + seconds(2);
    while (is_well_ && (coordinator_kills_ < wanted_coordinator_ || device_kills_ < wanted_devices_)) {
      watch_coordinator();
      do_errand();
      watch_devices();
      nap(milliseconds(5));
    }
    if (is_well_) finish_a_round();
    for (Device& device : devices_)
      if (!device.life.end_well()) wrong("a device does not end when it is told to");
    if (!coordinator_.end_well()) wrong("the coordinator does not end when it is told to");
    if (is_well_) check();
    report();
    return is_well_;
  }

 private:
  struct Device {
    std::size_t number = 0;
    Life life;
    Fate fate;
    bool is_marked = false;  // by its fate
  };

  bool wrong(const std::string& what) {
    std::cerr << "crash_rounds: " << what << "\n";
    is_well_ = false;
    return false;
  }
  std::uint64_t draw(std::uint64_t below) { return chance_() % below; }

  // Every fourth kill comes at any time, the others at one point after the other.
  Fate coordinator_fate() {
    if (coordinator_kills_ % 4 == 3) return {"", 1, milliseconds(draw(3000))};
    Fate fate{coordinator_points_[next_point_++ % coordinator_points_.size()], 1, patience};
    // At the start, and when somebody enrols who was not there yet, it comes by once.
    const bool is_once =
        fate.point.ends_with("acquire") || fate.point.ends_with("campaign") || fate.point.ends_with("enrol");
    if (!is_once) fate.passes = 1 + static_cast<int>(draw(2));
    return fate;
  }

  void begin_coordinator() {
    fate_ = coordinator_kills_ < wanted_coordinator_ ? coordinator_fate() : Fate{"", 1, seconds(3600)};
    const auto begun = steady_clock::now();
    coordinator_ = Life({"coordinator", folder_.path().string(), std::to_string(port_), fate_.point,
                         std::to_string(fate_.passes)},
                        folder_ / "coordinator.log");
    // Somebody who was not there yet enrols.
    if (const std::size_t number = devices_.size();
        fate_.point.ends_with("enrol") && number < 2 * first_devices)
      begin_device(devices_.emplace_back(), number);
    serves_since_ = begun;
    is_awaited_ = true;
  }

  net::HttpClient client() const {
    net::HttpClientSettings http;
    http.url = url_;
    http.connect_timeout = http.timeout = milliseconds(500);
    return net::HttpClient::create(http).value();
  }
  bool is_done(const std::string& action) const {
    const auto answer =
        client().send({.method = net::HttpMethod::post,
                       .path = "/v1/admin/" + action,
                       .headers = {{"Authorization", "Bearer " + std::string(operator_token)}},
                       .body = {},
                       .content_type = {}});
    return answer && answer->status == 200;
  }
  // What people and witnesses do, where the coordinator is to come by it. A pause that may have been is
  // ended.
  void do_errand() {
    const auto now = steady_clock::now();
    if (is_awaited_ || now < errand_at_) return;
    errand_at_ = now + milliseconds(300);
    const auto is_fated = [&](const char* what) { return fate_.point.ends_with(what); };
    if (is_paused_)
      is_paused_ = !is_done("resume");
    else if (is_fated("set_state"))
      is_paused_ = true, is_done("pause");
    if (is_fated("roll_back")) roll_back();
    if (is_fated("revoke")) revoke_somebody();
    if (is_fated("append_to_log")) cosign();
  }
  void roll_back() const {
    const auto status = client().get("/v1/status");
    if (!status || status->status != 200) return;
    const auto done = nlohmann::json::parse(status->body)["rounds_done"].get<std::uint64_t>();
    is_done(fmt::format("roll-back?version={}", done == 0 ? 0 : done - 1));
  }
  void revoke_somebody() {
    const auto number = static_cast<std::uint8_t>(200 + strangers_++ % 50);
    const rounds::Identity stranger = rounds::test_key(number);
    const auto enrolment =
        rounds::enrolment_of(deployed_token(number), stranger, rounds::operator_key().public_key());
    static_cast<void>(client().post("/v1/enrol", encode(*enrolment), "application/octet-stream"));
    if (is_done("revoke?device=" + to_hex(stranger.public_key()))) revoked_.push_back(stranger.public_key());
  }
  void cosign() const {
    const auto said = client().get("/v1/log/head");
    const auto head = said ? rounds::decode_head(said->body) : failed("no head");
    if (!head) return;
    const rounds::HeadCosignature word{head->head, rounds::cosign_head(head->head, witness())};
    static_cast<void>(client().post("/v1/log/cosignature", encode(word), "application/octet-stream"));
  }

  void begin_device(Device& device, std::size_t number) {
    device.number = number;
    device.life = Life({"device", folder_.path().string(), std::to_string(number), url_, device.fate.point,
                        std::to_string(device.fate.passes)},
                       folder_ / "devices.log");
  }

  static bool is_killed(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }

  bool serves() const {
    const auto ready = client().get("/readyz");
    return ready && ready->status == 200;
  }

  void watch_coordinator() {
    const auto now = steady_clock::now();
    if (const auto status = coordinator_.ended()) {
      if (!is_killed(*status)) {
        wrong("the coordinator ended by itself:");
        std::cerr << read_file(folder_ / "coordinator.log").value_or("") << "\n";
        return;
      }
      ++coordinator_kills_;
      ++deaths_[fate_.point.empty() ? "coordinator: at any time" : "coordinator: " + fate_.point];
      begin_coordinator();
      return;
    }
    if (is_awaited_ && serves()) {
      is_awaited_ = false;
      const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - serves_since_);
      longest_ = std::max(longest_, took);
      if (took > to_serve_)
        wrong(fmt::format("the coordinator was serving again after {} ms only", took.count()));
    }
    if (now - coordinator_.born() > fate_.time) {
      fate_.point.clear();
      coordinator_.signal(SIGKILL);
    }
  }

  void watch_devices() {
    const auto now = steady_clock::now();
    for (Device& device : devices_) {
      if (const auto status = device.life.ended()) {
        if (!is_killed(*status)) {
          wrong(fmt::format("device {} ended by itself:", device.number));
          std::cerr << read_file(folder_ / "devices.log").value_or("") << "\n";
          return;
        }
        ++device_kills_;
        ++deaths_[device.fate.point.empty() ? "device: at any time" : "device: " + device.fate.point];
        // Whoever was killed at any time is killed at a point next.
        const bool again = !std::exchange(device.is_marked, false);
        device.fate = {};
        if (again && device_kills_ < wanted_devices_) {
          device.fate.point = device_points_[next_device_point_++ % device_points_.size()];
          device.is_marked = true;
        }
        begin_device(device, device.number);
      }
      if (device.is_marked && now - device.life.born() > patience) {
        device.fate.point.clear();
        device.life.signal(SIGKILL);
      }
    }
    if (now < kill_device_at_ || device_kills_ >= wanted_devices_) return;
    kill_device_at_ = now + milliseconds(500 + draw(3000));
    Device& victim = devices_[draw(devices_.size())];
    if (!victim.is_marked) victim.life.signal(SIGKILL);
  }

  std::uint64_t rounds_done() {
    const auto store = open_store((folder_ / "store").string(), rounds::coordinator_key().public_key());
    const auto current = store ? (*store)->current_version(campaign_) : std::nullopt;
    return current && *current ? (*current)->round : 0;
  }

  // It all still works.
  void finish_a_round() {
    const std::uint64_t before = rounds_done();
    for (int i = 0; i < 600 && rounds_done() == before; ++i) {
      if (coordinator_.ended()) begin_coordinator();
      if (is_awaited_ && serves()) is_awaited_ = false;
      do_errand();
      nap(milliseconds(100));
    }
    if (rounds_done() == before) wrong("no round is finished any more");
  }

  static std::vector<std::pair<std::string, std::string>> lines_of(const fs::path& file) {
    std::ifstream input(file);
    std::vector<std::pair<std::string, std::string>> lines;
    std::string line;
    while (std::getline(input, line)) {
      const std::size_t space = std::min(line.find(' '), line.size());
      lines.emplace_back(line.substr(0, space), line.substr(std::min(space + 1, line.size())));
    }
    return lines;
  }

  void check() {
    const auto store = open_store((folder_ / "store").string(), rounds::coordinator_key().public_key());
    if (!store) {
      wrong(store.error().message);
      return;
    }
    check_versions(**store);
    for (const IdentityKey& device : revoked_)
      if ((*store)->are_enrolled(std::span(&device, 1)).value().front())
        wrong("the device " + to_hex(device) + " was revoked, and is enrolled");
    std::map<std::string, std::size_t> sent_by_round;
    for (const Device& device : devices_) check_device(device.number, sent_by_round);
    for (const auto& [round, arrived] : lines_of(folder_ / "sums"))
      if (std::stoul(arrived) > sent_by_round[round])
        wrong(fmt::format("the sum of round {} has {} uploads, and {} were sent", round, arrived,
                          sent_by_round[round]));
    const OrderCounts counted = (*store)->count_orders(campaign_).value();
    evaluations_ = (*store)->evaluations(campaign_).value().size();
    if (wanted_coordinator_ >= 100 && evaluations_ == 0)
      wrong("no version was measured, so that nothing was killed where one is");
    if (counted.trained < trained_.size() || counted.evaluated < evaluated_.size())
      wrong(fmt::format("devices were charged for {} rounds and {} measurements, and {} and {} are counted",
                        trained_.size(), evaluated_.size(), counted.trained, counted.evaluated));
  }

  void check_versions(Store& store) {
    rounds::PublicLog log(rounds::coordinator_key().public_key());
    const auto records = store.log_records(0, 1'000'000).value();
    for (const std::string& record : records)
      if (!log.take(record)) wrong("the log has a record that does not belong there");
    if (!log.is_complete()) wrong("the log ends before its head");
    std::set<std::string> whole;
    const auto versions = store.versions(campaign_).value();
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const ModelVersion& version = versions[i];
      if (version.round != i) wrong(fmt::format("version {} is missing", i));
      // Of the one before it, or of the one that was rolled back to.
      if (i > 0 && (!version.parent || !whole.contains(to_hex(*version.parent))))
        wrong(fmt::format("version {} has no parent", i));
      if (!store.blob(version.model)) wrong(fmt::format("version {} cannot be read", i));
      if (!log.find({rounds::LeafKind::model, version.model}))
        wrong(fmt::format("version {} is not in the log", i));
      whole.insert(to_hex(version.model));
    }
    versions_ = versions.size();
    for (const Device& device : devices_)
      for (const auto& [model, rest] :
           lines_of(folder_ / fmt::format("device-{}", device.number) / "offered"))
        if (!whole.contains(model))
          wrong("device " + std::to_string(device.number) + " was offered " + model + ", which is lost");
  }

  void check_device(std::size_t number, std::map<std::string, std::size_t>& sent_by_round) {
    const fs::path own = folder_ / fmt::format("device-{}", number);
    auto ledger = privacy::Ledger::open(own / privacy::ledger_file_name, privacy::read_system_clocks(),
                                        {.anchor = nullptr, .first_use = true});
    if (!ledger) {
      wrong(fmt::format("the ledger of device {}: {}", number, ledger.error().message));
      return;
    }
    std::set<std::string> charged;
    const auto take = [&](privacy::ReleasePurpose purpose, std::set<std::string>& all) {
      const auto rounds = ledger->rounds_of(campaign_, purpose);
      for (const auto& round : rounds) {
        all.insert(to_hex(round));
        if (!charged.insert(to_hex(round)).second)
          wrong(fmt::format("device {} was charged twice for round {}", number, to_hex(round)));
      }
    };
    take(privacy::ReleasePurpose::training, trained_);
    take(privacy::ReleasePurpose::evaluation, evaluated_);
    const std::uint64_t paid = ledger->statement(privacy::read_system_clocks()).value().total.charges;
    if (paid != charged.size())
      wrong(fmt::format("device {} has {} charges and {} rounds", number, paid, charged.size()));
    charges_ += charged.size();
    std::map<std::string, std::string> uploads;
    for (const auto& [round, bytes] : lines_of(own / "sent")) {
      const auto [there, is_first] = uploads.emplace(round, bytes);
      if (there->second != bytes)
        wrong(fmt::format("device {} sent two uploads for round {}", number, round));
      if (!is_first) continue;
      ++sent_by_round[round];
      ++uploads_;
      if (!charged.contains(round))
        wrong(fmt::format("device {} sent an upload for round {} and was not charged", number, round));
    }
  }

  void report() {
    for (const auto& [point, times] : deaths_) fmt::print("{:>5} x {}\n", times, point);
    fmt::print(
        "{} kills of the coordinator, {} of devices; {} versions, {} measured, {} charges, {} uploads; "
        "serving again within {} ms; {:.0f} s; {}\n",
        coordinator_kills_, device_kills_, versions_, evaluations_, charges_, uploads_, longest_.count(),
        std::chrono::duration<double>(steady_clock::now() - begun_).count(),
        is_well_ ? "nothing was lost" : "WRONG");
  }

  const steady_clock::time_point begun_ = steady_clock::now();
  std::mt19937_64 chance_;
  const std::size_t wanted_coordinator_, wanted_devices_;
  const milliseconds to_serve_;
  std::vector<std::string> coordinator_points_, device_points_;
  std::size_t next_point_ = 0, next_device_point_ = 0;
  TempFolder folder_;
  const std::int64_t port_ = free_port();
  std::string url_;
  Digest campaign_{};
  Life coordinator_;
  Fate fate_;
  std::deque<Device> devices_;
  steady_clock::time_point kill_device_at_, serves_since_;
  steady_clock::time_point errand_at_;
  std::size_t strangers_ = 0, evaluations_ = 0;
  std::vector<IdentityKey> revoked_;
  std::set<std::string> trained_, evaluated_;  // rounds that a device was charged for
  bool is_paused_ = false;                     // or may be
  bool is_awaited_ = false, is_well_ = true;
  milliseconds longest_{0};
  std::size_t coordinator_kills_ = 0, device_kills_ = 0, versions_ = 0, charges_ = 0, uploads_ = 0;
  std::map<std::string, std::size_t> deaths_;
};

}  // namespace
}  // namespace sotto::coordinator

int main(int count, char** words) {
  using namespace sotto::coordinator;
  const std::vector<std::string> given(words + 1, words + count);
  if (given.size() == 5 && given[0] == "coordinator") {
    DeathPoint death(given[3], std::stoi(given[4]));
    return coordinate(given[1], std::stoll(given[2]), death);
  }
  if (given.size() == 6 && given[0] == "device") {
    DeathPoint death(given[4], std::stoi(given[5]));
    return be_a_device(given[1], static_cast<std::uint8_t>(std::stoul(given[2])), given[3], death);
  }
  const auto number = [&](std::size_t i, std::uint64_t otherwise) {
    return given.size() > i ? std::stoull(given[i]) : otherwise;
  };
  CrashTest test(number(0, 20240229), number(1, 100), number(2, 100),
                 std::chrono::milliseconds(number(3, 2000)));
  return test.run() ? 0 : 1;
}
